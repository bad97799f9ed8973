import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { Market } from '../../dev/market/market.ts'
import type { TokenInfo } from './expected-prices.ts'

/** The first block of the scenario's trading; late on a Sunday, so that candles of every interval turn over. */
const TRADING_STARTS = Date.UTC(2025, 5, 15, 23, 55, 7) / 1000

/**
 * A small market with numbers that do not come out even: a stablecoin of six decimals and a token of nine,
 * each in a real Uniswap V2 pool against WETH. The stablecoin's address is the one config/chains/local.yaml
 * names, because it is always the first token deployed.
 */
export class Scenario {
  readonly market: Market
  readonly stable: Hex
  readonly token: Hex
  readonly stablePair: Hex
  readonly tokenPair: Hex
  readonly tokens: readonly TokenInfo[]
  #blocks = 0
  #dice = 1

  private constructor(market: Market, parts: { stable: Hex; token: Hex; stablePair: Hex; tokenPair: Hex }) {
    this.market = market
    this.stable = parts.stable
    this.token = parts.token
    this.stablePair = parts.stablePair
    this.tokenPair = parts.tokenPair
    this.tokens = [
      { address: market.weth, symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 },
      { address: parts.stable, symbol: 'USDT', name: 'Test Dollar', decimals: 6 },
      { address: parts.token, symbol: 'PEP', name: 'Pepper', decimals: 9 },
    ]
  }

  static async deploy(rpcUrl: string): Promise<Scenario> {
    const market = await Market.deploy(rpcUrl)
    const stable = await market.createToken({
      name: 'Test Dollar',
      symbol: 'USDT',
      decimals: 6,
      supply: 10n ** 15n,
    })
    const token = await market.createToken({ name: 'Pepper', symbol: 'PEP', decimals: 9, supply: 10n ** 18n })
    await market.addLiquidityNative(stable, 1_987_654_321_987n, 987_654_321_098_765_432_109n)
    await market.addLiquidityNative(token, 123_456_789_012_345_678n, 54_321_098_765_432_109_876n)
    // Room for empty blocks, until all is known of the tokens.
    await market.mine(TRADING_STARTS - 600)
    const [stablePair, tokenPair] = await Promise.all([
      market.pairOf(stable, market.weth),
      market.pairOf(token, market.weth),
    ])
    return new Scenario(market, {
      stable,
      token,
      stablePair: stablePair.toLowerCase() as Hex,
      tokenPair: tokenPair.toLowerCase() as Hex,
    })
  }

  /** Mines one block of a few trades in both pools; the same calls give the same chain. */
  async tradeBlock(): Promise<void> {
    const trades = 1 + (this.#roll() % 5)
    for (let trade = 0; trade < trades; trade++) await this.#trade()
    await this.market.mine(TRADING_STARTS + 13 * this.#blocks++)
  }

  /** Mines blocks of trades, with a pause after each, until it is stopped. */
  keepTrading(pauseMs: number): { stop(): Promise<void> } {
    const stop = new AbortController()
    const run = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await this.tradeBlock()
        await sleep(pauseMs)
      }
    }
    const running = run()
    return {
      stop: () => {
        stop.abort()
        return running
      },
    }
  }

  async #trade(): Promise<void> {
    const size = BigInt(this.#roll()) * 1_000_003n
    switch (this.#roll() % 4) {
      case 0:
        await this.market.buyWithNative(this.token, size * 100n + 1n)
        break
      case 1:
        await this.market.sellForNative(this.token, size / 1_000n + 1n)
        break
      case 2:
        await this.market.buyWithNative(this.stable, size * 1_000n + 1n)
        break
      default:
        await this.market.sellForNative(this.stable, size / 1_000_000n + 1_000n)
    }
  }

  /** A fixed sequence of odd numbers up to 2^31: reproducible, and never round. */
  #roll(): number {
    this.#dice = (this.#dice * 48_271) % 2_147_483_647
    return this.#dice
  }
}
