import type { Hex } from 'viem'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { removeFromV2, type TradedPool, v2Pool } from './rest-pools.ts'
import { Scenario } from './scenario.ts'

/** About a thousand dollars of each. */
const THIRD_POOL = { tokenRaw: 1_130_003n * 10n ** 9n, stableRaw: 1_000_003n * 10n ** 3n }
const MUCH_DEEPER_PERCENT = 20_000n

/**
 * The market of the scenario and a third pool, of the token and the stablecoin, which becomes the token's main pair once in
 * a fork and once for good. All liquidity that comes and goes does so in a block with trades.
 */
export class WsMarket {
  readonly stack: Stack
  readonly scenario: Scenario
  readonly pipeline: Pipeline
  readonly thirdPair: string
  readonly #third: TradedPool

  private constructor(stack: Stack, scenario: Scenario, third: TradedPool, thirdPair: string) {
    this.stack = stack
    this.scenario = scenario
    this.pipeline = new Pipeline(stack, 'ws', { finality_depth: 12 })
    this.#third = third
    this.thirdPair = thirdPair
  }

  static async start(): Promise<WsMarket> {
    const stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
    try {
      const scenario = await Scenario.deploy(stack.rpcUrl)
      const { market, token, stable } = scenario
      const third = v2Pool(market, {
        ...{ tokenA: token, rawA: THIRD_POOL.tokenRaw },
        ...{ tokenB: stable, rawB: THIRD_POOL.stableRaw },
      })
      await third.add(100n)
      await market.approve(scenario.tokenPair, market.router)
      await market.mine()
      const run = new WsMarket(stack, scenario, third, await third.id())
      await run.pipeline.start('reader', 'engine', 'writer', 'gateway')
      await run.caughtUp()
      return run
    } catch (error) {
      await stack.stop()
      throw error
    }
  }

  async play(): Promise<void> {
    const { market, token, tokenPair } = this.scenario
    await this.#trade(4)
    await market.addLiquidityNative(token, 12_345_678_901_234_567n, 5_432_109_876_543_210_987n)
    await this.#trade(1)
    // Seen, and then never were: swaps, liquidity, whole candles.
    await market.addLiquidityNative(token, 1_234_567_890_123_456n, 543_210_987_654_321_098n)
    await this.#trade(3)
    await this.#fork(3)
    await this.#trade(5)
    await this.#third.add(MUCH_DEEPER_PERCENT)
    await this.#trade(2)
    await this.#fork(2)
    await this.#trade(3)
    await this.#third.add(MUCH_DEEPER_PERCENT)
    await this.#trade(2)
    const pool = { ...this.#third, id: async () => tokenPair as string }
    await removeFromV2(market, { ...pool, sides: { ...pool.sides, tokenB: market.weth } }, 10n)
    await this.#trade(4)
    await this.caughtUp()
  }

  async caughtUp(): Promise<void> {
    await this.pipeline.reaches(
      `/v2/pairs/${this.scenario.tokenPair}-local`,
      await this.scenario.market.head(),
    )
  }

  async stop(): Promise<void> {
    await this.pipeline.stop()
    await this.stack.stop()
  }

  /** Blocks in which every pool is traded in. */
  async #trade(blocks: number): Promise<void> {
    const { market, token, stable } = this.scenario
    for (let block = 0; block < blocks; block++) {
      const isSell = block % 2 === 0
      const [sold, raw] = isSell ? [token, 7_654_321_234n] : [stable, 5_432_101n]
      await this.#third.sell(sold as Hex, raw, market.owner)
      await market.buyWithNative(token, 123_456_789_012_345_677n)
      await market.sellForNative(stable, 3_456_789n)
      await this.scenario.tradeBlock()
    }
  }

  async #fork(depth: number): Promise<void> {
    await this.caughtUp()
    await this.scenario.market.reorganise(depth)
    await this.caughtUp()
  }
}
