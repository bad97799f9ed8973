import { once } from 'node:events'
import { WebSocket } from 'ws'
import { createClient, type Stream, type Trade } from '../clients/typescript/src/index.ts'
import { publicEventId } from '../src/domain/order-key.ts'
import type { Order } from './client/push-server.ts'
import type { Bench, Sides, Slice } from './measure.ts'
import { leaveServerCore, MeasuredProcess } from './rest/measured-process.ts'
import { makeTrades } from './sockets/pushed-trades.ts'

const STREAMS = 10
const PUSHES = 2_000
const OVERDUE_MS = 30_000

/** One socket with ten subscriptions each: read through the client, and by a loop over `ws` with `JSON.parse`. */
export const bench: Bench = {
  figures: [
    {
      name: `swaps of ${STREAMS} streams delivered by the client / bare ws loop with JSON.parse`,
      bar: 0.6,
      goal: 0.85,
      direction: 'at least',
      per: 'cpu second',
      open: openSides,
    },
  ],
}

const ids = makeTrades().map(({ key }) => publicEventId(key))

/** Counts what arrives, and compares it with what must: each subscription has every swap, in order. */
class Receiver {
  wrong: string | undefined
  readonly #next = new Map<number, number>()
  #missing = 0
  #onAll: () => void = () => undefined

  expect(pushes: number): Promise<void> {
    this.#missing += pushes
    return new Promise((resolve, reject) => {
      const overdue = setTimeout(() => reject(new Error(`${this.#missing} swaps did not come`)), OVERDUE_MS)
      this.#onAll = () => {
        clearTimeout(overdue)
        resolve()
      }
    })
  }

  take(stream: number, id: string): void {
    const next = this.#next.get(stream) ?? 0
    this.#next.set(stream, next + 1)
    if (id !== ids[next % ids.length]) this.wrong ??= `swap ${next} of stream ${stream} is ${id}`
    if (--this.#missing === 0) this.#onAll()
  }
}

async function openSides(): Promise<Sides> {
  leaveServerCore()
  const server = new MeasuredProcess(new URL('client/push-server.ts', import.meta.url))
  const port = (await server.hear()) as number
  const subject = new Receiver()
  const client = createClient({
    ...{ url: `http://127.0.0.1:${port}`, key: 'key', WebSocket },
    limits: { messagesPerSecond: 1_000 },
  })
  const first = subject.expect(STREAMS)
  for (let stream = 0; stream < STREAMS; stream++)
    void read(client.trades(`pair${stream}-eth`), stream, subject)
  await settled(server, 0, first)
  const baseline = new Receiver()
  const socket = await openBare(port, baseline)
  const bareFirst = baseline.expect(STREAMS)
  await settled(server, 1, bareFirst)
  return {
    subject: sliceOf(server, 0, subject),
    baseline: sliceOf(server, 1, baseline),
    close: async () => {
      client.closeStreams()
      socket.terminate()
      await server.stop()
    },
  }
}

async function read(stream: Stream<Trade>, number: number, receiver: Receiver): Promise<void> {
  try {
    for await (const { id } of stream) receiver.take(number, id)
  } catch (error) {
    receiver.wrong ??= String(error)
  }
}

async function openBare(port: number, receiver: Receiver): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`)
  await once(socket, 'open')
  type Message = {
    readonly id: number
    readonly seq?: number
    readonly result: { readonly tx: { id: string } }
  }
  socket.on('message', (data) => {
    const { id, seq, result } = JSON.parse(data.toString()) as Message
    if (seq !== undefined) receiver.take(id, result.tx.id)
  })
  for (let id = 1; id <= STREAMS; id++) {
    const params = ['tx', `pair${id}`, 'eth', { cursor: true }]
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'subscribe', params }))
  }
  return socket
}

/** All subscriptions are known to the server once each of them has its first push. */
async function settled(server: MeasuredProcess, connection: number, first: Promise<void>): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 500))
  await server.ask({ connection, pushes: STREAMS } satisfies Order)
  await first
}

function sliceOf(server: MeasuredProcess, connection: number, receiver: Receiver): Slice {
  return async (durationMs) => {
    const end = performance.now() + durationMs
    let units = 0
    do {
      const all = receiver.expect(PUSHES)
      await server.ask({ connection, pushes: PUSHES } satisfies Order)
      await all
      units += PUSHES
    } while (performance.now() < end && receiver.wrong === undefined)
    return { units, ...(receiver.wrong !== undefined && { wrong: receiver.wrong }) }
  }
}
