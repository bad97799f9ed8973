import { afterEach, beforeEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import {
  createRest,
  createStreams,
  type Stream,
  type Streams,
  type StreamsOptions,
  type Trade,
} from '../src/index.ts'
import { ScriptedGateway } from './scripted-gateway.ts'

export const PAIR = 'pair-eth'

/** A new one for each test. */
export let gateway: ScriptedGateway
const opened: Streams[] = []

beforeEach(async () => {
  gateway = await ScriptedGateway.start()
})

afterEach(async () => {
  for (const streams of opened.splice(0)) streams.closeStreams()
  await gateway.stop()
})

export function open(options: Partial<StreamsOptions> = {}): Streams {
  const all = { url: gateway.url, key: 'key', WebSocket, limits: { messagesPerSecond: 1_000 }, ...options }
  const streams = createStreams(all, createRest(all))
  opened.push(streams)
  return streams
}

export async function until(what: string, check: () => boolean): Promise<void> {
  const end = Date.now() + 30_000
  while (!check()) {
    if (Date.now() > end) throw new Error(`waited too long until ${what}`)
    await sleep(5)
  }
}

export async function take(stream: Stream<Trade>, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const { value } = await stream.next()
    ids.push(value?.id ?? 'end')
  }
  return ids
}

/** Begins to read a stream, and waits until the gateway has its subscription. */
export async function begin(stream: Stream<Trade>): Promise<{ readonly first: Promise<string> }> {
  const before = gateway.subscribes.length
  const first = stream.next().then(({ value }) => value?.id ?? 'end')
  await until('the stream is subscribed', () => gateway.subscribes.length > before)
  return { first }
}
