import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { WebSocketServer } from 'ws'
import { FaultRig } from '../faults/fault-rig.ts'
import { TestedReader } from '../faults/tested-reader.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

const QUIET = 'New head subscription failed; polling continues'
/** Nothing that takes this long was found by polling within the test. */
const NEVER_MS = 600_000

let rig: FaultRig

before(async () => {
  rig = await FaultRig.start()
})

after(() => rig?.stop())

async function withReader(
  name: string,
  chain: Record<string, unknown>,
  run: (reader: TestedReader) => Promise<void>,
): Promise<void> {
  const reader = await TestedReader.start(rig, { name, nodes: 1, chain })
  try {
    await run(reader)
  } finally {
    await reader.stop()
  }
}

describe('start_date', () => {
  test('is where an empty log begins', async () => {
    const head = (await rig.scenario.market.head()).number
    const blocks = await rig.blocks(0, head)
    const wanted = blocks.at(-10)
    assert.ok(wanted !== undefined)
    // A second after the block before it: the first one at or after that is the one wanted.
    const before = Number(blocks.at(-11)?.timestamp)
    const start_date = `${new Date((before + 1) * 1_000).toISOString().slice(0, 19)}Z`
    await withReader('start_date', { start_date }, async (reader) => {
      await reader.reach(head)
      assert.equal(await reader.firstBlock(), Number(wanted.number))
      await reader.expectTrueLog()
    })
  })

  test('that has not come yet is waited for', () =>
    withReader('start_later', { start_date: '2099-01-01' }, async (reader) => {
      const msg = 'Waiting for the chain to reach its start date'
      await waitFor(msg, () => (reader.lines(msg).length > 0 ? true : undefined))
      await rig.trade(1)
      await new Promise((resolve) => setTimeout(resolve, 500))
      assert.equal(reader.lines(msg).length, 1)
      assert.equal(await reader.metric('chaintape_reader_envelopes_total'), 0)
      assert.equal((await reader.page('/readyz')).status, 503)
    }))
})

describe('new heads', () => {
  test('are looked for at once when a node announces one', async () => {
    const ws_urls = [rig.stack.rpcUrl.replace('http', 'ws')]
    await withReader('announced', { ws_urls, poll_ms: NEVER_MS }, async (reader) => {
      await reader.reach((await rig.scenario.market.head()).number)
      for (let block = 0; block < 3; block++) await reader.reach(await rig.trade(1))
      const labels = { endpoint: `0:${new URL(rig.stack.rpcUrl).host}` }
      assert.equal(await reader.metric('chaintape_reader_new_heads_up', labels), 1)
      assert.deepEqual(reader.lines(QUIET), [])
      await reader.expectTrueLog()
    })
  })

  test('are found by polling without a WebSocket endpoint, which is logged once', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    let accepted = 0
    server.on('connection', (socket) => {
      accepted += 1
      socket.on('message', () => {
        if (accepted < 3) socket.close()
        else {
          socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
          socket.send('{"not": "a head"')
        }
      })
    })
    const ws_urls = [`ws://user:secret-a@127.0.0.1:${port}/secret-bbb`, 'ws://127.0.0.1:9']
    try {
      await withReader('polled', { ws_urls }, async (reader) => {
        await reader.reach(await rig.trade(1))
        await waitFor('the node to announce again', () =>
          reader.lines('New head subscription recovered').length > 0 ? true : undefined,
        )
        await reader.reach(await rig.trade(1))
        const lines = reader.lines(QUIET)
        assert.deepEqual(lines.map((line) => line['endpoint']).sort(), [
          `0:127.0.0.1:${port}`,
          '1:127.0.0.1:9',
        ])
        assert.doesNotMatch(JSON.stringify(lines), /secret|user/)
        await reader.expectTrueLog()
      })
    } finally {
      for (const socket of server.clients) socket.terminate()
      server.close()
    }
  })
})
