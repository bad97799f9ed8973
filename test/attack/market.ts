import type { Change, ChangeSet } from '../../src/domain/change.ts'
import {
  sampleCandle,
  samplePair,
  sampleSet,
  sampleToken,
  sampleTrade,
} from '../support/builders/market-samples.ts'
import { CHAIN } from './settings.ts'

const START_TIME = 1_700_000_000
const NUMBER_DIGITS = 16

/** In every set each pair is traded once. The hash of a swap says which set it is of, and when that was published. */
export class AttackMarket {
  readonly pairs: readonly string[]
  readonly tokens: readonly string[]
  #number = 0

  constructor(pairs: number) {
    const address = (first: string, index: number): string =>
      `0x${first}${index.toString(16).padStart(39, '0')}`
    this.pairs = Array.from({ length: pairs }, (_, index) => address('1', index))
    this.tokens = Array.from({ length: pairs }, (_, index) => address('a', index))
  }

  get number(): number {
    return this.#number
  }

  /** Everything there is, before anything is traded. */
  first(): ChangeSet {
    return this.#set(
      this.pairs.flatMap((pair, index) => [
        { type: 'token', token: sampleToken({ address: this.#token(index), mainPair: pair }) },
        this.#pair(pair, index),
      ]),
    )
  }

  next(): ChangeSet {
    this.#number++
    const time = START_TIME + this.#number
    const now = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1_000))
    const transaction = `0x${this.#number.toString(16).padStart(NUMBER_DIGITS, '0')}${now.toString(16).padStart(64 - NUMBER_DIGITS, '0')}`
    return this.#set(
      this.pairs.flatMap((pair, index): Change[] => {
        const trade = sampleTrade({ pair, time, transaction, targetToken: this.#token(index) })
        const key = { block: 100 + this.#number, tx: index, log: index }
        const bought = { ...trade.bought, token: this.#token(index) }
        const start = time - (time % 60)
        return [
          { type: 'trade', trade: { ...trade, key, bought } },
          { type: 'candle', candle: sampleCandle({ pair, start, tradeCount: this.#number }) },
          this.#pair(pair, index),
        ]
      }),
    )
  }

  #token(index: number): string {
    return this.tokens[index] ?? ''
  }

  #pair(address: string, index: number): Change {
    const sample = samplePair()
    const token = this.#token(index)
    return {
      type: 'pair',
      pair: { ...sample, address, targetToken: token, token0: { ...sample.token0, token } },
    }
  }

  #set(changes: readonly Change[]): ChangeSet {
    const number = 100 + this.#number
    const head = {
      number,
      hash: `0x${number.toString(16).padStart(64, '0')}`,
      time: START_TIME + this.#number,
    }
    return sampleSet(this.#number + 1, changes, { chain: CHAIN, head, finalNumber: 90 })
  }
}

const HASH = '"transaction":"0x'

/** What a push of a swap says of its set. */
export function readStamp(
  push: string,
): { readonly number: number; readonly publishedAt: number } | undefined {
  const at = push.indexOf(HASH)
  if (at === -1) return undefined
  const from = at + HASH.length
  return {
    number: Number.parseInt(push.slice(from, from + NUMBER_DIGITS), 16),
    publishedAt: Number.parseInt(push.slice(from + NUMBER_DIGITS, from + 64), 16) / 1_000,
  }
}
