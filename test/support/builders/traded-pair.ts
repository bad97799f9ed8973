import type { Change, Trade } from '../../../src/domain/change.ts'
import { GatewayWorld } from '../rigs/gateway-world.ts'
import { MEME_WETH, samplePair, sampleToken, sampleTrade } from './market-samples.ts'

/** What clients subscribe to of the pair. */
export const TX = ['tx', MEME_WETH, 'eth']
export const KLINE = ['kline', MEME_WETH, 'k1', 'eth']

/** A side of a trade that no buffer holds many of. */
export const BULKY_SIDE = { ...sampleTrade().sold, symbol: 'x'.repeat(200_000) }

/** A world in which one pair and its token are published and stored. Its trades come from here. */
export class TradedPair {
  readonly world: GatewayWorld
  #block = 1_000

  private constructor(world: GatewayWorld) {
    this.world = world
  }

  static async start(): Promise<TradedPair> {
    const world = await GatewayWorld.start()
    await world.publish([
      { type: 'pair', pair: samplePair() },
      { type: 'token', token: sampleToken() },
    ])
    await world.storeAll()
    return new TradedPair(world)
  }

  /** The block of the last trade. */
  get block(): number {
    return this.#block
  }

  nextBlock(): number {
    return ++this.#block
  }

  /** Each trade in a block of its own number, so that its id implies its place. */
  trades(count: number, overrides: Partial<Trade> = {}): Change[] {
    return Array.from({ length: count }, () => ({
      type: 'trade' as const,
      trade: sampleTrade({ key: { block: this.nextBlock(), tx: 0, log: 0 }, ...overrides }),
    }))
  }
}
