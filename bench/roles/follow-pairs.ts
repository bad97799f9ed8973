import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Envelope } from '../../src/domain/envelope.ts'
import { API_KEY } from '../../test/support/builders/test-key.ts'

const SUBSCRIPTIONS_AT_ONCE = 10
const START_MS = 20_000
const OVERDUE_MS = 60_000

export type PairFollower = {
  /** Waits for as many pushes as these blocks have swaps of followed pairs; says what is wrong with them. */
  expect(envelopes: readonly Envelope[]): Promise<string | undefined>
  close(): void
}

/** A gateway client that subscribes to the swaps of these pairs and counts its pushes. */
export async function followPairs(port: number, pairs: readonly string[]): Promise<PairFollower> {
  const client = await connect(port)
  for (let at = 0; at < pairs.length; at += SUBSCRIPTIONS_AT_ONCE) {
    const batch = pairs.slice(at, at + SUBSCRIPTIONS_AT_ONCE).map((pair, index) => ({
      ...{ jsonrpc: '2.0', id: at + index, method: 'subscribe', params: ['tx', pair, 'eth'] },
    }))
    client.send(JSON.stringify(batch))
    const [answer] = (await once(client, 'message')) as [Buffer]
    if (answer.includes('"error"')) throw new Error(`the gateway answered ${answer.toString()}`)
    // A client may send so many messages in a second, and no more.
    await sleep(600)
  }
  const followed = new Set(pairs)
  let received = 0
  let expected = 0
  let other: string | undefined
  client.on('message', (data: Buffer) => {
    if (!data.includes('"tx"')) other ??= `a push is ${data.toString().slice(0, 200)}`
    received++
  })
  return {
    expect: async (envelopes) => {
      for (const envelope of envelopes) {
        if (envelope.kind !== 'block') continue
        for (const { logs } of envelope.transactions) if (followed.has(logs.at(-1)?.address ?? '')) expected++
      }
      const deadline = performance.now() + OVERDUE_MS
      while (received < expected && performance.now() < deadline) await sleep(5)
      return received === expected ? other : `${received} of ${expected} pushes came`
    },
    close: () => client.terminate(),
  }
}

async function connect(port: number): Promise<WebSocket> {
  const deadline = performance.now() + START_MS
  for (;;) {
    const client = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers: { 'x-api-key': API_KEY } })
    try {
      await once(client, 'open')
      return client
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(100)
    }
  }
}
