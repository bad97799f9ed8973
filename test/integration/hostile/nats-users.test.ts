import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { connectLogs, type LogOptions, type Logs } from '../../../src/log/connect.ts'
import {
  freePorts,
  type RunningProcess,
  signalProcess,
  startProcess,
  waitUntilReady,
} from '../../../src/sandbox/servers/process.ts'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { hasCode, text } from '../../support/rigs/log-reading.ts'
import { Pipeline } from '../../support/rigs/pipeline.ts'
import { createTestCommon } from '../../support/rigs/test-common.ts'
import { waitFor } from '../../support/rigs/wait-for.ts'

/** The sample file for nats-server: each role works with its own user, and can do nothing else. */

const CONF = fileURLToPath(new URL('../../../deploy/nats/chaintape.conf', import.meta.url))
const CHAINS = new URL('../../../config/chains/', import.meta.url)
const USERS = ['reader', 'engine', 'writer', 'gateway', 'reconciler', 'keys', 'operator', 'backup'] as const
type User = (typeof USERS)[number]

const dir = mkdtempSync(join(tmpdir(), 'chaintape-nats-users-'))
const pipelines: Pipeline[] = []
let nats: RunningProcess
let stack: Stack
let natsUrl: string

before(async () => {
  const [port = 0, monitor = 0] = await freePorts(2)
  natsUrl = `nats://127.0.0.1:${port}`
  nats = startProcess({
    name: 'nats',
    command: 'nats-server',
    args: ['--config', CONF, '-p', `${port}`, '-m', `${monitor}`],
    env: {
      NATS_STORE_DIR: join(dir, 'store'),
      ...Object.fromEntries(USERS.map((user) => [`NATS_${user.toUpperCase()}_PASSWORD`, passwordOf(user)])),
    },
    logFile: join(dir, 'nats.log'),
    ports: [port, monitor],
    isReady: async () => (await fetch(`http://127.0.0.1:${monitor}/healthz`)).ok,
  })
  const others = startStack({ services: ['redis', 'clickhouse', 'anvil'] })
  await waitUntilReady(nats)
  stack = await others
})

after(async () => {
  await Promise.all(pipelines.map((pipeline) => pipeline.stop('SIGKILL')))
  await Promise.all([nats && signalProcess(nats, 'SIGKILL'), stack?.stop()])
  rmSync(dir, { recursive: true, force: true })
})

const passwordOf = (user: User): string => `password-of-${user}`

function natsOf(user: User) {
  return { urls: [natsUrl], username: user, password: passwordOf(user), prefix: 'chaintape' }
}

function pipelineOf(user: User): Pipeline {
  const { redisUrl, clickhouseUrl, rpcUrl } = stack
  const servers = { natsUrls: [natsUrl], redisUrl, clickhouseUrl, rpcUrl }
  const pipeline = new Pipeline(servers, 'chaintape', {}, { nats: natsOf(user) })
  pipelines.push(pipeline)
  return pipeline
}

async function withUser<T>(user: User, work: (logs: Logs) => Promise<T>, more?: Partial<LogOptions>) {
  const options = { ...natsOf(user), replicas: 1, max_frame_bytes: 900_000, ...more }
  const logs = await connectLogs(options, createTestCommon())
  try {
    return await work(logs)
  } finally {
    await logs.close()
  }
}

/** When a refold starts, the writer may look for the new log before the engine has created it, and waits. */
const EARLY = 'User "writer", Subject "$JS.API.STREAM.CREATE.chaintape_CHANGES2_local"'

const violations = (): string[] =>
  readFileSync(join(dir, 'nats.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('Violation') && !line.includes(EARLY))

test('the file names every chain that we ship', () => {
  const conf = readFileSync(CONF, 'utf8')
  for (const file of readdirSync(CHAINS)) {
    const chain = file.replace('.yaml', '')
    for (const log of ['BLOCKS', 'CHANGES', 'CHANGES2'])
      assert.ok(conf.includes(`CREATE.chaintape_${log}_${chain}"`), chain)
  }
})

test('every role and tool works with its own user, without a single violation', async () => {
  const keys = pipelineOf('keys')
  const created = await keys.run('keys', 'create', '--name', 'first')
  assert.equal(created.code, 0, created.output)
  const id = /Key (\w+) created/.exec(created.output)?.[1] ?? ''
  for (const command of [
    ['show-usage', id],
    ['rotate', id],
  ]) {
    const { code, output } = await keys.run('keys', ...command)
    assert.equal(code, 0, output)
  }
  // In this order each finds the streams that it may not create.
  for (const role of ['reader', 'engine', 'writer', 'gateway', 'reconciler'] as const) {
    const pipeline = pipelineOf(role)
    pipeline.spawn(role)
    await pipeline.role(role).ready()
  }
  const listed = await pipelineOf('operator').run('quarantine', 'list')
  assert.equal(listed.code, 0, listed.output)
  const refolded = await pipelineOf('operator').run('refold', 'local', '--grace', '0')
  assert.equal(refolded.code, 0, refolded.output)
  await withUser('gateway', async (logs) => {
    const generations = await logs.generations()
    await waitFor('the former generation to be removed', () => {
      const { serving, retiring } = generations.of('local')
      return serving.number === 2 && retiring === undefined ? true : undefined
    })
  })
  const backup = await pipelineOf('backup').run('backup', join(dir, 'backup'))
  assert.equal(backup.code, 0, backup.output)
  const settings = readFileSync(join(dir, 'backup/chaintape.yaml'), 'utf8')
  assert.match(settings, /prefix: chaintape/)
  assert.equal(settings.includes(passwordOf('backup')), false, 'the password is in the backup')
  assert.deepEqual(violations(), [])
})

test('rare operations of roles are permitted, too', async () => {
  await withUser('gateway', async (logs) => {
    await (await logs.openLatest('WORK')).put('local.wish', text('one'))
    await (await logs.openLatest('USAGE')).put('key.2026-01.01.gateway', text('one'))
    assert.equal((await (await logs.openLatest('USAGE')).read('key.>')).length, 1)
    assert.equal(typeof (await logs.request('accounts.local', 'no question', 2_000).catch(String)), 'string')
    assert.equal(await logs.request('histories.local', `0x${'1'.repeat(40)}`, 20_000), 'read')
    await new Promise<void>((resolve) => {
      logs.subscribe('recall', () => resolve())
      logs.publish('recall', 'gateway key')
    })
  })
  for (const role of ['reader', 'engine', 'writer', 'gateway', 'reconciler'] as const) {
    await withUser(role, async (logs) => {
      await (await logs.openLatest('FAULTS')).put(`local.${role}.instance`, text('{}'))
    })
  }
  await withUser('reconciler', async (logs) => {
    await (await logs.openLatest('RECONCILIATIONS')).put('local', text('{}'))
  })
  await withUser('reader', async (logs) => {
    const answering = logs.respond('accounts.other', async () => 'an answer')
    const answer = await withUser('gateway', (gateway) =>
      gateway.request('accounts.other', 'question', 5_000),
    )
    assert.equal(answer, 'an answer')
    answering.stop()
  })
  await withUser('operator', async (logs) => {
    assert.ok((await (await logs.openLatest('FAULTS')).read('local.>')).length > 0)
    await (await logs.open('BLOCKS', 'local')).lastMessage()
    await (await logs.open('CHANGES2', 'local')).lastMessage()
    await (await logs.openLatest('QUARANTINE')).put('other.BLOCKS.1', new Uint8Array())
  })
  assert.deepEqual(violations(), [])
})

test('no user writes what belongs to another', async () => {
  const refused = hasCode('server_unauthorized')
  for (const user of ['reader', 'engine', 'writer', 'gateway', 'reconciler', 'backup'] as const) {
    await withUser(user, async (logs) => {
      const put = async (name: 'KEYS' | 'QUARANTINE' | 'RECONCILIATIONS' | 'GENERATIONS', at: string) =>
        (await logs.openLatest(name)).put(at, text('forged'))
      await assert.rejects(put('KEYS', 'forged'), refused, `${user} wrote a key`)
      await assert.rejects(put('QUARANTINE', 'local.BLOCKS.1'), refused, `${user} wrote a quarantine entry`)
      if (user !== 'writer')
        await assert.rejects(put('GENERATIONS', 'local'), refused, `${user} wrote a generation`)
      if (user !== 'reconciler')
        await assert.rejects(put('RECONCILIATIONS', 'local'), refused, `${user} wrote a reconciliation`)
      for (const [log, owner] of [
        ['BLOCKS', 'reader'],
        ['CHANGES2', 'engine'],
      ] as const) {
        if (user === owner) continue
        const publisher = await (await logs.open(log, 'local')).openPublisher()
        await assert.rejects(publisher.publish(text('forged')), refused, `${user} wrote ${log}`)
      }
    })
  }
  for (const user of ['reader', 'engine', 'writer', 'reconciler', 'operator'] as const) {
    await withUser(user, async (logs) => {
      await assert.rejects((await logs.openLatest('KEYS')).read('>'), refused, `${user} read keys`)
    })
  }
})

test('no user changes a stream, and only the writer drops messages of the logs or a former generation', async () => {
  for (const user of USERS) {
    const connection = await connect({
      ...{ servers: natsUrl, user, pass: passwordOf(user), inboxPrefix: `_INBOX.${user}` },
    })
    try {
      const { streams } = await jetstreamManager(connection)
      for (const stream of ['KEYS', 'USAGE', 'FAULTS', 'GENERATIONS', 'BLOCKS_local', 'CHANGES2_local']) {
        const name = `chaintape_${stream}`
        const mayDelete = user === 'writer' && stream.startsWith('CHANGES')
        if (!mayDelete) await assert.rejects(streams.delete(name), /Permissions Violation/i)
        // Asked for a sequence before the first, it drops nothing.
        if (user === 'writer' && stream.endsWith('_local')) await streams.purge(name, { seq: 1 })
        else await assert.rejects(streams.purge(name), /Permissions Violation/i)
        await assert.rejects(streams.deleteMessage(name, 1), /Permissions Violation/i)
        await assert.rejects(streams.update(name, { max_msgs: 1 }), /Permissions Violation/i)
      }
      const spy = connection.subscribe('_INBOX.>', { callback: () => undefined })
      assert.match(String(await spy.closed), /Permissions Violation/i)
    } finally {
      await connection.close()
    }
  }
})
