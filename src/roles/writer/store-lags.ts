import { SERVER_NAMES, STORE_NAMES, type StoreName } from '../../store/store-names.ts'
import { LagClock } from '../lag-clock.ts'
import type { Attempt } from '../supervise.ts'
import { watchLag } from '../watch-lag.ts'

/** A batch under way is not worth a line. */
const REPORTED_LAG_SECONDS = 5

/** How long each store of each chain has been behind CHANGES, for the operator. */
export class StoreLags {
  readonly #clocks = new Map<string, LagClock>()

  /** One look at the end of the log serves the clocks of both stores and the chain's own. */
  watch(
    { chain, common, observeLag }: Pick<Attempt, 'chain' | 'common' | 'observeLag'>,
    end: () => Promise<number>,
    position: (store?: StoreName) => number,
  ): void {
    const clocks = STORE_NAMES.map((store) => ({ store, clock: new LagClock() }))
    for (const { store, clock } of clocks) this.#clocks.set(`${chain}: ${SERVER_NAMES[store]}`, clock)
    const observeAll: Attempt['observeLag'] = (at, where) => {
      for (const { store, clock } of clocks) clock.observe(at, () => position(store))
      observeLag(at, where)
    }
    watchLag({ common, observeLag: observeAll }, end, position)
  }

  /** A chain that is not written any more. */
  forget(chain: string): void {
    for (const store of STORE_NAMES) this.#clocks.delete(`${chain}: ${SERVER_NAMES[store]}`)
  }

  details(): string[] {
    return [...this.#clocks].flatMap(([name, { seconds }]) =>
      seconds < REPORTED_LAG_SECONDS ? [] : [`${name} is behind by ${Math.round(seconds)} s`],
    )
  }
}
