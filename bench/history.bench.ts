import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import type { Trade } from '../src/domain/change.ts'
import { type Stack, startStack } from '../src/sandbox/servers/stack.ts'
import { migrate } from '../src/store/clickhouse/migrate.ts'
import { type EventPlace, openHistoryReader } from '../src/store/clickhouse/read/history-reader.ts'
import { number, type Row, tradeOf } from '../src/store/clickhouse/read/records.ts'
import type { Versioned } from '../src/store/versioned.ts'
import { BUSY_PAIR, type BusyPair, fillBusyPair, timeOf } from '../test/support/builders/busy-pair.ts'
import { sized } from './form.ts'
import { type Bench, openOnce, quantile, type Sides, type Slice } from './measure.ts'
import { historyOptions, silentCommon } from './stores/opened.ts'

const ROWS = sized({ full: 5_000_000, short: 500_000, smoke: 20_000 })
const MANY_MONTHS = sized({ full: 12, short: 12, smoke: 3 })
const GRANULE = 512
const MAX_GRANULES_PER_PART = 3
const MAX_ROWS_PER_RETURNED = 20
const UNMERGED_PARTS = 10
const ALL_VERSIONS = 1e12
const MERGE_MS = 600_000

type Layout = BusyPair & { readonly database: string }
type Page = { readonly name: string; readonly before: EventPlace | undefined; readonly limit: number }
type ReadPage = (page: Page) => Promise<readonly Versioned<Trade>[]>

const layouts: readonly Layout[] = [1, MANY_MONTHS].flatMap((months) => [
  { database: `months_${months}_unmerged`, rows: ROWS, months, parts: UNMERGED_PARTS },
  { database: `months_${months}_merged`, rows: ROWS, months, parts: 1 },
])

/** What a reader would ask for if there were no versions and no removals. */
const PLAIN_QUERY = `
  SELECT * FROM trades
  WHERE chain = {chain:String} AND pair = {pair:String} AND time <= toDateTime({time:UInt32}, 'UTC')
    AND (time, block) < (toDateTime({time:UInt32}, 'UTC'), {block:UInt64})
  ORDER BY time DESC, block DESC, tx DESC, log DESC
  LIMIT {limit:UInt32}`

export const bench: Bench = {
  figures: layouts.map((layout) => ({
    name: `pages of ${ROWS} trades in ${layout.months} months, ${layout.parts} parts each / plain LIMIT query`,
    bar: 0.333,
    goal: 0.8,
    direction: 'at least',
    per: 'wall second',
    open: () => openLayout(layout),
  })),
}

const stacks = openOnce(layouts.length, fill, (stack) => stack.stop())

async function fill(): Promise<Stack> {
  const stack = await startStack({ services: ['clickhouse'] })
  // An insert or a merge takes one thread, so that two at a time take half the time.
  await Promise.all([1, MANY_MONTHS].map((months) => fillMonths(stack, months)))
  return stack
}

/** The merged table is made from the other's parts, so that every row is inserted once. */
async function fillMonths(stack: Stack, months: number): Promise<void> {
  for (const layout of layouts.filter((each) => each.months === months)) {
    const options = historyOptions(stack.clickhouseUrl, layout.database)
    await migrate(options, silentCommon())
    const client = createClient({
      ...{ url: options.url, database: options.database, request_timeout: MERGE_MS },
      log: { level: ClickHouseLogLevel.OFF },
    })
    if (layout.parts > 1) await fillBusyPair(client, 'trades', layout)
    else await merge(client, layout.database.replace('merged', 'unmerged'))
    await client.close()
  }
}

async function merge(client: ClickHouseClient, source: string): Promise<void> {
  const answer = await client.query({
    query: `SELECT DISTINCT partition_id FROM system.parts
      WHERE database = {source:String} AND table = 'trades' AND active`,
    query_params: { source },
    format: 'JSONEachRow',
  })
  for (const { partition_id } of await answer.json<{ partition_id: string }>()) {
    await client.command({
      query: `ALTER TABLE trades ATTACH PARTITION ID '${partition_id}' FROM ${source}.trades`,
    })
  }
  await client.command({ query: 'OPTIMIZE TABLE trades FINAL' })
}

async function openLayout(layout: Layout): Promise<Sides> {
  const stack = await stacks.open()
  const options = historyOptions(stack.clickhouseUrl, layout.database)
  const reader = openHistoryReader(options)
  const client = createClient({ url: options.url, database: options.database })
  const pages = pagesOf(layout)
  const activity = { first: timeOf(layout, 0), last: timeOf(layout, ROWS - 1) }
  const question = { chain: 'eth', pair: BUSY_PAIR, upTo: ALL_VERSIONS, activity }
  const read: ReadPage = ({ before, limit }) => reader.trades({ ...question, before, limit })
  const wrong = await rowsReadTooMany(client, pages, read)
  const times = { subject: new Map<string, number[]>(), baseline: new Map<string, number[]>() }
  return {
    subject: wrong === undefined ? reading(pages, read, times.subject) : () => ({ units: 0, wrong }),
    baseline: reading(pages, (page) => readPlain(client, page), times.baseline),
    close: async () => {
      for (const { name } of pages) {
        const [ours, plain] = [times.subject, times.baseline].map((all) => quantile(all.get(name) ?? [], 0.5))
        if (ours === undefined || plain === undefined || Number.isNaN(ours)) continue
        console.log(
          `  ${name}: ${ours.toFixed(1)} ms, ${(ours / plain).toFixed(2)} of the plain query's time`,
        )
      }
      await Promise.all([reader.close(), client.close()])
      await stacks.close()
    },
  }
}

function pagesOf(layout: Layout): Page[] {
  const middle = ROWS / 2
  const place = { time: timeOf(layout, middle), key: { block: 18_000_000 + middle, tx: 0, log: 0 } }
  return [100, 1_000].flatMap((limit) => [
    { name: `latest ${limit}`, before: undefined, limit },
    { name: `${limit} in the middle`, before: place, limit },
  ])
}

/** Page after page, each looked at: every trade has the number of its block. */
function reading(pages: readonly Page[], read: ReadPage, times: Map<string, number[]>): Slice {
  return async (durationMs) => {
    const end = performance.now() + durationMs
    let units = 0
    do {
      for (const page of pages) {
        const start = performance.now()
        const trades = await read(page)
        times.set(page.name, [...(times.get(page.name) ?? []), performance.now() - start])
        const first = (page.before?.key.block ?? 18_000_000 + ROWS) - 1
        const isRight = trades.every(({ record }, at) => record.key.block === first - at)
        if (!isRight || trades.length !== page.limit) return { units, wrong: `${page.name}: other trades` }
        units++
      }
    } while (performance.now() < end)
    return { units }
  }
}

async function readPlain(client: ClickHouseClient, { before, limit }: Page): Promise<Versioned<Trade>[]> {
  const answer = await client.query({
    query: PLAIN_QUERY,
    query_params: {
      ...{ chain: 'eth', pair: BUSY_PAIR, limit },
      ...{ time: before?.time ?? 2 ** 32 - 1, block: before?.key.block ?? Number.MAX_SAFE_INTEGER },
    },
    format: 'JSONEachRow',
    clickhouse_settings: {
      date_time_output_format: 'unix_timestamp',
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
    },
  })
  return (await answer.json<Row>()).map((row) => ({ seq: number(row, 'seq'), record: tradeOf(row) }))
}

/** Reads every page once and compares what the server counted with the bars. */
async function rowsReadTooMany(
  client: ClickHouseClient,
  pages: readonly Page[],
  read: ReadPage,
): Promise<string | undefined> {
  let wrong: string | undefined
  for (const page of pages) {
    // To ask for the count adds to it.
    const [first, second] = [await selected(client), await selected(client)]
    const { length } = await read(page)
    const after = await selected(client)
    const rows = after.rows - second.rows - (second.rows - first.rows)
    const parts = after.parts - second.parts
    const most =
      page.limit >= 1_000 ? MAX_ROWS_PER_RETURNED * length : MAX_GRANULES_PER_PART * GRANULE * parts
    const said = `${page.name}: ${rows} rows read of ${parts} parts, ${(rows / length).toFixed(1)} per row returned`
    console.log(`  ${said} (at most ${(most / length).toFixed(1)})`)
    if (rows > most) wrong ??= said
  }
  return wrong
}

/** What the server has read since its start; nobody else uses it. */
async function selected(client: ClickHouseClient): Promise<{ rows: number; parts: number }> {
  const answer = await client.query({
    query: `SELECT sumIf(value, event = 'SelectedRows') AS rows, sumIf(value, event = 'SelectedParts') AS parts
      FROM system.events`,
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ rows: string; parts: string }>()
  return { rows: Number(row?.rows), parts: Number(row?.parts) }
}
