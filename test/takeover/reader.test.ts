import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPublicClient, http } from 'viem'
import type { ChainLog } from '../../src/log/chain-log.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { INDEX_FORMAT } from '../../src/roles/reader.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openStateStore } from '../../src/store/lmdb/state-store.ts'
import { decodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { Scenario } from '../e2e/scenario.ts'
import { CanonicalView } from '../support/reference/canonical-view.ts'
import { readAll } from '../support/rigs/log-reading.ts'
import { Pipeline, RoleProcess } from '../support/rigs/pipeline.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { askAdmin } from './ask-admin.ts'

/** Two readers of one chain, real NATS and a real node. The target is 5 s; a busy CI machine gets three times that. */
const MAX_PAUSE_MS = 15_000
const PREFIX = 'standby'

let stack: Stack
let scenario: Scenario
let logs: Logs
let blocks: ChainLog
let first: Pipeline
let second: Pipeline

before(async () => {
  stack = await startStack({
    services: ['nats', 'anvil'],
    anvil: ['--no-mining', '--timestamp', '1750000000'],
  })
  scenario = await Scenario.deploy(stack.rpcUrl)
  const { natsUrls, rpcUrl } = stack
  const unused = { redisUrl: 'redis://127.0.0.1:1', clickhouseUrl: 'http://127.0.0.1:1' }
  const settings = { finality_depth: 8 }
  first = new Pipeline({ natsUrls, rpcUrl, ...unused }, PREFIX, settings)
  second = new Pipeline({ natsUrls, rpcUrl, ...unused }, PREFIX, settings)
  logs = await connectLogs(
    { urls: natsUrls, prefix: PREFIX, replicas: 1, max_frame_bytes: 900_000 },
    createTestCommon(),
  )
  blocks = await logs.open('BLOCKS', 'local')
})

after(async () => {
  for (const pipeline of [first, second]) {
    signal(pipeline, 'SIGCONT')
    await pipeline?.stop('SIGKILL')
  }
  await logs?.close()
  await stack?.stop()
})

test('a reader that is alone leads at once; a second one becomes ready and stands by', async () => {
  await first.start('reader')
  await second.start('reader')
  for (let block = 0; block < 3; block++) await tradeUntilAppended()
  assert.deepEqual(turns(first), ['standby: started', 'leader: alone'])
  assert.deepEqual(turns(second), ['standby: started'])
  assert.deepEqual(await Promise.all([leads(first), leads(second)]), [true, false])
})

test('a quiet chain is not a lost leader', async () => {
  await sleep(3_000)
  await tradeUntilAppended()
  assert.deepEqual(turns(second), ['standby: started'])
})

test('an index that another reader uses is left alone', async () => {
  const logFile = join(first.dir, 'intruder.log')
  const intruder = new RoleProcess('reader', first.configFile, logFile)
  assert.equal(await intruder.exited(), 1)
  assert.match(readFileSync(logFile, 'utf8'), /another process uses .*"code":"fenced"/)
})

test('the standby appends after the leader was killed, and continues the background work', async (t) => {
  await first.role('reader').kill('SIGKILL')
  t.diagnostic(`BLOCKS paused for ${await pauseOfBlocks()} ms`)
  assert.equal(turns(second).at(-1), 'leader: stalled')
  await waitFor('the inspection and the older transfers of the token', async () => {
    await tradeUntilAppended()
    const facts = (await view()).blocks.flatMap((block) => block.facts)
    const ofToken = facts.filter(({ address }) => address === scenario.token)
    assert.equal(ofToken.filter(({ type }) => type === 'token').length, 1)
    const isRead = ofToken.some((fact) => fact.type === 'transfers' && fact.isLast)
    return isRead && ofToken.some(({ type }) => type === 'inspection') ? true : undefined
  })
})

test('a leader that was stopped and resumed is refused, and stands by', async (t) => {
  await first.start('reader')
  await tradeUntilAppended()
  let [leader, standby] = [second, first]
  for (let round = 0; round < 2; round++) {
    signal(leader, 'SIGSTOP')
    t.diagnostic(`BLOCKS paused for ${await pauseOfBlocks()} ms`)
    assert.equal(turns(standby).at(-1), 'leader: stalled')
    const replaced = turns(leader).length + 1
    signal(leader, 'SIGCONT')
    await waitFor('the old leader to stand by', () => (turns(leader).length === replaced ? true : undefined))
    assert.equal(turns(leader).at(-1), 'standby: replaced')
    await tradeUntilAppended()
    ;[leader, standby] = [standby, leader]
  }
})

test('BLOCKS holds the chain without a hole or a block twice, and both indexes agree', async () => {
  await waitFor('BLOCKS to rest', async () => {
    const end = await blocks.lastSequence()
    await sleep(1_000)
    return (await blocks.lastSequence()) === end ? true : undefined
  })
  for (const pipeline of [first, second]) signal(pipeline, 'SIGCONT')
  await Promise.all([first, second].map((pipeline) => pipeline.role('reader').kill('SIGTERM')))
  const { blocks: read } = await view()
  const client = createPublicClient({ transport: http(stack.rpcUrl, { batch: true }) })
  const chain = await Promise.all(read.map(({ number }) => client.getBlock({ blockNumber: BigInt(number) })))
  assert.deepEqual(
    read.map(({ hash }) => hash),
    chain.map(({ hash }) => hash),
  )
  const [one, two] = await Promise.all([first, second].map(indexOf))
  assert.equal(one?.position?.sequence, await blocks.lastSequence())
  assert.ok((one?.entries.length ?? 0) > 20)
  assert.deepEqual(one, two)
})

/** What a reader logged about its turns, over all its lives. */
function turns({ dir }: Pipeline): string[] {
  const lines = readFileSync(join(dir, 'reader.log'), 'utf8').split('\n')
  return lines.flatMap((line) => {
    const [, turn, reason] = /"reason":"(\w+)".*"msg":"Reader is (standby|leader)"/.exec(line) ?? []
    return turn === undefined ? [] : [`${reason}: ${turn}`]
  })
}

async function leads(pipeline: Pipeline): Promise<boolean> {
  const { admin_port } = await pipeline.role('reader').logged('Admin server listening')
  const metrics = await (await askAdmin(admin_port, '/metrics')).text()
  return /^chaintape_reader_leads\{.*\} 1$/m.test(metrics)
}

function signal(pipeline: Pipeline, name: NodeJS.Signals): void {
  const { pid, exitCode } = pipeline.role('reader')
  if (pid !== undefined && exitCode === null) process.kill(pid, name)
}

async function view(): Promise<CanonicalView> {
  return CanonicalView.of((await readAll(blocks)).map(({ body }) => decodeEnvelope(body)))
}

async function tradeUntilAppended(): Promise<void> {
  await scenario.tradeBlock()
  const head = await scenario.market.head()
  await waitFor(`block ${head.number} in BLOCKS`, async () =>
    (await view()).tip?.number === head.number ? true : undefined,
  )
}

async function pauseOfBlocks(): Promise<number> {
  const startedMs = performance.now()
  await tradeUntilAppended()
  const pauseMs = Math.round(performance.now() - startedMs)
  assert.ok(pauseMs < MAX_PAUSE_MS, `${pauseMs} ms`)
  return pauseMs
}

async function indexOf({ dir }: Pipeline) {
  const store = openStateStore({ dir: join(dir, 'data/reader/local'), format: INDEX_FORMAT })
  const entries = [...store.entries()].map(([key, value]) => [key, Buffer.from(value).toString('hex')])
  const { position } = store
  await store.close()
  return { position, entries }
}
