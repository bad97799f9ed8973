import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { post, readText } from './http-post.ts'

const headers = { 'content-type': 'application/json' }
const signal = new AbortController().signal

let server: Server
let url: URL
let answer: (request: IncomingMessage, response: ServerResponse) => void

before(async () => {
  server = createServer((request, response) => answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/path?key=value`)
})

after(() => {
  server.close()
  server.closeAllConnections()
})

const ask = async (maxBytes = 1_000_000): Promise<string> =>
  readText(await post(url, headers, 'question é', signal), maxBytes)

describe('an answer', () => {
  test('is of what was asked, at the whole address', async () => {
    answer = async (request, response) => {
      assert.equal(request.method, 'POST')
      assert.equal(request.url, '/path?key=value')
      assert.equal(request.headers['content-type'], 'application/json')
      response.end(`answer to ${await text(request)}`)
    }
    assert.equal(await ask(), 'answer to question é')
  })

  test('may be packed', async () => {
    answer = (request, response) => {
      assert.equal(request.headers['accept-encoding'], 'gzip')
      response.setHeader('content-encoding', 'gzip').end(gzipSync('a'.repeat(500_000)))
    }
    assert.equal(await ask(), 'a'.repeat(500_000))
  })

  test('is cut off at the limit, also when it is packed', async () => {
    answer = (_, response) => void response.end('a'.repeat(501))
    await assert.rejects(ask(500), /longer than 500 bytes/)
    answer = (_, response) => {
      response.setHeader('content-encoding', 'gzip').end(gzipSync('a'.repeat(500_000)))
    }
    await assert.rejects(ask(100_000), /longer than 100000 bytes/)
  })

  test('that breaks off is none, packed or not', async () => {
    const packed = gzipSync('a'.repeat(100_000))
    for (const [encoding, body] of [
      ['identity', Buffer.from('half of it')],
      ['gzip', packed.subarray(0, packed.length / 2)],
    ] as const) {
      answer = (_, response) => {
        response.setHeader('content-encoding', encoding).setHeader('content-length', 1_000)
        response.write(body, () => response.destroy())
      }
      await assert.rejects(ask(), encoding)
    }
  })

  test('that leads elsewhere is not followed', async () => {
    let asked = 0
    answer = (_, response) => {
      asked += 1
      response.writeHead(307, { location: url.href }).end()
    }
    const response = await post(url, headers, 'question', signal)
    assert.equal(response.statusCode, 307)
    response.destroy()
    assert.equal(asked, 1)
  })
})

describe('a connection', () => {
  test('that was closed while it was idle is made anew', async () => {
    const ports = new Set<number | undefined>()
    answer = (request, response) => {
      // As when the node gives up an idle connection at the very moment at which it is used again.
      if (ports.has(request.socket.remotePort)) request.socket.destroy()
      ports.add(request.socket.remotePort)
      response.end('answer')
    }
    assert.equal(await ask(), 'answer')
    assert.equal(await ask(), 'answer')
    assert.equal(ports.size, 2)
  })

  test('that fails when it is new is a failure', async () => {
    server.closeIdleConnections()
    let asked = 0
    answer = (request) => {
      asked += 1
      request.socket.destroy()
    }
    await assert.rejects(ask(), { code: 'ECONNRESET' })
    assert.ok(asked >= 1)
  })

  test('is aborted when no caller waits for it any more', async () => {
    const controller = new AbortController()
    answer = () => controller.abort()
    await assert.rejects(post(url, headers, 'question', controller.signal), { name: 'AbortError' })
  })
})
