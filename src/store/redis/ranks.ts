import { isAlmostThere } from '../../domain/launch.ts'
import { sumOfValues } from '../../domain/limits.ts'
import { formatValue } from '../../domain/money.ts'
import type { ChangeSetIndex } from '../../wire/change-index.ts'
import { PAIR, TOKEN, WINDOWS_LAYOUT } from '../../wire/change-layouts.ts'
import type { TokenGroup } from '../document-reads.ts'
import { pairsOf } from './keys.ts'

/**
 * The rankings of a document. Scores are strings; only Redis turns them into floats. An empty score in a group's
 * ranking means the token's score in the ranking of all tokens.
 */
export type Ranks = readonly (readonly [name: string, score: string])[]

/** Sorts below every pair of known value, even an empty one. */
const UNKNOWN_SCORE = '-1'

export function pairRanks({ reader, places }: ChangeSetIndex, base: number): Ranks {
  const { token0Address, token1Address, tvlUsd } = PAIR.slots
  const worthAt = places[base + tvlUsd] as number
  const score = worthAt === 0 ? UNKNOWN_SCORE : formatValue(reader.at(worthAt).biguint())
  const rankOf = (slot: number): Ranks[number] => [
    pairsOf(reader.at(places[base + slot] as number).recurringId()),
    score,
  ]
  return [rankOf(token0Address), rankOf(token1Address)]
}

/** Tokens of unknown value are in no global ranking, because there are too many. */
export function tokenRanks(set: ChangeSetIndex, base: number): Ranks {
  const { fdvUsd, mainPairTvlUsd } = TOKEN.slots
  const ranks: (readonly [string, string])[] = []
  const fdv = scoreAt(set, base + fdvUsd)
  const mainPairTvl = scoreAt(set, base + mainPairTvlUsd)
  if (fdv !== undefined) ranks.push(['fdv', fdv])
  if (mainPairTvl !== undefined) ranks.push(['main_pair_tvl', mainPairTvl])
  if (set.places[base + TOKEN.slots['platform.name']] !== 0)
    ranks.push(...launchRanks(set, base, mainPairTvl))
  return ranks
}

/** Rankings of a token in each group of its launch platform. */
function launchRanks(
  { reader, places }: ChangeSetIndex,
  base: number,
  mainPairTvl: string | undefined,
): Ranks {
  const { slots } = TOKEN
  const numberAt = (slot: number): number | undefined => {
    const at = places[base + slot] as number
    return at === 0 ? undefined : reader.at(at).varuint()
  }
  const name = reader.at(places[base + slots['platform.name']] as number).text()
  const graduatedAt = numberAt(slots['platform.graduatedAt'])
  const isIn = graduatedAt === undefined
  const group: TokenGroup = isIn ? `${name}_in` : `${name}_out`
  const since = isIn ? numberAt(slots['platform.createdAt']) : graduatedAt
  const progressPpm = numberAt(slots['platform.progressPpm'])
  const inEach = (each: TokenGroup): Ranks => [
    // The token's windows hold the volume.
    [`${each}/volume_24h`, ''],
    ...(mainPairTvl === undefined ? [] : [[`${each}/main_pair_tvl`, mainPairTvl] as const]),
  ]
  return [
    ...inEach('meme'),
    ...inEach(group),
    ...(since === undefined ? [] : [[`${group}/new`, String(since)] as const]),
    ...(isIn && isAlmostThere(progressPpm) ? [[`${group}/almost`, String(progressPpm)] as const] : []),
  ]
}

export function volumeRanks({ reader, places }: ChangeSetIndex, base: number): Ranks {
  const { slots } = WINDOWS_LAYOUT
  const valueAt = (slot: number): bigint | undefined => {
    const at = places[base + slot] as number
    return at === 0 ? undefined : reader.at(at).biguint()
  }
  const volume = sumOfValues(valueAt(slots['24hBuyUsd']), valueAt(slots['24hSellUsd']))
  return volume === undefined || volume === 0n ? [] : [['volume_24h', formatValue(volume)]]
}

/** Undefined for an unknown or zero value. */
function scoreAt({ bytes, reader, places }: ChangeSetIndex, slot: number): string | undefined {
  const at = places[slot] as number
  return at === 0 || bytes[at] === 0 ? undefined : formatValue(reader.at(at).biguint())
}
