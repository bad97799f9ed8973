import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { swapPush } from '../../src/gateway/shape/swap-transaction.ts'
import { formatCursor } from '../../src/gateway/ws/cursor.ts'
import { textFrame } from '../../src/gateway/ws/send/frame.ts'
import { makeTrades, NOW } from '../sockets/pushed-trades.ts'

/** Sends numbered swaps to the subscriptions of one connection in turn, as a gateway would, and as fast as it is read. */

export type Order = { readonly connection: number; readonly pushes: number }

type Subscribed = { readonly head: string; seq: number }
type Connection = { readonly stream: Duplex; readonly subscribed: Subscribed[] }

const FRAMES_AT_ONCE = 50
const results = makeTrades().map((trade) => JSON.stringify(swapPush('eth', trade)))
const place = {
  after: { epoch: 'e'.repeat(36), sequence: 123_456, link: 7 },
  seq: 123_456,
  time: 1_700_000_000,
}
const cursor = formatCursor(new Map([['eth', { ...place, published: 5 }]]))
const tail = `,"sent_time":${NOW},"cursor":"${cursor}","seq":`
const connections: Connection[] = []

const server = new WebSocketServer({ noServer: true, perMessageDeflate: false })
const http = createServer()
http.on('upgrade', (request, stream, head) => {
  server.handleUpgrade(request, stream, head, (socket) => {
    const connection: Connection = { stream, subscribed: [] }
    connections.push(connection)
    socket.on('message', (data) => {
      const { id, method, params } = JSON.parse(String(data)) as {
        id: number
        method: string
        params: unknown[]
      }
      socket.send(
        JSON.stringify({ jsonrpc: '2.0', id, result: { status: 'ok', action: method, params, cursor } }),
      )
      if (method === 'subscribe')
        connection.subscribed.push({ head: `{"id":${id},"jsonrpc":"2.0","result":`, seq: 0 })
    })
    socket.on('error', (error) => process.stderr.write(`${String(error)}\n`))
  })
})

async function push({ connection, pushes }: Order): Promise<void> {
  const { stream, subscribed } = connections[connection] as Connection
  for (let sent = 0; sent < pushes; ) {
    const frames: Buffer[] = []
    for (; frames.length < FRAMES_AT_ONCE && sent < pushes; sent++) {
      const subscription = subscribed[sent % subscribed.length] as Subscribed
      const result = results[subscription.seq % results.length]
      frames.push(textFrame(`${subscription.head}${result}${tail}${++subscription.seq}}`))
    }
    if (!stream.write(Buffer.concat(frames))) await new Promise((resolve) => stream.once('drain', resolve))
  }
}

process.on('message', (message) => {
  if (message !== 'cpu') void push(message as Order).then(() => process.send?.('sent'))
})
// No one is left to send to.
process.on('disconnect', () => process.exit())
http.listen({ host: '127.0.0.1', port: 0 }, () => process.send?.((http.address() as AddressInfo).port))
