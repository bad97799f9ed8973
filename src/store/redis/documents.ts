import type { Change, Pair, Token, Windows, WindowsRef } from '../../domain/change.ts'
import type { ContractReport } from '../../domain/contract-report.ts'
import { never } from '../../domain/ids.ts'
import { isAlmostThere } from '../../domain/launch.ts'
import { formatValue, type Value } from '../../domain/money.ts'
import { volumeOf } from '../../domain/window.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { writeReport } from '../../wire/contract-codec.ts'
import { writePair, writeToken } from '../../wire/record-codec.ts'
import { writeWindows } from '../../wire/windows-codec.ts'
import type { LatestPage, Versions } from '../versioned.ts'
import { type CandlesWrite, CandleWrites } from './candle-writes.ts'
import { type GroupRank, type Keys, pairsOf, type TokenGroup, type TokenRank } from './keys.ts'

/** What apply.lua takes for one key. */
export type DocumentWrite = {
  readonly kind: 'document'
  readonly key: string
  readonly seq: number
  /** Empty for a removal. */
  readonly body: Uint8Array
  /**
   * Text all the way: only the rank inside Redis is a float. A rank within a group may have no score here: it is then the
   * one that the token has in the rank of all.
   */
  readonly ranks: readonly (readonly [name: string, score: string])[]
  /** The document that says in which groups this one's ranks are kept as well. */
  readonly owner: string | undefined
}

type Newest<T> = {
  readonly seq: number
  readonly record: T | undefined
  readonly owner?: string
}

const NOTHING = new Uint8Array(0)
/** Below every pair whose worth is known, even if it holds nothing. */
const UNKNOWN_SCORE = '-1'

/**
 * What a run of changes of one chain makes of its documents: for each only the newest version. The changes are in
 * the order of the log, and of each series of candles all of one version are among them. Candles come first: whether
 * Redis has the document of their pair already tells a new series from one that has expired.
 */
export function documentsOf(run: readonly Versions[], keys: Keys): (DocumentWrite | CandlesWrite)[] {
  const newest = newestOf(run, keys)
  return [...newest.candles.finish(run[0]?.chain ?? '', keys), ...newest.documents()]
}

/** The same of a page of another store, whose series of candles are complete. */
export function documentsOfPage(
  { versions, oldest }: LatestPage,
  keys: Keys,
  idleSince: number,
): (DocumentWrite | CandlesWrite)[] {
  const newest = newestOf(versions, keys)
  const candles = newest.candles.finishWhole(versions[0]?.chain ?? '', keys, oldest, idleSince)
  return [...candles, ...newest.documents()]
}

function newestOf(run: readonly Versions[], keys: Keys): NewestVersions {
  const newest = new NewestVersions(keys)
  for (const versions of run) {
    for (const change of versions.changes) newest.add(versions, change)
  }
  return newest
}

class NewestVersions {
  readonly #keys: Keys
  readonly #pairs = new Map<string, Newest<Pair>>()
  readonly #tokens = new Map<string, Newest<Token>>()
  readonly #contracts = new Map<string, Newest<ContractReport>>()
  readonly #pairWindows = new Map<string, Newest<Windows>>()
  readonly #tokenWindows = new Map<string, Newest<Windows>>()
  readonly candles = new CandleWrites()

  constructor(keys: Keys) {
    this.#keys = keys
  }

  add({ chain, seq }: Versions, change: Change): void {
    const keys = this.#keys
    switch (change.type) {
      case 'pair':
        this.#pairs.set(keys.pair({ chain, address: change.pair.address }), { seq, record: change.pair })
        break
      case 'pairRemoved':
        this.#pairs.set(keys.pair({ chain, address: change.pair }), { seq, record: undefined })
        break
      case 'token':
        this.#tokens.set(keys.token({ chain, address: change.token.address }), { seq, record: change.token })
        break
      case 'tokenRemoved':
        this.#tokens.set(keys.token({ chain, address: change.token }), { seq, record: undefined })
        break
      case 'windows':
        this.#putWindows(chain, change.windows, { seq, record: change.windows })
        break
      case 'windowsRemoved':
        this.#putWindows(chain, change.windows, { seq, record: undefined })
        break
      case 'candle':
        this.candles.put(change.candle, seq, change.candle)
        break
      case 'candleRemoved':
        this.candles.put(change.candle, seq, undefined)
        break
      case 'contract':
        this.#contracts.set(keys.contract({ chain, address: change.contract.token }), {
          seq,
          record: change.contract,
        })
        break
      case 'contractRemoved':
        this.#contracts.set(keys.contract({ chain, address: change.token }), { seq, record: undefined })
        break
      case 'trade':
      case 'tradeRemoved':
      case 'liquidity':
      case 'liquidityRemoved':
      case 'switch':
      case 'switchRemoved':
      case 'balance':
        break
      default:
        never(change)
    }
  }

  documents(): DocumentWrite[] {
    return [
      ...documents(this.#pairs, writePair, pairRanks),
      ...documents(this.#tokens, writeToken, tokenRanks),
      ...documents(this.#contracts, writeReport, () => []),
      ...documents(this.#pairWindows, writeWindows, () => []),
      ...documents(this.#tokenWindows, writeWindows, volumeRanks),
    ]
  }

  #putWindows(chain: string, { pair, token }: WindowsRef, version: Newest<Windows>): void {
    if (pair !== undefined) {
      this.#pairWindows.set(this.#keys.windows({ chain, kind: 'pair', address: pair }), version)
    }
    if (token !== undefined) {
      const owner = this.#keys.token({ chain, address: token })
      this.#tokenWindows.set(this.#keys.windows({ chain, kind: 'token', address: token }), {
        ...version,
        owner,
      })
    }
  }
}

function documents<T>(
  versions: ReadonlyMap<string, Newest<T>>,
  write: (w: ByteWriter, record: T) => void,
  ranksOf: (record: T) => DocumentWrite['ranks'],
): DocumentWrite[] {
  return Array.from(versions, ([key, { seq, record, owner }]) => ({
    kind: 'document',
    key,
    seq,
    body: record === undefined ? NOTHING : encode(write, record),
    ranks: record === undefined ? [] : ranksOf(record),
    owner,
  }))
}

function pairRanks({ token0, token1, tvlUsd }: Pair): DocumentWrite['ranks'] {
  const score = tvlUsd === undefined ? UNKNOWN_SCORE : formatValue(tvlUsd)
  return [token0, token1].map(({ token }) => [pairsOf(token), score])
}

/** Who is not worth anything known stands in no rank of all tokens: they are many. */
function tokenRanks(token: Token): DocumentWrite['ranks'] {
  const { fdvUsd, mainPairTvlUsd } = token
  return [...ranked('fdv', fdvUsd), ...ranked('main_pair_tvl', mainPairTvlUsd), ...launchRanks(token)]
}

/** In each of its groups, a token that was launched by a platform. */
function launchRanks({ platform, mainPairTvlUsd }: Token): DocumentWrite['ranks'] {
  if (platform === undefined) return []
  const { name, createdAt, progressPpm, graduatedAt } = platform
  const isIn = graduatedAt === undefined
  const group: TokenGroup = isIn ? `${name}_in` : `${name}_out`
  const since = isIn ? createdAt : graduatedAt
  const inEach = (each: TokenGroup): DocumentWrite['ranks'] => [
    // What it is traded for is told by its windows.
    [`${each}/volume_24h`, ''],
    ...ranked(`${each}/main_pair_tvl`, mainPairTvlUsd),
  ]
  return [
    ...inEach('meme'),
    ...inEach(group),
    ...scored(`${group}/new`, since),
    ...(isIn && isAlmostThere(progressPpm) ? scored(`${group}/almost`, progressPpm) : []),
  ]
}

function scored(rank: GroupRank, score: number | undefined): DocumentWrite['ranks'] {
  return score === undefined ? [] : [[rank, String(score)]]
}

function volumeRanks({ lengths }: Windows): DocumentWrite['ranks'] {
  const day = lengths.at(-1)
  return day === undefined ? [] : ranked('volume_24h', volumeOf(day))
}

function ranked(rank: TokenRank, worth: Value | undefined): DocumentWrite['ranks'] {
  return worth === undefined || worth === 0n ? [] : [[rank, formatValue(worth)]]
}

/** One for all documents: it has grown to their size. */
const w = new ByteWriter(4096)

function encode<T>(write: (w: ByteWriter, record: T) => void, record: T): Uint8Array {
  w.clear()
  write(w, record)
  return w.finish()
}
