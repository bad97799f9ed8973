import { after, before, beforeEach } from 'node:test'
import { Redis } from 'ioredis'
import type { ChainHead } from '../../src/domain/chain-head.ts'
import type { Candle, Change, ChangeSet } from '../../src/domain/change.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { type HotStore, openHotStore } from '../../src/store/redis/hot-store.ts'
import { buildCandle, Dice } from '../support/builders/change-builders.ts'
import { latestOf } from '../support/reference/rows-of-sets.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

export const dice = new Dice(3)
export const pool = { address: '0xaa', token0: '0xbb', token1: '0xcc' }
export const k1 = { chain: 'eth', pair: '0xaa', interval: 'k1' } as const

/** A real Redis, empty before each test. */
export class HotStoreRig {
  readonly common = createTestCommon()
  #stack: Stack | undefined
  #raw: Redis | undefined
  #hot: HotStore | undefined

  /** Registers the hooks of the test file. */
  constructor() {
    before(async () => {
      this.#stack = await startStack({ services: ['redis'] })
      this.#raw = new Redis(this.#stack.redisUrl)
    })
    after(async () => {
      await this.#hot?.close()
      this.#raw?.disconnect()
      await this.#stack?.stop()
    })
    beforeEach(async () => {
      await this.raw.flushall()
      await this.reopen()
    })
  }

  get stack(): Stack {
    return this.#stack as Stack
  }

  get raw(): Redis {
    return this.#raw as Redis
  }

  get hot(): HotStore {
    return this.#hot as HotStore
  }

  async reopen(settings: { readonly recent_candles?: number } = {}): Promise<void> {
    await this.#hot?.close()
    this.#hot = await openHotStore({ url: this.stack.redisUrl, prefix: 'test', ...settings }, this.common)
  }

  async applyAll(sets: readonly ChangeSet[], batchSize: number): Promise<void> {
    for (let at = 0; at < sets.length; at += batchSize) {
      const batch = sets.slice(at, at + batchSize)
      await this.hot.apply(latestOf(batch), headOf(batch.at(-1) as ChangeSet))
    }
  }
}

export function setOf(seq: number, ...changes: Change[]): ChangeSet {
  const head = { number: seq, hash: '0x01', time: 1_000 + seq }
  return { chain: 'eth', seq, cause: 'block', head, finalNumber: 0, changes }
}

export function headOf({ chain, seq, head, finalNumber }: ChangeSet): ChainHead {
  return { chain, seq, ...head, finalNumber, position: { epoch: 'e', sequence: seq, link: 1 } }
}

export const putCandle = (candle: Candle): Change => ({ type: 'candle', candle })
export const dropCandle = ({ pair, interval, start }: Candle): Change => ({
  type: 'candleRemoved',
  candle: { pair, interval, start },
})
export const candleAt = (start: number): Candle =>
  buildCandle(dice, '0xaa', 'k1', { block: 1, tx: 1, log: 1 }, start)
