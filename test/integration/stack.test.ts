import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { PortTakenError } from '../../src/sandbox/servers/process.ts'
import { identityOf, isRunning } from '../../src/sandbox/servers/process-identity.ts'
import { type Stack, serviceNames, startStack } from '../../src/sandbox/servers/stack.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

let single: Stack
let clustered: Stack

before(async () => {
  const started = [startStack(), startStack({ natsNodes: 3, anvil: ['--no-mining'] })] as const
  ;[single, clustered] = await Promise.all(started)
})

after(async () => {
  await Promise.all([single?.stop(), clustered?.stop()])
})

test('two stacks share no port and no folder', () => {
  const addresses = [single, clustered].flatMap((stack) => Object.values(stack.ports).flat())
  assert.equal(new Set(addresses).size, addresses.length)
  assert.notEqual(single.dataDir, clustered.dataDir)
})

describe('nats', () => {
  test('a wrong expected sequence is refused and nothing is stored', async () => {
    await withNats(single, async (connection) => {
      const manager = await jetstreamManager(connection)
      await manager.streams.add({ name: 'FENCE', subjects: ['fence.>'] })
      const stream = jetstream(connection)
      const first = await stream.publish('fence.a', 'one', { expect: { lastSubjectSequence: 0 } })
      assert.equal(first.seq, 1)
      for (const lastSubjectSequence of [0, 2]) {
        await assert.rejects(
          stream.publish('fence.a', 'two', { expect: { lastSubjectSequence } }),
          isWrongSequence,
        )
      }
      await assert.rejects(stream.publish('fence.a', 'two', { expect: { lastSequence: 7 } }), isWrongSequence)
      assert.equal((await stream.publish('fence.a', 'two', { expect: { lastSubjectSequence: 1 } })).seq, 2)
      assert.equal((await manager.streams.info('FENCE')).state.messages, 2)
    })
  })

  // Which of the two the server looks at first differs between its versions and between one and three
  // replicas, so that only what holds in all of them can be relied upon.
  test('a repeated msgID is a duplicate, and with a stale fence it is at least not stored again', async () => {
    await withNats(single, async (connection) => {
      const manager = await jetstreamManager(connection)
      await manager.streams.add({ name: 'ONCE', subjects: ['once.>'] })
      const stream = jetstream(connection)
      await stream.publish('once.a', 'one', { msgID: 'x' })
      await stream.publish('once.a', 'two', { msgID: 'y' })
      const repeated = await stream.publish('once.a', 'one', { msgID: 'x' })
      assert.deepEqual([repeated.duplicate, repeated.seq], [true, 1])
      await stream.publish('once.a', 'one', { msgID: 'x', expect: { lastSequence: 0 } }).then(
        (acknowledged) => assert.deepEqual([acknowledged.duplicate, acknowledged.seq], [true, 1]),
        (error) => assert.ok(isWrongSequence(error)),
      )
      assert.equal((await manager.streams.info('ONCE')).state.messages, 2)
    })
  })

  test('acknowledged messages survive SIGKILL and an orderly restart', async () => {
    await withNats(single, async (connection) => {
      await (await jetstreamManager(connection)).streams.add({ name: 'KEPT', subjects: ['kept'] })
      await jetstream(connection).publish('kept', 'one')
    })
    await single.kill('nats')
    await single.restart('nats')
    await withNats(single, async (connection) => void (await jetstream(connection).publish('kept', 'two')))
    await single.restart('nats')
    await withNats(single, async (connection) => {
      const manager = await jetstreamManager(connection)
      assert.equal((await manager.streams.info('KEPT')).state.messages, 2)
      assert.equal((await manager.streams.getMessage('KEPT', { seq: 1 }))?.string(), 'one')
    })
  })

  test('three nodes hold an R3 stream, which outlives one of them', async () => {
    await withNats(clustered, async (connection) => {
      const manager = await jetstreamManager(connection)
      const info = await manager.streams.add({ name: 'THREE', subjects: ['three'], num_replicas: 3 })
      assert.equal(info.cluster?.replicas?.length, 2)
      const stream = jetstream(connection)
      // Not awaited one by one: the fence on the whole stream holds for messages still in flight.
      const pipelined = Array.from({ length: 100 }, (_, lastSequence) =>
        stream.publish('three', `${lastSequence}`, { expect: { lastSequence } }),
      )
      await Promise.all(pipelined)
      const leader = info.cluster?.leader
      assert.ok(leader === 'nats-1' || leader === 'nats-2' || leader === 'nats-3')
      await clustered.kill(leader)
      await untilStored(manager, 101, () =>
        stream.publish('three', 'last', { expect: { lastSequence: 100 }, timeout: 2000 }),
      )
      await clustered.restart(leader)
      // The node that was away may answer before it has caught up.
      await waitFor('all messages', async () => {
        const { state } = await manager.streams.info('THREE')
        return state.messages === 101 ? true : undefined
      })
    })
  })
})

test('redis: SET, GET, and a script', async () => {
  const redis = new Redis(single.redisUrl)
  try {
    await redis.set('key', 'value')
    assert.equal(await redis.get('key'), 'value')
    const script = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
    assert.equal(await redis.eval(script, 1, 'counter', '5'), 5)
    assert.equal(await redis.eval(script, 1, 'counter', '5'), 10)
  } finally {
    redis.disconnect()
  }
})

test('anvil: mines on command, and takes its arguments from the caller', async () => {
  assert.equal(await rpc(clustered, 'eth_chainId'), '0x7a69')
  assert.equal(await rpc(clustered, 'eth_blockNumber'), '0x0')
  await rpc(clustered, 'evm_mine')
  assert.equal(await rpc(clustered, 'eth_blockNumber'), '0x1')
})

test('a stack without a service says so instead of giving an empty address', async () => {
  const stack = await startStack({ services: ['redis'] })
  assert.throws(() => stack.clickhouseUrl, /clickhouse is not part of this stack/)
  await stack.stop()
})

test('a service that cannot start quotes its log', async () => {
  await assert.rejects(startStack({ services: ['anvil'], anvil: ['--no-such-option'] }), /no-such-option/)
})

test('after stop() no process and no folder is left', async () => {
  const stack = await startStack()
  const pids = Object.values(stack.pids)
  assert.equal(pids.length, 4)
  await stack.stop()
  for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  assert.equal(existsSync(stack.dataDir), false)
})

test('a port in use is distinguished from other failures, for every service', async () => {
  for (const service of serviceNames) {
    const ports = { [service]: single.ports[service] ?? [] }
    await assert.rejects(startStack({ services: [service], ports }), PortTakenError, service)
  }
})

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`when the process that started a stack ends by ${signal}, so does the stack`, async () => {
    const script = `
      const { startStack } = await import(${JSON.stringify(new URL('../../src/sandbox/servers/stack.ts', import.meta.url).href)})
      const { pids, dataDir } = await startStack()
      console.log(JSON.stringify({ pids, dataDir }))
      setInterval(() => {}, 1000)`
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [printed] = (await once(owner.stdout, 'data')) as [Buffer]
    const { pids, dataDir } = JSON.parse(printed.toString()) as Pick<Stack, 'pids' | 'dataDir'>
    const identities = Object.values(pids).map(identityOf)
    assert.equal(identities.length, 4)
    owner.kill(signal)
    await once(owner, 'exit')
    const isAnyLeft = () => identities.some((identity) => identity !== undefined && isRunning(identity))
    for (let waited = 0; isAnyLeft() && waited < 5000; waited += 50) await sleep(50)
    assert.equal(isAnyLeft(), false)
    // No one is left to remove it after SIGKILL.
    if (signal === 'SIGTERM') assert.equal(existsSync(dataDir), false)
    rmSync(dataDir, { recursive: true, force: true })
  })
}

async function withNats(stack: Stack, use: (connection: NatsConnection) => Promise<void>): Promise<void> {
  const connection = await connect({ servers: stack.natsUrls, reconnectTimeWait: 100 })
  try {
    await use(connection)
  } finally {
    await connection.close()
  }
}

function isWrongSequence(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence
}

/** Publishes again while there is no leader; an answer that got lost is found by reading the log. */
async function untilStored(
  manager: JetStreamManager,
  seq: number,
  publish: () => Promise<unknown>,
): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    try {
      await publish()
      return
    } catch (error) {
      if (isWrongSequence(error)) return void assert.ok(await manager.streams.getMessage('THREE', { seq }))
      if (Date.now() > deadline) throw error
    }
  }
}

async function rpc(stack: Stack, method: string): Promise<unknown> {
  const response = await fetch(stack.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
  })
  return ((await response.json()) as { result: unknown }).result
}
