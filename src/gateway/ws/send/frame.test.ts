import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import test from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { readFrames } from '../../../../test/support/rigs/fake-session.ts'
import { textFrame } from './frame.ts'

const texts = [0, 1, 125, 126, 127, 65_535, 65_536, 200_000].map((size) => 'x'.repeat(size))
texts.push('\u{1f680}é', 'é'.repeat(62), 'é'.repeat(63), '\u{1f680}'.repeat(16_384))

test('a client of another make reads every size of frame, and what follows on it', async () => {
  const http = createServer()
  const server = new WebSocketServer({ noServer: true })
  http.on('upgrade', (request, stream, head) => {
    server.handleUpgrade(request, stream as Socket, head, (socket) => {
      stream.write(Buffer.concat(texts.map((text) => textFrame(text))))
      socket.send('by the library')
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`)
  const received: string[] = []
  client.on('message', (data, isBinary) => received.push(isBinary ? 'binary' : String(data)))
  while (received.length <= texts.length) await once(client, 'message')
  assert.deepEqual(received, [...texts, 'by the library'])
  client.terminate()
  http.close()
})

test('parts of text and bytes make one message', () => {
  assert.deepEqual(readFrames(textFrame('{"a":', Buffer.from('"é"'), '}')), ['{"a":"é"}'])
})
