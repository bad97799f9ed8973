import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { framesById, makeTrades, messageOf, requestIdOf, sendTicks, type Tick } from './pushed-trades.ts'
import { settledMemory } from './settled-memory.ts'

/** `frames`: made beforehand, and written past the library. `send`: what the library's own manual shows. */
export type BareMode = 'frames' | 'send'

/** WebSocket clients and nothing else: no index, no account of what they have taken, no subscriptions. */
const mode = process.argv[2] as BareMode
type Client = { readonly socket: WebSocket; readonly stream: Duplex; readonly id: number }
const clients: Client[] = []
const frames = framesById()
const trades = makeTrades()

const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false })
const http = createServer()
http.on('upgrade', (request, stream, head) => {
  server.handleUpgrade(request, stream, head, (socket) => {
    clients.push({ socket, stream, id: requestIdOf(Number(request.headers['x-client'])) })
    socket.on('message', () => socket.send('{}'))
    socket.on('error', (error) => process.stderr.write(`${String(error)}\n`))
  })
})

function writeFrames(index: number): void {
  for (const { stream, id } of clients) stream.write(frames.get(id)?.[index] as Buffer)
}

function sendMessages(index: number): void {
  const trade = trades[index] as (typeof trades)[number]
  for (const { socket, id } of clients) socket.send(JSON.stringify(messageOf(id, trade)))
}

let sent = 0
async function send(tick: Tick): Promise<void> {
  const one = mode === 'frames' ? writeFrames : sendMessages
  await sendTicks(tick, sent, (indexes) => {
    for (const index of indexes) one(index)
  })
  sent += tick.ticks * tick.eventsPerTick
}

process.on('message', (message) => {
  if (message === 'memory') process.send?.({ bytes: settledMemory(), subscriptions: 0 })
  else if (message !== 'cpu') void send(message as Tick).then(() => process.send?.('sent'))
})
// Nobody is left to ask.
process.on('disconnect', () => process.exit())
http.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, () => {
  process.send?.((http.address() as AddressInfo).port)
})
