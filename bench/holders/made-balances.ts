import type { Change, ChangeSet } from '../../src/domain/change.ts'
import { addressOf, setOf } from '../search/made-tokens.ts'

/** How the first token's holders stand, version by version. */
export type Ranks = {
  readonly holders: number
  /** So many of the largest change in every later version, so that each leaves rows behind where it stood. */
  readonly changed: number
  readonly versions: number
}

const LARGEST = 10n ** 27n
const BATCH = 50_000

/** Few have much: the tenth a tenth of what the first has. Later each has about double or half of that. */
function amountOf({ changed }: Ranks, index: number, version: number): bigint {
  const amount = LARGEST / BigInt(index + 1) + 1n
  if (version === 0 || index >= changed) return amount
  return (index + version) % 2 === 0 ? amount * 2n + BigInt(version) : amount / 2n + BigInt(version)
}

/** A version of the balances of a token, in sets that can be written one by one. */
export function* balanceSets(token: string, ranks: Ranks, version: number): Generator<ChangeSet> {
  const count = version === 0 ? ranks.holders : ranks.changed
  for (let first = 0; first < count; first += BATCH) {
    const length = Math.min(BATCH, count - first)
    const changes = Array.from({ length }, (_, at): Change => {
      const index = first + at
      const beforeRaw = version === 0 ? 0n : amountOf(ranks, index, version - 1)
      const amountRaw = amountOf(ranks, index, version)
      return { type: 'balance', balance: { token, holder: addressOf(index), amountRaw, beforeRaw } }
    })
    yield setOf(version + 1, changes)
  }
}

/** The largest amounts in the end. */
export function largest(ranks: Ranks, limit: number): bigint[] {
  // Holders that did not change have less than the largest of those that did, if those are many.
  const length = Math.min(ranks.holders, Math.max(ranks.changed, limit) * 2)
  const amounts = Array.from({ length }, (_, index) => amountOf(ranks, index, ranks.versions - 1))
  return amounts.sort((a, b) => (a > b ? -1 : a < b ? 1 : 0)).slice(0, limit)
}
