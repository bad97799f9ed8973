import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import type { ChainHead } from '../src/domain/chain-head.ts'
import { startStack } from '../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../src/store/clickhouse/history-store.ts'
import { migrate } from '../src/store/clickhouse/migrate.ts'
import { rowsOf, type TableRows } from '../src/store/clickhouse/rows.ts'
import { latestChanges } from '../src/store/latest-changes.ts'
import { encodeChangeSet } from '../src/wire/change-codec.ts'
import { type ChangeSetIndex, indexChangeSet } from '../src/wire/change-index.ts'
import { sized } from './form.ts'
import { type Bench, repeatAsync, type Sides } from './measure.ts'
import { makeSet } from './stores/made-changes.ts'
import { historyOptions, silentCommon } from './stores/opened.ts'

const TRADES_PER_BLOCK = sized({ full: 125, short: 125, smoke: 10 })
const BLOCKS_PER_BATCH = sized({ full: 10, short: 10, smoke: 2 })

/** The way of changes into ClickHouse, from the log's bytes to the marker, against the server's own part of it. */
export const bench: Bench = {
  figures: [
    {
      name: 'rows through the writer / bare insert of the same rows',
      bar: 0.5,
      goal: 0.8,
      direction: 'at least',
      per: 'wall second',
      open,
    },
  ],
}

async function open(): Promise<Sides> {
  const stack = await startStack({ services: ['clickhouse'] })
  const common = silentCommon()
  const [ours, bare] = ['sink', 'bare'].map((name) => historyOptions(stack.clickhouseUrl, name))
  if (ours === undefined || bare === undefined) throw new Error('two databases are needed')
  await migrate(ours, common)
  await migrate(bare, common)
  const store = openHistoryStore(ours, common)
  const client = createClient({ url: stack.clickhouseUrl, database: bare.database })
  const counting = createClient({ url: stack.clickhouseUrl })

  const sets = Array.from({ length: BLOCKS_PER_BATCH }, (_, i) =>
    makeSet(i + 1, TRADES_PER_BLOCK, i * TRADES_PER_BLOCK),
  )
  const messages = sets.map(encodeChangeSet)
  const tables = rowsOf(latestChanges(messages.map(indexChangeSet))).map(toBare)
  const rowsPerBatch = tables.reduce((sum, { rows }) => sum + rows, 0)
  const trades = TRADES_PER_BLOCK * BLOCKS_PER_BATCH
  let lastSeq = 0
  let next = makeBatch()
  return {
    subject: repeatAsync(writeBatch, async () => {
      const last = await store.marker('eth')
      const found = await countTrades(counting, ours.database, last?.seq ?? 0)
      return found === TRADES_PER_BLOCK ? undefined : `${found} trades of the last block`
    }),
    baseline: repeatAsync(
      async () => {
        await Promise.all(tables.map((table) => insertBare(client, table)))
        return rowsPerBatch
      },
      async () => {
        const found = await countTrades(counting, bare.database, sets.at(-1)?.seq ?? 0)
        return found > 0 && found % TRADES_PER_BLOCK === 0 ? undefined : `${found} trades of the last block`
      },
    ),
    close: async () => {
      console.log(`${rowsPerBatch} rows a batch, of ${trades} trades`)
      await Promise.all([store.close(), client.close(), counting.close()])
      await stack.stop()
    },
  }

  /** Each time as if all were new. */
  function makeBatch(): { head: ChainHead; rows: TableRows[] } {
    const opened = messages.map((message): ChangeSetIndex => ({ ...indexChangeSet(message), seq: ++lastSeq }))
    const { chain, seq, head, finalNumber } = opened.at(-1) as ChangeSetIndex
    const position = { epoch: 'e', sequence: seq, link: 1 }
    return { head: { chain, seq, ...head, finalNumber, position }, rows: rowsOf(latestChanges(opened)) }
  }

  /** As the writer does: the next batch is made while the server is busy with this one. */
  async function writeBatch(): Promise<number> {
    const { head, rows } = next
    const [written] = await Promise.all([
      store.write(rows),
      nextTurn().then(() => {
        next = makeBatch()
      }),
    ])
    await store.commit(head)
    return Object.values(written).reduce((sum, count) => sum + count, 0)
  }
}

type BareTable = { table: string; columns: readonly string[]; rows: number; body: Buffer }

function toBare({ table, columns, count, chunks }: TableRows): BareTable {
  return { table, columns, rows: count, body: Buffer.concat(chunks) }
}

async function insertBare(client: ClickHouseClient, { table, columns, body }: BareTable): Promise<void> {
  const { stream } = await client.exec({
    query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT RowBinary`,
    values: Readable.from([body], { objectMode: false }),
    clickhouse_settings: { async_insert: 0, insert_deduplicate: 0 },
  })
  for await (const _ of stream);
}

async function countTrades(client: ClickHouseClient, database: string, seq: number): Promise<number> {
  const answer = await client.query({
    query: `SELECT count() AS found FROM ${database}.trades WHERE seq = {seq:UInt64}`,
    query_params: { seq },
    format: 'JSONEachRow',
  })
  return Number((await answer.json<{ found: string }>())[0]?.found)
}
