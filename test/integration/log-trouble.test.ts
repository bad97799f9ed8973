import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { ChainLog } from '../../src/log/chain-log.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { type ProcessName, type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { MAX_FRAME_BYTES, text } from '../support/rigs/log-reading.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

let stack: Stack
let logs: Logs

before(async () => {
  stack = await startStack({ services: ['nats'] })
  const options = { urls: stack.natsUrls, prefix: 'log', replicas: 1, max_frame_bytes: MAX_FRAME_BYTES }
  logs = await connectLogs(options, createTestCommon())
})

after(async () => {
  await logs?.close()
  await stack?.stop()
})

/** Publishes numbered messages, some of them large, while `trouble` happens, and reads along from the start. */
async function publishAndReadUnder(log: ChainLog, trouble: () => Promise<void>): Promise<void> {
  const publisher = await log.openPublisher()
  let isOver = false
  const publish = async (): Promise<number> => {
    let count = 0
    for (; !isOver || count < 60; count++) {
      const size = count % 10 === 9 ? 250_000 : 20
      await publisher.publish(text(`${count}:`.padEnd(size, 'x')))
      await sleep(10)
    }
    await publisher.publish(text('end:'))
    return count
  }
  const read = async (): Promise<string[]> => {
    const seen: string[] = []
    for await (const { body, position } of log.read({
      after: undefined,
      signal: new AbortController().signal,
    })) {
      const name = Buffer.from(body).toString().split(':')[0] ?? ''
      if (name === 'end') {
        assert.deepEqual(position.sequence, await log.lastSequence())
        break
      }
      seen.push(name)
    }
    return seen
  }
  const over = trouble().finally(() => {
    isOver = true
  })
  const [count, seen] = await Promise.all([publish(), read(), over])
  assert.deepEqual(
    seen,
    Array.from({ length: count }, (_, at) => String(at)),
  )
}

describe('trouble while publishing and reading: no gap, no duplicate', () => {
  test('an orderly restart of the server', async () => {
    const log = await logs.open('BLOCKS', 'restarted')
    await publishAndReadUnder(log, async () => {
      await sleep(300)
      await stack.restart('nats')
      await sleep(300)
    })
  })

  test('SIGKILL of the server, twice', async () => {
    const log = await logs.open('BLOCKS', 'killed')
    await publishAndReadUnder(log, async () => {
      for (let round = 0; round < 2; round++) {
        await sleep(300)
        await stack.kill('nats', 'SIGKILL')
        await sleep(200)
        await stack.restart('nats')
      }
      await sleep(300)
    })
  })

  test("SIGKILL of the stream's leader in a cluster of three", async () => {
    const cluster = await startStack({ services: ['nats'], natsNodes: 3 })
    const urls = cluster.natsUrls
    const common = createTestCommon()
    const clusterLogs = await connectLogs(
      { urls, prefix: 'r3', replicas: 3, max_frame_bytes: MAX_FRAME_BYTES },
      common,
    )
    const watcher = await connect({ servers: urls, maxReconnectAttempts: -1, reconnectTimeWait: 100 })
    try {
      const log = await clusterLogs.open('BLOCKS', 'chain')
      const clusterManager = await jetstreamManager(watcher)
      const leader = async (): Promise<ProcessName> => {
        const info = await clusterManager.streams.info('r3_BLOCKS_chain').catch(() => undefined)
        return (info?.cluster?.leader as ProcessName | undefined) ?? leader()
      }
      await publishAndReadUnder(log, async () => {
        await sleep(500)
        const name = await leader()
        await cluster.kill(name, 'SIGKILL')
        await sleep(2_000)
        await cluster.restart(name)
      })
    } finally {
      await Promise.all([clusterLogs.close(), watcher.close()])
      await cluster.stop()
    }
  })
})
