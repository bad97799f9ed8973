import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Hex, numberToHex } from 'viem'
import { anvilArguments, originArguments, SandboxChain } from '../../src/sandbox/chain/sandbox-chain.ts'
import { MarketScript } from '../../src/sandbox/market/script.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'

const MINUTE = 60
const CALLERS = 8
const CALLS = 20

describe('the node of the sandbox', () => {
  const stacks: Stack[] = []
  let chain: SandboxChain

  before(async () => {
    const time = Math.floor(Date.now() / 1_000) - 100 * MINUTE
    const origin = await startStack({ services: ['anvil'], anvil: originArguments(time) })
    stacks.push(origin)
    const stack = await startStack({ services: ['anvil'], anvil: anvilArguments(origin.rpcUrl) })
    stacks.push(stack)
    const script = new MarketScript({ seed: 1, week: 100 })
    chain = await SandboxChain.deploy(stack.rpcUrl, script, time + MINUTE)
    await chain.steps(60, MINUTE, () => undefined)
  })

  after(async () => {
    chain?.close()
    await Promise.all(stacks.map((stack) => stack.stop()))
  })

  async function ask(body: unknown): Promise<unknown> {
    const answer = await fetch(chain.gate.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return await answer.json()
  }

  const newAddress = () => `0x${randomBytes(20).toString('hex')}`

  test('has the blocks of the market, those without trades too, a minute apart', async () => {
    const asked = chain.blocks.map(({ number }, id) => {
      const params = [numberToHex(number), false]
      return { jsonrpc: '2.0', id, method: 'eth_getBlockByNumber', params }
    })
    type Block = { readonly timestamp: Hex; readonly transactions: readonly Hex[] }
    const replies = (await ask(asked)) as readonly { readonly result: Block }[]
    const [exchanges, ...mined] = replies.map(({ result }) => ({
      time: Number(result.timestamp),
      isEmpty: result.transactions.length === 0,
    }))
    assert.equal(exchanges?.isEmpty, false)
    const meant = chain.blocks.slice(1).map(({ time, actions }) => ({ time, isEmpty: actions.length === 0 }))
    assert.deepEqual(mined, meant)
    const from = chain.blocks[0]?.time ?? 0
    assert.deepEqual(
      meant.map(({ time }) => time - from),
      meant.map((_, at) => (at + 1) * MINUTE),
    )
    assert.ok(meant.some(({ isEmpty }, at) => isEmpty && meant[at + 1]?.isEmpty))
  })

  // Without turns, anvil stops answering within the first few of these calls.
  test('answers calls about unknown accounts in old blocks while it mines', {
    timeout: 240_000,
  }, async () => {
    const call = (id: number, method: string, first: unknown) => {
      const block = numberToHex(chain.head.number - (id % 10))
      return { jsonrpc: '2.0', id, method, params: [first, block] }
    }
    const callers = Array.from({ length: CALLERS }, async () => {
      for (let at = 0; at < CALLS; at++) {
        const [from, to] = [newAddress(), newAddress()]
        const replies = await ask([
          call(1, 'eth_call', { from, to }),
          call(2, 'eth_getBalance', newAddress()),
          call(3, 'eth_getCode', newAddress()),
        ])
        const wanted = [
          { jsonrpc: '2.0', id: 1, result: '0x' },
          { jsonrpc: '2.0', id: 2, result: '0x0' },
          { jsonrpc: '2.0', id: 3, result: '0x' },
        ]
        assert.deepEqual(replies, wanted)
      }
    })
    let isAsking = true
    const asked = Promise.all(callers).finally(() => {
      isAsking = false
    })
    const mining = (async () => {
      while (isAsking) await chain.step(chain.head.time + MINUTE)
    })()
    await Promise.all([asked, mining])
  })

  test('answers a single call, a batch about blocks, and what is no call', async () => {
    const head = { jsonrpc: '2.0', id: 'a', method: 'eth_blockNumber', params: [] }
    const wanted = { jsonrpc: '2.0', id: 'a', result: numberToHex(chain.head.number) }
    assert.deepEqual(await ask(head), wanted)
    assert.deepEqual(await ask([head, { ...head, id: 'b' }]), [wanted, { ...wanted, id: 'b' }])
    assert.ok('error' in ((await ask({ id: 1 })) as object))
  })
})
