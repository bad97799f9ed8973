import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import { Redis } from 'ioredis'
import type { RawTransaction } from '../../src/domain/envelope.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { decodeEnvelope, encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { Scenario } from '../e2e/scenario.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

const NAME = 'reconcile'
const FINALITY_DEPTH = 3
/** The writer may still create its tables when the gateway already serves. */
const ARCHIVE_MS = 120_000
/** More than there are, so every block is read from the node again. */
const ALL = 1_000

let stack: Stack
let scenario: Scenario
let pipeline: Pipeline
let clickhouse: ClickHouseClient
let redis: Redis
/** The last block with trades. */
let lastTraded = 0

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  clickhouse = createClient({ url: stack.clickhouseUrl, database: NAME })
  redis = new Redis(stack.redisUrl)
  scenario = await Scenario.deploy(stack.rpcUrl)
  pipeline = new Pipeline(
    stack,
    NAME,
    { finality_depth: FINALITY_DEPTH },
    { snapshots: { every_seconds: 1 }, reconciler: { every_seconds: 1, node_blocks: ALL } },
  )
  await pipeline.start('all')
  for (let block = 0; block < 6; block++) await scenario.tradeBlock()
  await caughtUp()
  await waitFor('a snapshot', () => (hasSnapshot() ? true : undefined))
  await scenario.market.reorganise(2)
  for (let block = 0; block < 4; block++) await scenario.tradeBlock()
  await caughtUp()
  await pipeline.killAndRestart('all')
  for (let block = 0; block < 4; block++) await scenario.tradeBlock()
  const { number, time } = await scenario.market.head()
  lastTraded = number
  // The archive is written when a block becomes final, a second after the last time at the earliest.
  let empty = 0
  await waitFor(
    'the archive',
    async () => {
      await scenario.market.mine(time + ++empty)
      await sleep(200)
      return (await archived('number').catch(() => 0)) > lastTraded ? true : undefined
    },
    ARCHIVE_MS,
  )
  await caughtUp()
})

after(async () => {
  await pipeline?.stop()
  redis?.disconnect()
  await clickhouse?.close()
  await stack?.stop()
})

async function caughtUp(): Promise<void> {
  await pipeline.reaches(`/v2/pairs/${scenario.tokenPair}-local`, await scenario.market.head())
}

function hasSnapshot(): boolean {
  const folder = join(pipeline.dir, 'data', 'snapshots', 'engine', 'local')
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.json'))
}

async function archived(column: 'number' | 'seq', where = '1'): Promise<number> {
  const query = `SELECT toString(max(${column})) AS found FROM archived_blocks WHERE kind = 'block' AND ${where}`
  const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ found: string }>()
  return Number(row?.found)
}

async function update(table: string, assignment: string, where: string): Promise<void> {
  await clickhouse.command({
    query: `ALTER TABLE ${table} UPDATE ${assignment} WHERE ${where}`,
    clickhouse_settings: { mutations_sync: '1' },
  })
}

/** From the first block on, so that the fork and the restart are part of it. */
async function reconcile(nodeBlocks = 0): Promise<{ code: number | null; output: string }> {
  const range = ['--from', '1', '--to', String(lastTraded + 1)]
  return pipeline.run('reconcile', 'local', ...range, '--node-blocks', String(nodeBlocks))
}

test('what is stored agrees with the archive, across a fork and restarts', async (t) => {
  const { code, output } = await reconcile(ALL)
  t.diagnostic(output.trim())
  assert.equal(code, 0, output)
  const [, rows, documents] = /(\d+) rows and (\d+) documents compared/.exec(output) ?? []
  // A writer that starts late writes larger batches, and so fewer versions of a row.
  assert.ok(Number(rows) > 20, output)
  assert.ok(Number(documents) > 5, output)
  assert.match(output, /[1-9]\d+ blocks of a node compared/)
})

test('a wrong row is found and named', async () => {
  const where = `block = ${lastTraded} AND tx = 0`
  await update('trades', 'value_usd = value_usd + 1', where)
  const { code, output } = await reconcile()
  await update('trades', 'value_usd = value_usd - 1', where)
  assert.equal(code, 1, output)
  assert.match(
    output,
    new RegExp(`^row: trades 0x\\w+ \\d+ ${lastTraded} 0 \\d+: value_usd of version \\d+: stored`, 'm'),
  )
})

test('a wrong document is found and named', async () => {
  const key = `${NAME}:pair:local:${scenario.tokenPair}`
  const value = await redis.getBuffer(key)
  assert.ok(value)
  const wrong = Buffer.from(value)
  wrong[wrong.length - 1] = (wrong.at(-1) as number) ^ 1
  await redis.set(key, wrong)
  const { code, output } = await reconcile()
  assert.equal(code, 1, output)
  assert.match(
    output,
    new RegExp(`^document: pair ${scenario.tokenPair}: bytes of version \\d+: stored`, 'm'),
  )
  assert.match(output, / 1 differences/)
  // As docs/operations.md advises; what is rebuilt from rows equals what was written from changes.
  const rebuilt = await pipeline.run('redis', 'rebuild')
  assert.equal(rebuilt.code, 0, rebuilt.output)
  const again = await reconcile()
  assert.equal(again.code, 0, again.output)
})

test('a flipped byte of the archive is found and named', async () => {
  const seq = await archived('seq', `number = ${lastTraded}`)
  const flipped =
    'body = concat(substring(body, 1, 20), char(bitXor(ascii(substring(body, 21, 1)), 1)), substring(body, 22))'
  await update('archived_blocks', flipped, `seq = ${seq}`)
  const { code, output } = await reconcile()
  await update('archived_blocks', flipped, `seq = ${seq}`)
  assert.equal(code, 1, output)
  assert.match(output, new RegExp(`^archive: .*message ${seq} does not match its checksum`, 'm'))
})

type Status = { chains: { reconciliation?: { differences: number; node_blocks: number; time: number } }[] }

async function reported(isExpected: (differences: number) => boolean): Promise<void> {
  await waitFor('the reconciliation in /v2/status', async () => {
    const { chains } = (await pipeline.get('/v2/status')).body as Status
    const found = chains[0]?.reconciliation
    return found !== undefined && found.node_blocks > 0 && isExpected(found.differences) ? true : undefined
  })
}

test("an archived block that is not the node's is found, named, and reported by the role", async () => {
  const query = `SELECT base64Encode(body) AS body, seq FROM archived_blocks
    WHERE kind = 'block' AND number = ${lastTraded} ORDER BY seq DESC LIMIT 1`
  const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{
    body: string
    seq: string
  }>()
  const body = Buffer.from(row?.body ?? '', 'base64')
  const block = decodeEnvelope(body)
  assert.ok(block.kind === 'block')
  const [first, ...others] = block.transactions as [RawTransaction]
  const transactions = [{ ...first, from: `0x${'12'.repeat(20)}` }, ...others]
  const store = (bytes: Uint8Array): Promise<void> => {
    const hex = Buffer.from(bytes).toString('hex')
    return update(
      'archived_blocks',
      `body = unhex('${hex}'), checksum = ${crc32(bytes)}`,
      `seq = ${row?.seq}`,
    )
  }
  await reported((differences) => differences === 0)
  await store(encodeEnvelope({ ...block, transactions }))
  const { code, output } = await reconcile(ALL)
  await reported((differences) => differences > 0)
  const listening = pipeline.role('all').linesOf('Admin server listening') as {
    role?: string
    admin_port: number
  }[]
  const port = listening.find(({ role }) => role === 'reconciler')?.admin_port
  // The role folds the block in every run, but reads random ones from the node.
  await waitFor(
    'the block in the metrics',
    async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      const found = /chaintape_reconcile_differences_total\{chain="local",kind="block"\} [1-9]/.test(metrics)
      return found ? true : undefined
    },
    ARCHIVE_MS,
  )
  await store(body)
  assert.equal(code, 1, output)
  assert.match(
    output,
    new RegExp(`^block: block ${lastTraded}: sender of transaction ${first.hash}: stored 0x12`, 'm'),
  )
  assert.ok(pipeline.role('all').linesOf('Stored data differs').length > 0)
  await reported((differences) => differences === 0)
})
