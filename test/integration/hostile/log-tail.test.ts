import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { LogMessage } from '../../../src/log/chain-log.ts'
import { connectLogs, type LogName } from '../../../src/log/connect.ts'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { decodeChangeSet } from '../../../src/wire/change-codec.ts'
import { decodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import { FIRST_LINK, splitMessage } from '../../../src/wire/frame.ts'
import { Scenario } from '../../e2e/scenario.ts'
import { CanonicalView } from '../../support/reference/canonical-view.ts'
import { cutLog } from '../../support/rigs/cut-log.ts'
import { readAll } from '../../support/rigs/log-reading.ts'
import { Pipeline } from '../../support/rigs/pipeline.ts'
import { createTestCommon } from '../../support/rigs/test-common.ts'
import { waitFor } from '../../support/rigs/wait-for.ts'

/** NATS returns without messages it had acknowledged. */

let stack: Stack
let scenario: Scenario
let pipeline: Pipeline

before(async () => {
  stack = await startStack({
    natsSync: 'lazy',
    services: ['nats', 'anvil'],
    anvil: ['--no-mining', '--timestamp', '1750000000'],
  })
  scenario = await Scenario.deploy(stack.rpcUrl)
  const unused = { redisUrl: 'redis://127.0.0.1:1', clickhouseUrl: 'http://127.0.0.1:1' }
  const { natsUrls, rpcUrl } = stack
  pipeline = new Pipeline({ natsUrls, rpcUrl, ...unused }, 'tail', { finality_depth: 8 })
  await pipeline.start('reader', 'engine')
})

after(async () => {
  await pipeline?.stop('SIGKILL')
  await stack?.stop()
})

test('running reader and engine restore both logs, bit for bit', async () => {
  const [blocks, changes] = await tradeAndRead(6)
  await restartWithout(3, 'BLOCKS', 'CHANGES')
  await scenario.tradeBlock()
  for (const role of ['reader', 'engine'] as const) await pipeline.role(role).logged('Log tail restored')
  const [later, laterChanges] = await tradeAndRead(3)
  expectExtends(later, blocks)
  expectExtends(laterChanges, changes)
})

test('so do those that were killed with NATS', async () => {
  const [blocks, changes] = await tradeAndRead(3)
  await Promise.all([pipeline.role('reader').kill('SIGKILL'), pipeline.role('engine').kill('SIGKILL')])
  await restartWithout(4, 'BLOCKS', 'CHANGES')
  pipeline.spawn('reader')
  pipeline.spawn('engine')
  const [later, laterChanges] = await tradeAndRead(3)
  expectExtends(later, blocks)
  expectExtends(laterChanges, changes)
})

test('an engine without its outbox folds BLOCKS again and publishes the same changes', async () => {
  const [, changes] = await tradeAndRead(3)
  await pipeline.role('engine').kill('SIGKILL')
  rmSync(join(pipeline.dir, 'data/engine/local/outbox'), { recursive: true })
  await restartWithout(4, 'CHANGES')
  pipeline.spawn('engine')
  expectExtends((await tradeAndRead(3))[1], changes)
})

test('a reader without its outbox continues from the end of the log: no gap, no duplicate', async () => {
  await tradeAndRead(3)
  // An engine that had read what is lost would halt: it cannot know what replaced it.
  await Promise.all([pipeline.role('reader').kill('SIGKILL'), pipeline.role('engine').kill('SIGKILL')])
  rmSync(join(pipeline.dir, 'data/reader/local/outbox'), { recursive: true })
  await restartWithout(4, 'BLOCKS')
  pipeline.spawn('reader')
  await scenario.tradeBlock()
  const head = await scenario.market.head()
  const view = await waitFor('the reader to read the lost blocks again', async () => {
    const found = CanonicalView.of((await read('BLOCKS')).map(({ body }) => decodeEnvelope(body)))
    return found.tip?.number === head.number ? found : undefined
  })
  assert.ok(view.blocks.length > 10)
  pipeline.spawn('engine')
  const fault = await pipeline.role('engine').logged('Chain stopped by a fault; retrying')
  // Which one depends on whether the engine had committed what it read of the lost tail before it was killed.
  assert.match((fault as { code?: string }).code ?? '', /^(log_damaged|diverged)$/)
})

/** Mines blocks and waits until CHANGES has all of them. */
async function tradeAndRead(count: number): Promise<[LogMessage[], LogMessage[]]> {
  for (let block = 0; block < count; block++) await scenario.tradeBlock()
  const head = await scenario.market.head()
  return await waitFor(
    `CHANGES up to block ${head.number}`,
    async () => {
      for (const role of ['reader', 'engine'] as const) assert.equal(pipeline.role(role).exitCode, null, role)
      const changes = await read('CHANGES')
      const last = changes.at(-1)
      if (last === undefined || decodeChangeSet(last.body).head.number !== head.number) return undefined
      const blocks = await read('BLOCKS')
      // A `final` may follow the newest block: only when both are even, nothing is on its way.
      if (decodeChangeSet(last.body).seq !== blocks.at(-1)?.position.sequence) return undefined
      CanonicalView.of(blocks.map(({ body }) => decodeEnvelope(body)))
      return [blocks, changes]
    },
    60_000,
  )
}

function storedBytes(body: Uint8Array): number {
  return splitMessage(body, FIRST_LINK, Number.MAX_SAFE_INTEGER).reduce((sum, { length }) => sum + length, 0)
}

async function restartWithout(messages: number, ...names: LogName[]): Promise<void> {
  const lost = await Promise.all(
    names.map(async (name) => {
      const last = (await read(name)).slice(-messages)
      return { name, bytes: last.reduce((sum, { body }) => sum + storedBytes(body), 0) }
    }),
  )
  await stack.kill('nats')
  for (const { name, bytes } of lost) cutLog(stack.dataDir, `tail_${name}_local`, bytes)
  await stack.restart('nats')
}

async function read(name: LogName): Promise<LogMessage[]> {
  const options = { urls: stack.natsUrls, prefix: 'tail', replicas: 1, max_frame_bytes: 900_000 }
  const logs = await connectLogs(options, createTestCommon())
  try {
    return await readAll(await logs.open(name, 'local'))
  } finally {
    await logs.close()
  }
}

function expectExtends(later: readonly LogMessage[], before: readonly LogMessage[]): void {
  assert.ok(later.length > before.length)
  const facts = ({ body, position }: LogMessage): string =>
    `${position.sequence} ${position.link} ${Buffer.from(body).toString('base64')}`
  assert.deepEqual(later.slice(0, before.length).map(facts), before.map(facts))
}
