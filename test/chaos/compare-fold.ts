import { createClient } from '@clickhouse/client'
import type { Interval } from '../../src/domain/interval.ts'
import type { LogMessage } from '../../src/log/chain-log.ts'
import { SANDBOX_CHAIN } from '../../src/sandbox/roles.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { rowsOf } from '../../src/store/clickhouse/rows.ts'
import { TABLE_NAMES, type TableName } from '../../src/store/clickhouse/table-names.ts'
import { latestChanges } from '../../src/store/latest-changes.ts'
import { openHotStore } from '../../src/store/redis/hot-store.ts'
import type { ChangeSetIndex } from '../../src/wire/change-index.ts'
import { indexChangeSet } from '../../src/wire/change-index.ts'
import { FreshFold } from '../e2e/fresh-fold.ts'
import { type StoredCandles, storedDocuments } from '../support/reference/store-dump.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { firstDifference } from './first-difference.ts'
import type { ChaosWorld } from './world.ts'

/** The name of the fresh fold: of its rows, and of its documents. */
const FRESH = 'fresh'
const BATCH = 500
const SETTLED_MS = 180_000
/** A token that a fork removed leaves its search terms behind (docs/decisions/0027), unless one batch has both. */
const CONDITIONS: Readonly<Partial<Record<TableName, string>>> = {
  token_search: 'AND address IN (SELECT address FROM tokens FINAL WHERE chain = {name:String})',
}
const EXACT = { output_format_json_quote_64bit_integers: 1, output_format_json_quote_decimals: 1 } as const

/** All differences are found, not only the first: a run takes hours. */
type Compared = { readonly count: number; readonly differences: readonly string[] }

export type FoldCounts = { readonly sets: number; readonly rows: number; readonly documents: number }

/** The roles against a fold of their BLOCKS in this process: CHANGES, rows and documents must be equal, byte for byte. */
export async function compareWithFold(world: ChaosWorld): Promise<FoldCounts> {
  const { logs } = world
  const until = await (await logs.open('BLOCKS', SANDBOX_CHAIN)).lastSequence()
  await waitFor(
    `both stores to have message ${until}`,
    async () => ((await world.storeHeads()).every((head) => (head?.seq ?? 0) >= until) ? true : undefined),
    SETTLED_MS,
  )
  const sets = await foldAll(world, until)
  const [rows, documents] = [await compareRows(world), await compareDocuments(world)]
  const differences = [...rows.differences, ...documents.differences]
  if (differences.length > 0) throw new Error(differences.join('\n'))
  return { sets, rows: rows.count, documents: documents.count }
}

/** Compares each change set with that in CHANGES, and writes it as the writer does. */
async function foldAll(world: ChaosWorld, until: number): Promise<number> {
  const { config, logs, stack } = world
  const common = createTestCommon()
  const generation = (await logs.generations()).of(SANDBOX_CHAIN).serving
  const changes = await logs.openChanges(SANDBOX_CHAIN, generation)
  const stop = new AbortController()
  const published = changes.read({ after: undefined, signal: stop.signal })[Symbol.asyncIterator]()
  const history = openHistoryStore(config.clickhouse, common)
  const hot = await openHotStore({ ...config.redis, prefix: FRESH }, common)
  const batch: { readonly set: ChangeSetIndex; readonly message: LogMessage }[] = []
  const write = async (): Promise<void> => {
    const newest = batch.at(-1)
    if (newest === undefined) return
    const sets = batch.map(({ set }) => set)
    await history.write(rowsOf(latestChanges(sets.map((set) => ({ ...set, chain: FRESH })))))
    const { chain, seq, head, finalNumber } = newest.set
    await hot.apply(latestChanges(sets), {
      ...{ chain, seq, ...head, finalNumber },
      position: newest.message.position,
    })
    batch.length = 0
  }
  let [count, last] = [0, 0]
  try {
    const fold = new FreshFold(stack, config, logs, SANDBOX_CHAIN)
    for await (const bytes of fold.changeSets(generation, until)) {
      count++
      const { value: message } = await published.next()
      if (message === undefined) throw new Error(`CHANGES ends before its ${count}th message`)
      if (Buffer.compare(message.body, bytes) !== 0) throw new Error(differenceOf(count, message.body, bytes))
      last = message.position.sequence
      batch.push({ set: indexChangeSet(bytes), message: { ...message, body: bytes } })
      if (batch.length >= BATCH) await write()
    }
    await write()
    const end = await changes.lastSequence()
    if (end !== last) throw new Error(`CHANGES has more than BLOCKS: up to ${end}, not ${last}`)
    return count
  } finally {
    stop.abort()
    await Promise.all([history.close(), hot.close()])
  }
}

function differenceOf(nth: number, found: Uint8Array, expected: Uint8Array): string {
  let at = 0
  while (at < found.length && found[at] === expected[at]) at++
  const around = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(at, at + 32)).toString('hex')
  return `CHANGES: message ${nth} differs at byte ${at} (${found.length} and ${expected.length} bytes)
  is        ${around(found)}
  should be ${around(expected)}`
}

async function compareRows({ stack, config }: ChaosWorld): Promise<Compared> {
  const { database } = config.clickhouse
  const client = createClient({ url: stack.clickhouseUrl, database, clickhouse_settings: EXACT })
  const rowsIn = async (table: TableName, name: string): Promise<string[]> => {
    const condition = `chain = {name:String} ${CONDITIONS[table] ?? ''}`
    const query = `SELECT * EXCEPT chain FROM ${table} FINAL WHERE ${condition} ORDER BY ALL`
    const answer = await client.query({ query, query_params: { name }, format: 'JSONEachRow' })
    return (await answer.text()).split('\n').filter((line) => line !== '')
  }
  let count = 0
  const differences: string[] = []
  try {
    for (const table of TABLE_NAMES) {
      const [stored, folded] = [await rowsIn(table, SANDBOX_CHAIN), await rowsIn(table, FRESH)]
      const difference = firstDifference(`rows of ${table}`, stored, folded)
      if (difference !== undefined) differences.push(difference)
      count += stored.length
    }
    return { count, differences }
  } finally {
    await client.close()
  }
}

type Documents = Readonly<Record<string, unknown>>

async function compareDocuments({ stack, config }: ChaosWorld): Promise<Compared> {
  const [stored, folded] = [
    await storedDocuments(stack, config.redis.prefix),
    await storedDocuments(stack, FRESH),
  ]
  const listed = (documents: Documents, others: Documents): [string, unknown][] =>
    Object.entries(documents)
      .map(([key, document]): [string, unknown] => {
        const isOfCandles = key.startsWith('candles:')
        return [key, isOfCandles ? candlesOfBoth(document, others[key]) : document]
      })
      .filter(([, document]) => document !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
  const difference = firstDifference('documents', listed(stored, folded), listed(folded, stored))
  return { count: Object.keys(stored).length, differences: difference === undefined ? [] : [difference] }
}

/**
 * A pair's candles from where both documents say that they are complete: how many older ones are still there depends on
 * batches. Undefined if there is none at all: a fork has removed them. Their document expires; it is never made if one batch
 * has both.
 */
function candlesOfBoth(document: unknown, other: unknown): unknown {
  const intervals = Object.entries(document as StoredCandles)
  if (intervals.every(([, { candles }]) => candles.length === 0)) return undefined
  return intervals.map(([interval, { from, candles }]) => {
    const both = Math.max(from, (other as StoredCandles | undefined)?.[interval as Interval].from ?? 0)
    return [interval, candles.filter(({ record }) => record.start >= both)]
  })
}
