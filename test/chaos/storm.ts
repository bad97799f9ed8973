import { setTimeout as sleep } from 'node:timers/promises'
import { chance, type Random, seeded, whole } from '../../src/sandbox/market/random.ts'
import { type Strike, Strikes, suffer } from './strikes.ts'
import type { ChaosWorld } from './world.ts'

/** The share of faults that kill nothing. */
const OTHER_SHARE = 0.375
const PAIR_CHANCE = 0.2
const PAIR_DELAY_MS = 1_500
const MAX_PAUSE_MS = 400

export type Recovery = {
  readonly strikes: readonly Strike[]
  /** Until one gateway served a block that was mined after it: a client may go to any. */
  readonly servedMs: number
  /** Until both did. */
  readonly bothMs: number
  /** Until both stores had it. */
  readonly storedMs: number
}

type Round = { readonly strikes: readonly Strike[]; readonly delayMs: number; readonly pauseMs: number }

/** Faults one after another, some of them two at a time, until so many processes have been killed. */
export class Storm {
  readonly recoveries: Recovery[] = []
  /** The last faults, for the report of a failure. */
  last = 'nothing'
  readonly #world: ChaosWorld
  readonly #random: Random
  readonly #strikes: Strikes
  #due = 0

  constructor(world: ChaosWorld, seed: number) {
    this.#world = world
    this.#random = seeded(seed)
    this.#strikes = new Strikes(this.#random, [...world.disks.keys()])
  }

  async run(kills: number, onRecovery: (recovery: Recovery) => void): Promise<void> {
    for (let killed = 0; killed < kills; ) {
      const round = this.#draw(kills - killed)
      killed += round.strikes.filter(({ isKill }) => isKill).length
      this.last = namesOf(round.strikes)
      const recovery = await this.#suffer(round)
      this.recoveries.push(recovery)
      onRecovery(recovery)
      await sleep(round.pauseMs)
    }
  }

  /** Everything random of a round, in one go: how long faults take has no influence on what comes next. */
  #draw(killsLeft: number): Round {
    const first = this.#next()
    const isPair = chance(this.#random, PAIR_CHANCE)
    const second = isPair && killsLeft > 1 ? [this.#next()] : []
    // The first of two faults of one process that ends would end the other.
    const strikes = [first, ...second.filter((other) => !haveSameVictim(first, other))]
    return {
      strikes,
      delayMs: whole(this.#random, 0, PAIR_DELAY_MS),
      pauseMs: whole(this.#random, 0, MAX_PAUSE_MS),
    }
  }

  #next(): Strike {
    this.#due += OTHER_SHARE
    if (this.#due < 1) return this.#strikes.kill()
    this.#due -= 1
    return this.#strikes.other()
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

function haveSameVictim(one: Strike, other: Strike): boolean {
  const victim = ({ kind }: Strike): string => kind.split(' ').at(-1) ?? kind
  return victim(one) === victim(other)
}
