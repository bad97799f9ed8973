import assert from 'node:assert/strict'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Manifest, readManifest } from '../../src/roles/backup/manifest.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { withoutHoldings } from '../support/reference/same-facts.ts'
import { storedDocuments, storedRows } from '../support/reference/store-dump.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { Drill, killAt, runCommand, usageOf } from './drill.ts'

/** docs/operations.md, "Back up" and "Restore". */

const NAME = 'drill'
const folder = mkdtempSync(join(tmpdir(), 'chaintape-backup-'))
const dir = join(folder, 'backup')
let stack: Stack
let emptied: Stack
let drill: Drill
let pipeline: Pipeline
let restored: Pipeline
let manifest: Manifest

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  emptied = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
  drill = await Drill.deploy(stack.rpcUrl)
  const settings = { snapshots: { every_seconds: 1 } }
  pipeline = new Pipeline(stack, NAME, { finality_depth: 5 }, settings)
  const { natsUrls, redisUrl, clickhouseUrl } = emptied
  const servers = { natsUrls, redisUrl, clickhouseUrl, rpcUrl: stack.rpcUrl }
  restored = new Pipeline(servers, NAME, { finality_depth: 5 }, settings)
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
})

after(async () => {
  await Promise.all([pipeline?.stop('SIGKILL'), restored?.stop('SIGKILL')])
  await Promise.all([stack?.stop(), emptied?.stop()])
  rmSync(folder, { recursive: true, force: true })
})

test('a backup under load is complete, and readable by its owner only', async (t) => {
  await runCommand(pipeline, 'keys', 'create', '--name', 'second')
  drill.startLoad(pipeline)
  await waitFor('a snapshot of the engine', () =>
    existsSync(join(pipeline.dir, 'data/snapshots/engine/local')) ? true : undefined,
  )
  await waitFor('archived blocks', async () => {
    const { headers } = await pipeline.get(drill.paths[0] ?? '')
    return Number(headers.get('X-Block')) > 60 ? true : undefined
  })
  // Gateways write down what was used every few seconds.
  await waitFor('usage on record', async () => ((await usageOf(pipeline)).requests > 0 ? true : undefined))
  t.diagnostic(await runCommand(pipeline, 'backup', dir))
  await drill.stopLoad()
  manifest = readManifest(dir)
  assert.equal(existsSync(`${dir}.incomplete`), false)
  assert.equal(statSync(dir).mode & 0o77, 0)
  const { local } = manifest.chains
  assert.ok((local?.archived?.sequence ?? 0) > 0, 'nothing was archived before the backup')
  assert.ok(local && local.blocks.first > 1 && local.blocks.first <= (local.archived?.sequence ?? 0))
  for (const kind of [
    'clickhouse/trades/',
    'clickhouse/archived_blocks/',
    'snapshots/engine/',
    'latest/keys',
  ])
    assert.ok(
      manifest.files.some(({ path }) => path.startsWith(kind)),
      kind,
    )
})

test('a second backup does not replace the first', async () => {
  const { code, output } = await pipeline.run('backup', dir)
  assert.equal(code, 1)
  assert.match(output, /backup exists; name a new directory/)
})

test('restore refuses servers that hold data, and names all of them', async () => {
  const { code, output } = await pipeline.run('restore', dir)
  assert.equal(code, 1)
  for (const found of [
    /ClickHouse table drill\.trades \(\d+ rows\)/,
    /NATS stream drill_KEYS \(2 messages\)/,
    /NATS stream drill_BLOCKS_local/,
    /state \S+engine\/local\/data\.mdb/,
    /Redis documents of local up to block \d+/,
  ])
    assert.match(output, found)
})

test('restore refuses a damaged backup before it writes anything', async () => {
  const copy = join(folder, 'damaged')
  cpSync(dir, copy, { recursive: true })
  const [file] = manifest.files.filter(({ path }) => path.startsWith('logs/'))
  appendFileSync(join(copy, file?.path ?? ''), 'x')
  const { code, output } = await restored.run('restore', copy)
  assert.equal(code, 1)
  assert.match(output, /logs\/local\/\w+\.zst has \d+ bytes, not \d+; use another backup/)
  assert.deepEqual(await storedDocuments(emptied, NAME), {})
  assert.equal(existsSync(join(restored.dir, 'data/restore.json')), false)
})

test('an interrupted restore is completed by running it again', async () => {
  const lines = [/files verified/, /all tables restored/, /BLOCKS restored/]
  for (const line of lines) await killAt(restored, line, 'restore', dir)
  const progress = JSON.parse(readFileSync(join(restored.dir, 'data/restore.json'), 'utf8')) as { done: [] }
  assert.ok(progress.done.length > 0)
  await runCommand(restored, 'restore', dir)
  assert.equal(existsSync(join(restored.dir, 'data/restore.json')), false)
})

test('the restored installation resumes at the head, equal in rows, documents, keys and usage', async () => {
  const [used, usedAtBackup] = [await usageOf(pipeline), await usageOf(restored)]
  const text = JSON.stringify({ used, usedAtBackup })
  assert.ok(usedAtBackup.requests > 0 && usedAtBackup.requests <= used.requests, text)
  await restored.start('reader', 'engine', 'writer')
  restored.spawn('gateway')
  await restored.role('gateway').ready()
  await restored.role('engine').logged('Unpacking snapshot')
  await drill.trade(10)
  await Promise.all([drill.caughtUp(pipeline), drill.caughtUp(restored)])
  assert.deepEqual(await drill.answers(restored), await drill.answers(pipeline))
  assert.equal(await runCommand(restored, 'keys', 'list'), await runCommand(pipeline, 'keys', 'list'))
  await sameRows()
  const [ours, theirs] = [await storedDocuments(stack, NAME), await storedDocuments(emptied, NAME)]
  assert.deepEqual(Object.keys(theirs), Object.keys(ours))
})

/** Versions may differ: they count BLOCKS messages, and finality is reported when it is seen. */
async function sameRows(): Promise<void> {
  const { number } = await drill.scenario.market.head()
  const rows = async (of: Stack): Promise<Record<string, unknown[]>> =>
    Object.fromEntries(
      Object.entries(await storedRows(of, NAME)).map(([table, all]) => [
        table,
        (all as Record<string, unknown>[]).map(withoutHoldings).map(({ seq: _, ...row }) => row),
      ]),
    )
  const last = async (of: Stack): Promise<number> =>
    Math.max(...((await rows(of))['trades'] as { block: string }[]).map(({ block }) => Number(block)))
  for (const each of [stack, emptied])
    await waitFor('the last trades to be stored', async () =>
      (await last(each)) === number ? true : undefined,
    )
  const [ours, theirs] = [await rows(stack), await rows(emptied)]
  for (const table of Object.keys(ours)) assert.deepEqual(theirs[table], ours[table], table)
}
