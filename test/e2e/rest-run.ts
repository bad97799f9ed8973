import assert from 'node:assert/strict'
import { createClient } from '@clickhouse/client'
import { Redis } from 'ioredis'
import { keccak256, zeroAddress } from 'viem'
import { uniswapV3Pool } from '../../dev/market/uniswap-v3.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { ExpectedHoldings } from './expected-holdings.ts'
import { ExpectedMarket } from './expected-market.ts'
import { knowTokens } from './know-tokens.ts'
import { LOCKER, RestMarket } from './rest-market.ts'

const NAME = 'rest'
const ROLES = ['reader', 'engine', 'writer', 'gateway'] as const

/** A Sunday: what is traded then is older than a day in the end, and the weeks turn as well. */
const SUNDAY_AFTERNOON = Date.UTC(2025, 5, 15, 16, 0, 7) / 1000
const MONDAY_MORNING = Date.UTC(2025, 5, 16, 6, 10, 3) / 1000
const MONDAY_NIGHT = Date.UTC(2025, 5, 16, 20, 31, 41) / 1000
const BEFORE_MIDNIGHT = Date.UTC(2025, 5, 16, 23, 58, 11) / 1000
/** Seconds from block to block, over and over: minutes with many blocks, and windows that run empty. */
const GAPS = [12, 12, 12, 41, 12, 130, 12, 12, 700, 12, 12, 59, 2_400, 12, 300]
const SWAPS_PER_BLOCK = 28

/** The scripted market, the pipeline that reads it, and what it must have come to. */
export class RestRun {
  readonly stack: Stack
  readonly market: RestMarket
  readonly pipeline: Pipeline
  #expected: ExpectedMarket | undefined
  #holdings: ExpectedHoldings | undefined

  private constructor(stack: Stack, market: RestMarket) {
    this.stack = stack
    this.market = market
    // Few candles in Redis: most are to come from ClickHouse.
    const redis = { url: stack.redisUrl, prefix: NAME, recent_candles: 20 }
    this.pipeline = new Pipeline(stack, NAME, chainOf(market), { redis })
  }

  static async deploy(): Promise<RestRun> {
    const stack = await startStack({
      anvil: ['--no-mining', '--timestamp', '1750000000', '--gas-limit', '1000000000'],
    })
    try {
      return new RestRun(stack, await RestMarket.deploy(stack.rpcUrl))
    } catch (error) {
      await stack.stop()
      throw error
    }
  }

  get expected(): ExpectedMarket {
    assert.ok(this.#expected !== undefined)
    return this.#expected
  }

  get holdings(): ExpectedHoldings {
    assert.ok(this.#holdings !== undefined)
    return this.#holdings
  }

  /** From here on the stores lack the last part: the writer has been stopped in the middle. */
  async play(): Promise<void> {
    const { market, pipeline } = this
    await pipeline.start(...ROLES)
    await this.#trade(24, SUNDAY_AFTERNOON)
    await this.#lose(3, async (time) => {
      // Deeper than the other one by far: CERA switches, and takes it back.
      await market.ceraDeep.add(400n)
      await market.trade(SWAPS_PER_BLOCK, time)
    })
    await this.#trade(24, MONDAY_MORNING)
    await market.alfaDeep.add(90n)
    await market.removeFromAlfa(40n)
    await market.golfUsdt.poke(0)
    await market.ethGolf.poke(0)
    await market.mine()
    await market.golfUsdt.remove(0, 30n)
    await market.ethGolf.remove(0, 25n)
    await market.v3.removeLiquidity(2n, (await market.v3.liquidityOf(2n)) / 3n)
    await market.mine()
    await market.v3.collect(2n)
    await market.golfUsdt.add(15n)
    await market.mine()
    await this.#trade(24, MONDAY_NIGHT)
    await this.#trade(2, BEFORE_MIDNIGHT)
    await this.#lose(
      5,
      (time) => market.trade(SWAPS_PER_BLOCK, time, market.pools.slice(0, 12)),
      async () => {
        // What is lost is in both stores, and nobody takes it out.
        await this.#written()
        await pipeline.role('writer').kill('SIGTERM')
      },
    )
    await this.#trade(22, (await market.market.head()).time + 31)
    const { time } = await market.market.head()
    // Nothing happens, but time goes on.
    await market.mine(time + 9)
    const tokens = market.tokens.map(({ address }) => address.toLowerCase())
    await knowTokens(pipeline, market.market, tokens)
    await this.#caughtUp()
    const { number } = await market.market.head()
    this.#expected = await ExpectedMarket.read(market, number)
    this.#holdings = await ExpectedHoldings.read(market.market, tokens, number, [LOCKER])
  }

  /** The writer goes on where it was; a new gateway has nothing in its memory. */
  async writeAndRestart(): Promise<void> {
    const { pipeline } = this
    await pipeline.start('writer')
    await this.#written()
    await pipeline.role('gateway').kill('SIGTERM')
    await pipeline.start('gateway')
  }

  /** Redis loses everything, and is filled from ClickHouse. */
  async rebuildRedis(): Promise<void> {
    const { pipeline, stack } = this
    await Promise.all([pipeline.role('gateway').kill('SIGTERM'), pipeline.role('writer').kill('SIGTERM')])
    const redis = new Redis(stack.redisUrl)
    await redis.flushall()
    redis.disconnect()
    const { code, output } = await pipeline.run('redis', 'rebuild')
    assert.equal(code, 0, output)
    await pipeline.start('writer', 'gateway')
  }

  async stop(): Promise<void> {
    await this.pipeline.stop()
    await this.stack.stop()
  }

  async #trade(blocks: number, from: number): Promise<void> {
    let time = from
    for (let block = 0; block < blocks; block++) {
      // One pool is traded in on the first day only.
      const pools = this.market.pools.filter((_, place) => place !== QUIET || from === SUNDAY_AFTERNOON)
      await this.market.trade(SWAPS_PER_BLOCK, time, pools)
      time += GAPS[block % GAPS.length] ?? 12
    }
  }

  /** So many blocks that are seen, and then never were. */
  async #lose(
    blocks: number,
    mine: (time: number) => Promise<void>,
    beforeFork: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    for (let block = 0; block < blocks; block++) {
      await mine((await this.market.market.head()).time + 23)
    }
    await this.#caughtUp()
    await beforeFork()
    await this.market.market.reorganise(blocks)
    await this.#caughtUp()
  }

  async #caughtUp(): Promise<void> {
    await this.pipeline.reaches(`/v2/tokens/${this.market.stable}-local`, await this.market.market.head())
  }

  async #written(): Promise<void> {
    const { hash } = await this.market.market.head()
    const client = createClient({ url: this.stack.clickhouseUrl, database: this.pipeline.name })
    const query = 'SELECT hash FROM markers ORDER BY seq DESC LIMIT 1'
    try {
      await waitFor('the writer', async () => {
        const [marker] = await (await client.query({ query, format: 'JSONEachRow' })).json<{ hash: string }>()
        return marker?.hash === hash ? true : undefined
      })
    } finally {
      await client.close()
    }
  }
}

/** The place of the copycat's pool. */
const QUIET = 5

function chainOf({ market, stable, v3, v4 }: RestMarket): Record<string, unknown> {
  return {
    finality_depth: 12,
    lockers: [LOCKER],
    quote_assets: [
      { address: stable, kind: 'stable' },
      { address: market.weth, kind: 'native' },
      { address: zeroAddress, kind: 'native' },
    ],
    dexes: [
      { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: market.factory },
      {
        amm: 'uniswap_v3',
        protocol: 'uniswap_v3',
        factory: v3.factory,
        init_code_hash: keccak256(uniswapV3Pool.bytecode),
      },
      { amm: 'uniswap_v4', protocol: 'uniswap_v4', factory: v4.manager },
    ],
  }
}
