import { setTimeout as sleep } from 'node:timers/promises'
import type { Round } from './rounds.ts'
import { type Strike, suffer } from './strikes.ts'
import type { ChaosWorld } from './world.ts'

export type Recovery = {
  readonly strikes: readonly Strike[]
  /** Until one gateway served a block that was mined after it: a client may go to any. */
  readonly servedMs: number
  /** Until both did. */
  readonly bothMs: number
  /** Until both stores had it. */
  readonly storedMs: number
}

/** Carries out rounds of faults, and waits after each until all is well again. */
export class Storm {
  readonly recoveries: Recovery[] = []
  /** The last faults, for the report of a failure. */
  last = 'none'
  readonly #world: ChaosWorld

  constructor(world: ChaosWorld) {
    this.#world = world
  }

  get kills(): number {
    return this.recoveries.flatMap(({ strikes }) => strikes).filter(({ isKill }) => isKill).length
  }

  async run(
    rounds: Iterable<Round>,
    signal: AbortSignal,
    onRecovery: (recovery: Recovery) => void,
  ): Promise<void> {
    for (const round of rounds) {
      if (signal.aborted) return
      this.last = namesOf(round.strikes)
      const recovery = await this.#suffer(round)
      this.recoveries.push(recovery)
      onRecovery(recovery)
      await sleep(round.pauseMs)
    }
  }

  async #suffer({ strikes, delayMs }: Round): Promise<Recovery> {
    const { load } = this.#world
    let fromMs = 0
    const over: Promise<void>[] = []
    const counted = strikes.map(
      (strike, at) =>
        new Promise<void>((resolve, reject) => {
          const suffered = sleep(at * delayMs).then(() =>
            suffer(strike, this.#world, () => {
              fromMs = performance.now()
              resolve()
            }),
          )
          suffered.catch(reject)
          over.push(suffered)
        }),
    )
    await Promise.all(counted)
    const block = await load.nextBlock()
    const since = async (reached: Promise<void>): Promise<number> => {
      await reached
      return Math.round(performance.now() - fromMs)
    }
    const [servedMs, bothMs, storedMs] = await Promise.all([
      since(this.#world.serves(block, 'one')),
      since(this.#world.serves(block, 'both')),
      since(this.#world.stores(block)),
      ...over,
    ])
    return { strikes, servedMs, bothMs, storedMs }
  }
}

export function namesOf(strikes: readonly Strike[]): string {
  return strikes.map(({ name }) => name).join(', and ')
}
