import { SERVER_NAMES, STORE_NAMES, type StoreName } from '../../store/store-names.ts'
import { LagClock } from '../lag-clock.ts'
import type { Attempt } from '../supervise.ts'
import { watchLag } from '../watch-lag.ts'

/** A batch under way is not worth a line. */
const WORTH_TELLING_SECONDS = 5

/** How long each store of each chain has been behind CHANGES, for the operator. */
export class StoreLags {
  readonly #clocks = new Map<string, LagClock>()

  watch(
    attempt: Pick<Attempt, 'chain' | 'common'>,
    end: () => Promise<number>,
    position: (store: StoreName) => number,
  ): void {
    for (const store of STORE_NAMES) {
      const clock = new LagClock()
      this.#clocks.set(`${attempt.chain}: ${SERVER_NAMES[store]}`, clock)
      const observeLag: Attempt['observeLag'] = (at, where) => clock.observe(at, where)
      watchLag({ common: attempt.common, observeLag }, end, () => position(store))
    }
  }

  details(): string[] {
    return [...this.#clocks].flatMap(([name, { seconds }]) =>
      seconds < WORTH_TELLING_SECONDS ? [] : [`${name} is behind by ${Math.round(seconds)} s`],
    )
  }
}
