import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Hex } from 'viem'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { storedRows } from '../support/reference/store-dump.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { CoverageChain, type OldToken } from './coverage-chain.ts'

const ROLES = ['reader', 'engine', 'writer', 'gateway'] as const
/** Roundings of fixed-point prices, and of positions in V4. */
const TOLERANCE = 1e-6

type Detail = {
  readonly data: { readonly token: Readonly<Record<'current_price_usd' | 'tvl' | 'market_cap', string>> }
}

describe('tokens that are older than the log', () => {
  let stack: Stack
  let chain: CoverageChain
  let pipeline: Pipeline
  let stopMining: () => Promise<void>

  before(async () => {
    stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
    chain = await CoverageChain.deploy(stack.rpcUrl)
    const { number } = await chain.market.head()
    pipeline = new Pipeline(
      stack,
      'coverage',
      { ...chain.settings(), start_block: number + 1 },
      { gateway: { port: 0, look_ups_per_minute: 10_000 } },
    )
    stopMining = chain.keepMining()
    await pipeline.start(...ROLES)
    await pipeline.role('reader').logged('Creation events scanned')
  })

  after(async () => {
    await stopMining?.()
    await pipeline?.stop()
    await stack?.stop()
  })

  /** The answer, as soon as the token is known and priced. */
  async function ask({ address, family }: OldToken): Promise<Detail> {
    return waitFor(`${family} token ${address}`, async () => {
      const { status, body, headers } = await pipeline.get(`/v2/tokens/${address}-local`)
      if (status === 200) return body as Detail
      // Unknown until its block: it is worth asking again, and the answer says when.
      assert.equal(status, 400)
      assert.equal(headers.get('retry-after'), '2')
      assert.equal(headers.get('x-cu-cost'), '0')
      return undefined
    })
  }

  async function expectModel(tokens: readonly OldToken[]): Promise<void> {
    for (const token of tokens) {
      const expected = await chain.expected(token)
      const isSame = (detail: Detail): boolean => {
        const { current_price_usd, tvl, market_cap } = detail.data.token
        return expected.some(
          ({ priceUsd, tvlUsd, marketCapUsd }) =>
            isClose(current_price_usd, priceUsd) && isClose(tvl, tvlUsd) && isClose(market_cap, marketCapUsd),
        )
      }
      let last: Detail | undefined
      await waitFor(`the figures of the ${token.family} token ${token.address}`, async () => {
        last = await ask(token)
        return isSame(last) ? true : undefined
      }).catch((error: unknown) => {
        throw new Error(
          `${String(error)}: ${JSON.stringify(last?.data.token)}, not ${JSON.stringify(expected)}`,
        )
      })
    }
  }

  test('a token of each exchange that has not traded is served when it is asked for, as its pool stands', async (t) => {
    const timed = chain.firstOfEach().map(async (token) => {
      const startedAt = performance.now()
      await ask(token)
      const seconds = (performance.now() - startedAt) / 1_000
      t.diagnostic(`${token.family}: known after ${seconds.toFixed(2)} s`)
      assert.ok(seconds < 30, `${seconds} s`)
    })
    await Promise.all(timed)
    await expectModel(chain.firstOfEach())
  })

  test('a batch never waits, and has the token looked up all the same', async () => {
    const token = chain.tokens[chain.firstOfEach().length]
    assert.ok(token)
    const id = `${token.address}-local`
    const first = await pipeline.post('/v2/tokens/price', { token_ids: [id], tvl_min: 0 })
    assert.deepEqual(first.body, {})
    await waitFor('the token of the batch', async () => {
      const { body } = await pipeline.post('/v2/tokens/price', { token_ids: [id], tvl_min: 0 })
      return Object.keys(body as object).length === 1 ? true : undefined
    })
  })

  test('an address without code, and a contract that is no token, stay unknown', async () => {
    const nobody = `0x${'ab'.repeat(20)}`
    const { status, headers } = await pipeline.get(`/v2/tokens/${nobody}-local`)
    assert.equal(status, 400)
    assert.equal(headers.get('retry-after'), null)
    const factory = chain.market.factory.toLowerCase()
    await waitFor('the look-up of a contract that is no token', async () => {
      const answer = await pipeline.get(`/v2/tokens/${factory}-local`)
      assert.equal(answer.status, 400)
      return answer.headers.get('retry-after') === null ? true : undefined
    })
  })

  test('forks and restarts lose nothing, and all others are served as well', async (t) => {
    const known = chain.tokens.slice(0, chain.firstOfEach().length + 3)
    const half = Math.ceil(chain.tokens.length / 2)
    const [last] = known.slice(-1)
    assert.ok(last)
    await expectModel(known.slice(0, -1))
    await ask(last)
    await stopMining()
    await chain.trade(chain.tokens.slice(0, half))
    // Deep enough for the block that brought the last token.
    await chain.market.reorganise(8)
    stopMining = chain.keepMining()
    await expectModel(known)
    await pipeline.killAndRestart('reader')
    await chain.trade(chain.asked())
    const startedAt = performance.now()
    await Promise.all(chain.asked().map(ask))
    t.diagnostic(
      `all ${chain.asked().length} known after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`,
    )
    await expectModel(chain.asked())
  })

  test('a pool that nobody asked for is in the index alone', async () => {
    const { pairs, tokens } = (await storedRows(stack, 'coverage')) as Record<string, { address: Hex }[]>
    const { address, pool } = chain.unasked()
    assert.ok(pairs?.some((pair) => pair.address === chain.asked()[0]?.pool))
    assert.equal(
      pairs?.some((pair) => pair.address === pool),
      false,
    )
    assert.equal(
      tokens?.some((token) => token.address === address),
      false,
    )
  })
})

function isClose(text: string, expected: number): boolean {
  return Math.abs(Number(text) - expected) <= TOLERANCE * expected
}
