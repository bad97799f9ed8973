import type { Change } from '../../../domain/change.ts'
import { INTERVALS, type Interval, intervalSeconds } from '../../../domain/interval.ts'
import type { CandleScope, LatestPage, Versions } from '../../versioned.ts'
import { reportOf } from '../report-text.ts'
import type { Ask } from './ask.ts'
import { candleOf, candleRefOf, number, pairOf, type Row, text, tokenOf, windowsOf } from './records.ts'

export type LatestQuestion = CandleScope & { readonly chain: string; readonly upTo: number }

type PagedTable = {
  readonly file: string
  /** What its rows are sorted by. */
  readonly key: string
  readonly params: Readonly<Record<string, string | number>>
}

const ROWS_PER_PAGE = 5_000
const PAIRS_PER_PAGE = 25
/** A background read without a waiting client, but it must not hang for ever. */
const MAX_SECONDS = 120

/**
 * Page by page, so that neither side has to hold it all. Removals are included: the receiver ends up in the same state
 * as if it had followed the log.
 */
export async function* readLatest(
  ask: Ask,
  question: LatestQuestion,
): AsyncGenerator<LatestPage, void, undefined> {
  for (const kind of ['pair', 'token'] as const) {
    yield* readPages(ask, question, { file: 'latest-windows', key: 'id', params: { kind } }, windowsChange)
  }
  yield* readPages(ask, question, { file: 'latest-tokens', key: 'address', params: {} }, tokenChange)
  yield* readPages(ask, question, { file: 'latest-contracts', key: 'token', params: {} }, contractChange)
  yield* readPages(ask, question, { file: 'latest-pairs', key: 'address', params: {} }, pairChange)
  const params = { shortest: INTERVALS[0], idle_since: question.idleSince }
  for await (const rows of readRows(ask, question, { file: 'traded-pairs', key: 'pair', params })) {
    const pairs = rows.map((row) => text(row, 'pair'))
    for (let at = 0; at < pairs.length; at += PAIRS_PER_PAGE) {
      yield await readCandles(ask, question, pairs.slice(at, at + PAIRS_PER_PAGE))
    }
  }
}

async function* readPages(
  ask: Ask,
  question: LatestQuestion,
  table: PagedTable,
  changeOf: (row: Row) => Change,
): AsyncGenerator<LatestPage, void, undefined> {
  for await (const rows of readRows(ask, question, table))
    yield { versions: rows.map((row) => versionOf(question.chain, row, changeOf)), oldest: [] }
}

async function* readRows(
  ask: Ask,
  { chain, upTo }: LatestQuestion,
  { file, key, params }: PagedTable,
): AsyncGenerator<readonly Row[], void, undefined> {
  let after = ''
  for (;;) {
    const rows = await ask(file, {
      params: { ...params, chain, up_to: upTo, after, limit: ROWS_PER_PAGE },
      ...{ maxRows: ROWS_PER_PAGE, maxSeconds: MAX_SECONDS },
    })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    if (rows.length < ROWS_PER_PAGE) return
    after = text(last, key)
  }
}

async function readCandles(
  ask: Ask,
  question: LatestQuestion,
  pairs: readonly string[],
): Promise<LatestPage> {
  const { chain, recentCandles, idleSince } = question
  const series: (readonly Row[])[] = []
  for (const interval of INTERVALS) {
    // A pair that trades all the time has as many candles since then, and millions in all.
    const since = Math.max(0, idleSince - recentCandles * intervalSeconds(interval))
    const found = await readSeries(ask, question, { pairs, interval, since })
    const sparse = pairs.filter((pair) => (found.get(pair)?.length ?? 0) < recentCandles)
    const older =
      sparse.length > 0 && since > 0
        ? await readSeries(ask, question, { pairs: sparse, interval, since: 0 })
        : undefined
    series.push(...new Map([...found, ...(older ?? [])]).values())
  }
  return {
    versions: series.flat().map((row) => versionOf(chain, row, candleChange)),
    // Latest first: a full count means there may be older candles.
    oldest: series.flatMap((rows) => rows.slice(recentCandles - 1).map(candleRefOf)),
  }
}

/** By pair. */
async function readSeries(
  ask: Ask,
  { chain, upTo, recentCandles }: LatestQuestion,
  params: { readonly pairs: readonly string[]; readonly interval: Interval; readonly since: number },
): Promise<Map<string, Row[]>> {
  const rows = await ask('latest-candles', {
    params: { ...params, chain, up_to: upTo, recent: recentCandles },
    maxRows: params.pairs.length * recentCandles,
    maxSeconds: MAX_SECONDS,
  })
  return Map.groupBy(rows, (row) => text(row, 'pair'))
}

function versionOf(chain: string, row: Row, changeOf: (row: Row) => Change): Versions {
  return { chain, seq: number(row, 'seq'), changes: [changeOf(row)] }
}

function isRemoved(row: Row): boolean {
  return number(row, 'is_deleted') === 1
}

function windowsChange(row: Row): Change {
  if (!isRemoved(row)) return { type: 'windows', windows: windowsOf(row) }
  const id = text(row, 'id')
  const isPair = row['kind'] === 'pair'
  return {
    type: 'windowsRemoved',
    windows: { pair: isPair ? id : undefined, token: isPair ? undefined : id },
  }
}

function tokenChange(row: Row): Change {
  if (isRemoved(row)) return { type: 'tokenRemoved', token: text(row, 'address') }
  return { type: 'token', token: tokenOf(row) }
}

function contractChange(row: Row): Change {
  if (isRemoved(row)) return { type: 'contractRemoved', token: text(row, 'token') }
  return { type: 'contract', contract: reportOf(text(row, 'report')) }
}

function pairChange(row: Row): Change {
  if (isRemoved(row)) return { type: 'pairRemoved', pair: text(row, 'address') }
  return { type: 'pair', pair: pairOf(row) }
}

function candleChange(row: Row): Change {
  if (isRemoved(row)) return { type: 'candleRemoved', candle: candleRefOf(row) }
  return { type: 'candle', candle: candleOf(row) }
}
