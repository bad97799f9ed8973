import type { BlockEnvelope, Fact, RawLog } from '../../../src/domain/envelope.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import type { Random } from '../../fuzz/random.ts'
import {
  answeredFact,
  FORMS,
  HOLDERS,
  moveLogs,
  olderFact,
  sampleFact,
  ZERO,
} from '../../support/arbitraries/move-arbitraries.ts'

const AMOUNTS = [0n, 1n, 2n, 5n, 10n ** 18n, 10n ** 18n, 2n ** 255n - 1n, 2n ** 256n - 1n]

/** Some of a token, or of a pool's shares, changes hands; or something is said that only looks like it. */
export function randomMove(random: Random, token: string): RawLog[] {
  const form = random.chance(0.6) ? 'plain' : random.pick(FORMS)
  return moveLogs(token, { do: 'move', of: 0, form, move: anyMove(random), newTx: false })
}

/** A piece of what happened before to one that was met in these blocks. */
export function randomPast(random: Random, branch: readonly BlockEnvelope[]): Fact | undefined {
  return olderFact(branch, [], {
    of: random.below(20),
    moves: Array.from({ length: random.below(5) }, () => anyMove(random)),
    isLast: random.chance(0.5),
    since: random.pick([-1_000, 0, 12]),
    isImpossible: random.chance(0.02),
  })
}

export function randomSample(
  random: Random,
  branch: readonly BlockEnvelope[],
  token: string,
  { quoteAssets }: EngineSettings,
): Fact | undefined {
  const isWrappedNative = quoteAssets.some(({ address, kind }) => address === token && kind === 'native')
  const off = random.chance(0.9) ? 0n : 1n
  return sampleFact(branch, token, isWrappedNative, { of: 0, holder: random.pick(HOLDERS), off })
}

/** What the token answers of burn addresses and lockers. */
export function randomAnswer(random: Random, token: string): Fact {
  const amounts = Array.from({ length: 6 }, () => random.pick(AMOUNTS.slice(0, 6)))
  return answeredFact(token, { of: 0, amounts, isComplete: random.chance(0.9) })
}

function anyMove(random: Random) {
  const amount = random.chance(0.9) ? random.pick(AMOUNTS.slice(0, 6)) : random.pick(AMOUNTS)
  const from = random.chance(0.4) ? ZERO : random.pick(HOLDERS)
  return { from, to: random.chance(0.2) ? ZERO : random.pick(HOLDERS), amount }
}
