import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { WebSocket } from 'ws'
import type { LogPosition } from '../../src/domain/log-position.ts'
import { connectLogs } from '../../src/log/connect.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { openHotStore } from '../../src/store/redis/hot-store.ts'
import { encodeChangeSet } from '../../src/wire/change-codec.ts'
import { API_KEY } from '../../test/support/builders/test-key.ts'
import { latestOf } from '../../test/support/reference/rows-of-sets.ts'
import { collectGarbage, collectSeldom } from '../collect-garbage.ts'
import { quantile, type Slice } from '../measure.ts'
import { type BenchGateway, PREFIX } from '../rest/gateway.ts'
import { makeSet } from '../stores/made-changes.ts'
import { historyOptions, silentCommon } from '../stores/opened.ts'

/** Swaps of one block: one message of the log. */
export const SWAPS_PER_BLOCK = 50
/** What `makeSet` counts its blocks from. */
const FIRST_BLOCK = 20_000_000
const OVERDUE_MS = 10_000
const WRITTEN_EVERY_MS = 500

export type Hop = {
  send(seq: number, body: Uint8Array): void
  /** What is wrong with what arrived. */
  readonly wrong: () => string | undefined
  close(): Promise<void>
}

export type Arrived = (seq: number) => void

/** Publishes to the log as the engine does; a client that subscribed to every pair of the block receives the pushes. */
export async function openGatewayHop({ stack, port }: BenchGateway, onArrived: Arrived): Promise<Hop> {
  const nats = { urls: stack.natsUrls, prefix: PREFIX, replicas: 1, max_frame_bytes: 900_000 }
  const logs = await connectLogs(nats, silentCommon())
  const publisher = await (await logs.open('CHANGES', 'eth')).openPublisher()
  const client = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers: { 'x-api-key': API_KEY } })
  await once(client, 'open')
  const pairs = makeSet(1, SWAPS_PER_BLOCK).changes.flatMap((change) =>
    change.type === 'trade' ? [change.trade.pair] : [],
  )
  let wrong: string | undefined
  for (let at = 0; at < pairs.length; at += 10) {
    const batch = pairs.slice(at, at + 10).map((pair, index) => ({
      jsonrpc: '2.0',
      id: at + index,
      method: 'subscribe',
      params: ['tx', pair, 'eth'],
    }))
    client.send(JSON.stringify(batch))
    const [answer] = (await once(client, 'message')) as [Buffer]
    if (answer.includes('"error"')) throw new Error(`the gateway answered ${answer.toString()}`)
    // Stays below the limit of messages per second.
    await sleep(600)
  }
  const writer = await openWriter(stack)
  let next = 0
  client.on('message', (data: Buffer) => {
    const nth = next++ % SWAPS_PER_BLOCK
    // Parsing each would take longer than what is measured: its pair and block are looked for.
    if (!data.includes(pairs[nth] ?? '?')) wrong ??= `push ${nth} of a block is ${data.toString()}`
    if (nth < SWAPS_PER_BLOCK - 1) return
    const block = /"block_number":(\d+)/.exec(data.toString())?.[1]
    onArrived(Number(block) - FIRST_BLOCK)
  })
  return {
    send: (seq, body) => {
      publisher.publish(body).then(
        (position) => writer.follow(seq, position),
        (error: unknown) => {
          wrong ??= String(error)
        },
      )
    },
    wrong: () => wrong ?? writer.wrong(),
    close: async () => {
      client.terminate()
      await writer.close()
      await logs.close()
    },
  }
}

/**
 * Says in Redis and ClickHouse, like a writer that is half a second behind, that what was published is written. What is not
 * written yet the gateway keeps in memory: without a writer that would be everything, and clearing it up would be measured.
 */
async function openWriter(stack: BenchGateway['stack']) {
  const common = silentCommon()
  const options = historyOptions(stack.clickhouseUrl, PREFIX)
  await migrate({ ...options, retention_days: {} }, common)
  const history = openHistoryStore(options, common)
  const hot = await openHotStore({ url: stack.redisUrl, prefix: PREFIX }, common)
  let newest: { readonly seq: number; readonly position: LogPosition } | undefined
  let wrong: string | undefined
  const timer = setInterval(() => {
    if (newest === undefined) return
    const { chain, head, finalNumber } = makeSet(newest.seq, 0)
    const written = { chain, ...newest, ...head, finalNumber }
    Promise.all([hot.apply(latestOf([]), written), history.commit(written)]).catch((error: unknown) => {
      wrong ??= String(error)
    })
  }, WRITTEN_EVERY_MS)
  return {
    follow: (seq: number, position: LogPosition): void => {
      newest = { seq, position }
    },
    wrong: () => wrong,
    close: async () => {
      clearInterval(timer)
      await Promise.all([hot.close(), history.close()])
    },
  }
}

/** The same bytes through JetStream alone, to a consumer that only looks when they come. */
export async function openBareHop({ stack }: BenchGateway, onArrived: Arrived): Promise<Hop> {
  const connection = await connect({ servers: [...stack.natsUrls] })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: 'bare', subjects: ['bare'], storage: StorageType.File })
  const client = jetstream(connection)
  const consumer = await client.consumers.get('bare')
  const messages = await consumer.consume({ max_bytes: 16_000_000 })
  const sent: { readonly seq: number; readonly body: Uint8Array }[] = []
  let wrong: string | undefined
  const reading = (async () => {
    for await (const { data } of messages) {
      const expected = sent.shift()
      if (expected === undefined) wrong ??= 'more came than was sent'
      else {
        onArrived(expected.seq)
        if (Buffer.compare(data, expected.body) !== 0) wrong ??= `block ${expected.seq} came as other bytes`
      }
    }
  })()
  return {
    send: (seq, body) => {
      sent.push({ seq, body })
      client.publish('bare', body).catch((error: unknown) => {
        wrong ??= String(error)
      })
    },
    wrong: () => wrong,
    close: async () => {
      messages.stop()
      await reading
      await connection.close()
    },
  }
}

export type Pace = {
  readonly blocksPerSecond: number
  /** Which quantile is given. */
  readonly share: number
  /** Share over all blocks so far, without this many slices at the start, instead of the slice alone. */
  readonly ofAllSince?: number
}

/** Sends blocks at a steady pace; a slice gives the quantile of the milliseconds that they took to arrive. */
export async function openPace(
  open: (onArrived: Arrived) => Promise<Hop>,
  { blocksPerSecond, share, ofAllSince = Number.POSITIVE_INFINITY }: Pace,
): Promise<{ slice: Slice; latestMs(): number; close(): Promise<void> }> {
  collectSeldom()
  const sentAt = new Map<number, number>()
  let latenciesMs: number[] = []
  let slices = 0
  const hop = await open((seq) => {
    latenciesMs.push(performance.now() - (sentAt.get(seq) ?? Number.NaN))
    sentAt.delete(seq)
  })
  let lastSeq = 1
  return {
    slice: async (durationMs) => {
      const count = Math.max(3, Math.round((durationMs / 1_000) * blocksPerSecond))
      // Encoded before their time comes: that is the engine's part.
      const blocks = Array.from({ length: count }, () => {
        const seq = ++lastSeq
        return { seq, body: encodeChangeSet(makeSet(seq, SWAPS_PER_BLOCK)) }
      })
      if (slices++ <= ofAllSince) latenciesMs = []
      collectGarbage()
      const start = performance.now()
      for (const [index, { seq, body }] of blocks.entries()) {
        await sleepUntil(start + (index * 1_000) / blocksPerSecond)
        sentAt.set(seq, performance.now())
        hop.send(seq, body)
      }
      const deadline = performance.now() + OVERDUE_MS
      while (sentAt.size > 0 && performance.now() < deadline) await sleep(5)
      await sleepUntil(start + durationMs)
      const wrong = sentAt.size > 0 ? `${sentAt.size} blocks did not arrive` : hop.wrong()
      const units = quantile(latenciesMs, share)
      return wrong === undefined ? { units } : { units, wrong }
    },
    latestMs: () => quantile(latenciesMs, share),
    close: () => hop.close(),
  }
}

async function sleepUntil(time: number): Promise<void> {
  await sleep(Math.max(0, time - performance.now()))
}
