import { chance, seeded, whole } from '../../src/sandbox/market/random.ts'
import { type Strike, Strikes } from './strikes.ts'

/** The share of faults that kill nothing. */
const OTHER_SHARE = 0.375
const PAIR_CHANCE = 0.2
const PAIR_DELAY_MS = 1_500
const MAX_PAUSE_MS = 400

/** One fault, or two of different processes; the second comes so much later. */
export type Round = {
  readonly strikes: readonly Strike[]
  readonly delayMs: number
  /** Before the next round. */
  readonly pauseMs: number
}

/** Faults until so many processes have been killed. They depend on the seed alone. */
export function* drawRounds(kills: number, seed: number): Generator<Round, void, undefined> {
  const random = seeded(seed)
  const drawn = new Strikes(random)
  let due = 0
  const next = (): Strike => {
    due += OTHER_SHARE
    if (due < 1) return drawn.kill()
    due -= 1
    return drawn.other()
  }
  for (let killed = 0; killed < kills; ) {
    const first = next()
    const second = chance(random, PAIR_CHANCE) ? [next()] : []
    const isLast = first.isKill && killed + 1 === kills
    // The first of two faults of one process that ends would end the other.
    const isFit = ({ victim, isKill }: Strike): boolean => victim !== first.victim && !(isLast && isKill)
    const strikes = [first, ...second.filter(isFit)]
    killed += strikes.filter(({ isKill }) => isKill).length
    const [delayMs, pauseMs] = [whole(random, 0, PAIR_DELAY_MS), whole(random, 0, MAX_PAUSE_MS)]
    yield { strikes, delayMs, pauseMs }
  }
}
