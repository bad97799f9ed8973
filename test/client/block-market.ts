import type { Change } from '../../src/domain/change.ts'
import {
  MEME_USDC,
  MEME_WETH,
  price,
  sampleCandle,
  samplePair,
  sampleToken,
  sampleTrade,
} from '../support/builders/market-samples.ts'
import type { GatewayWorld } from '../support/rigs/gateway-world.ts'

export const PAIR = `${MEME_WETH}-eth`
export const START = 1_700_000_000
const LOG = 3

/** A market with one swap and one candle in every block, a minute apart, and forks. It plays the engine. */
export class BlockMarket {
  /** By block: the transaction of its swap, as far as it stands. */
  readonly canonical = new Map<number, string>()
  head = 0
  readonly #world: GatewayWorld
  #transactions = 0

  constructor(world: GatewayWorld) {
    this.#world = world
  }

  async start(): Promise<void> {
    await this.#world.publish([
      { type: 'pair', pair: samplePair() },
      { type: 'pair', pair: samplePair({ address: MEME_USDC, isMain: false }) },
      { type: 'token', token: sampleToken() },
    ])
  }

  async grow(count: number): Promise<void> {
    await this.#world.publish(this.blocks(count))
  }

  /** Changes of the next blocks. */
  blocks(count: number): Change[] {
    return Array.from({ length: count }, (): Change[] => {
      const block = ++this.head
      const transaction = `0x${(++this.#transactions).toString(16).padStart(64, '0')}`
      this.canonical.set(block, transaction)
      const trade = sampleTrade({ key: { block, tx: 0, log: LOG }, time: this.timeOf(block), transaction })
      return [{ type: 'trade', trade }, this.#candle(block)]
    }).flat()
  }

  /** Takes the latest blocks back, and publishes others in their place. */
  async fork(depth: number, regrown = depth): Promise<void> {
    const changes: Change[] = []
    for (let undone = 0; undone < depth; undone++, this.head--) {
      const block = this.head
      this.canonical.delete(block)
      const trade = { key: { block, tx: 0, log: LOG }, pair: MEME_WETH, time: this.timeOf(block) }
      changes.push({ type: 'tradeRemoved', trade })
      const candle = { pair: MEME_WETH, interval: 'k1' as const, start: this.startOf(block) }
      changes.push({ type: 'candleRemoved', candle })
    }
    await this.#world.publish([...changes, { type: 'pair', pair: samplePair() }], { cause: 'undo' })
    if (regrown > 0) await this.grow(regrown)
  }

  timeOf(block: number): number {
    return START + 60 * block
  }

  /** Start of the candle that has the swap of the block. */
  startOf(block: number): number {
    return this.timeOf(block) - (this.timeOf(block) % 60)
  }

  /** The ids of the swaps that stand, oldest first. */
  ids(): string[] {
    return [...this.canonical.keys()].map((block) => `${block}-${LOG}`)
  }

  /** Versions of a candle differ in their price. */
  #candle(block: number): Change {
    const sample = sampleCandle({ start: this.startOf(block) })
    const high = price(String(1_000 + this.#transactions))
    return { type: 'candle', candle: { ...sample, usd: sample.usd && { ...sample.usd, high } } }
  }
}
