import type { Change, ChangeSet, Trade } from '../../../src/domain/change.ts'
import { candleStart } from '../../../src/domain/interval.ts'
import { VALUE_DIGITS } from '../../../src/domain/money.ts'
import { publicEventId } from '../../../src/domain/order-key.ts'
import {
  sampleCandle,
  samplePair,
  sampleSet,
  sampleToken,
  sampleTrade,
  WETH,
} from '../../support/builders/market-samples.ts'
import { CHAIN, type Subject, subjectKey } from './subject.ts'

type Block = { readonly number: number; readonly time: number; readonly trades: readonly Trade[] }

const START_TIME = 1_700_000_000
const SECONDS_PER_BLOCK = 3
const MAX_TRADES = 24
const MAX_UNDONE = 3
const BLOCKS_KEPT = 30

/**
 * Plays the engine: produces change sets of many pairs, some of which undo blocks, and records what the subscribers of
 * each subject must receive, in order. A push is recorded as a short, unique text: the same block may come again
 * after a fork, but its transactions have other hashes, and candles carry the number of their set as their volume.
 */
export class SoakMarket {
  readonly pairs: readonly string[]
  readonly tokens: readonly string[]
  readonly #roll: (sides: number) => number
  readonly #maxUndone: number
  readonly #listeners = new Map<string, number>()
  readonly #pushes = new Map<string, string[]>()
  readonly #chain: Block[] = []
  #seq = 0
  #trades = 0
  #deliveries = 0
  #undos = 0

  /** Every fifth fork has the largest depth. */
  constructor(pairs: number, roll: (sides: number) => number, maxUndone = MAX_UNDONE) {
    this.#roll = roll
    this.#maxUndone = maxUndone
    this.pairs = Array.from({ length: pairs }, (_, index) => address('1', index))
    // Each token has two pairs.
    this.tokens = Array.from({ length: Math.ceil(pairs / 2) }, (_, index) => address('a', index))
  }

  /** How many pushes all listeners together have to have received. */
  get deliveries(): number {
    return this.#deliveries
  }

  get undos(): number {
    return this.#undos
  }

  /** The pushes that a subject's subscribers must have received so far. */
  pushesOf(key: string): readonly string[] {
    return this.#pushes.get(key) ?? []
  }

  /** What is left of a pair's swaps. */
  swapsLeft(pair: string): string[] {
    const left = new Map<string, string>()
    for (const what of this.pushesOf(subjectKey({ topic: 'tx', address: pair, reorg: true }))) {
      if (what.startsWith('-')) left.delete(what.slice(1))
      else left.set(what.split('#')[0] ?? '', what)
    }
    return [...left.values()]
  }

  /** The subjects of so many clients, spread over everything there is. */
  subjects(clients: number): Subject[] {
    return Array.from({ length: clients }, (_, index): Subject => {
      const kind = index % 6
      const place = Math.floor(index / 6)
      const topic = (['tx', 'multi_tx', 'kline'] as const)[kind % 3] ?? 'tx'
      const among = topic === 'multi_tx' ? this.tokens : this.pairs
      const subject = { topic, address: among[place % among.length] ?? '', reorg: kind >= 3 }
      const key = subjectKey(subject)
      this.#listeners.set(key, (this.#listeners.get(key) ?? 0) + 1)
      return subject
    })
  }

  /** Everything there is, before anything is traded. */
  first(): ChangeSet {
    const changes: Change[] = [
      ...this.tokens.map((token) => ({ type: 'token' as const, token: sampleToken({ address: token }) })),
      ...this.pairs.map((pair) => this.#pair(pair)),
    ]
    return this.#set('block', 0, START_TIME, changes)
  }

  next(): ChangeSet {
    const canUndo = this.#chain.length > Math.min(2 * this.#maxUndone, BLOCKS_KEPT - 1)
    return canUndo && this.#roll(15) === 0 ? this.#undo() : this.#block()
  }

  #block(): ChangeSet {
    const number = (this.#chain.at(-1)?.number ?? 0) + 1
    const time = START_TIME + number * SECONDS_PER_BLOCK
    const trades = Array.from({ length: 1 + this.#roll(MAX_TRADES) }, (_, log) =>
      this.#trade(number, log, time),
    )
    this.#chain.push({ number, time, trades })
    if (this.#chain.length > BLOCKS_KEPT) this.#chain.shift()
    this.#seq++
    const changes: Change[] = trades.map((trade) => ({ type: 'trade', trade }))
    for (const trade of trades)
      this.#recordTrade(trade.pair, `${publicEventId(trade.key)}#${trade.transaction}`)
    for (const pair of new Set(trades.map((trade) => trade.pair))) {
      changes.push(this.#candle(pair, time), this.#pair(pair))
    }
    return this.#set('block', number, time, changes)
  }

  #undo(): ChangeSet {
    const depth = this.#undos % 5 === 4 ? this.#maxUndone : 1 + this.#roll(this.#maxUndone)
    const undone = this.#chain.splice(-depth).reverse()
    const head = this.#chain.at(-1) as Block
    this.#seq++
    this.#undos++
    const changes: Change[] = []
    const candles = new Map<string, { readonly pair: string; readonly time: number }>()
    for (const { time, trades } of undone) {
      for (const { key, pair } of trades.toReversed()) {
        changes.push({ type: 'tradeRemoved', trade: { key, time, pair } })
        this.#recordTrade(pair, `-${publicEventId(key)}`, true)
        candles.set(`${pair} ${candleStart('k1', time)}`, { pair, time })
      }
    }
    for (const { pair, time } of candles.values()) changes.push(this.#candle(pair, time))
    for (const pair of new Set(Array.from(candles.values(), (candle) => candle.pair)))
      changes.push(this.#pair(pair))
    return this.#set('undo', head.number, head.time, changes)
  }

  /** As the trades that are left make it: maybe there is none any more. */
  #candle(pair: string, time: number): Change {
    const start = candleStart('k1', time)
    const left = this.#chain.some(
      (block) => candleStart('k1', block.time) === start && block.trades.some((trade) => trade.pair === pair),
    )
    const ref = { pair, interval: 'k1' as const, start }
    if (!left) {
      this.#record({ topic: 'kline', address: pair, reorg: true }, `-${start}`)
      return { type: 'candleRemoved', candle: ref }
    }
    this.#record({ topic: 'kline', address: pair, reorg: false }, `${start}#${this.#seq + 1}`)
    this.#record({ topic: 'kline', address: pair, reorg: true }, `${start}#${this.#seq + 1}`)
    const candle = sampleCandle(ref)
    const volume = BigInt(this.#seq + 1) * 10n ** BigInt(VALUE_DIGITS)
    const usd = candle.usd && { ...candle.usd, volume }
    return { type: 'candle', candle: { ...candle, usd } }
  }

  #trade(block: number, log: number, time: number): Trade {
    const pair = this.pairs[this.#roll(this.pairs.length)] ?? ''
    const { sold, bought, ...sample } = sampleTrade()
    const token = this.#tokenOf(pair)
    const transaction = `0x${(++this.#trades).toString(16).padStart(64, '0')}`
    return {
      ...sample,
      ...{ key: { block, tx: log, log }, time, pair, transaction, targetToken: token },
      sold,
      bought: { ...bought, token },
    }
  }

  #recordTrade(pair: string, what: string, onlyReorg = false): void {
    for (const reorg of onlyReorg ? [true] : [false, true]) {
      this.#record({ topic: 'tx', address: pair, reorg }, what)
      this.#record({ topic: 'multi_tx', address: this.#tokenOf(pair), reorg }, what)
    }
  }

  #record(subject: Subject, what: string): void {
    const key = subjectKey(subject)
    const listeners = this.#listeners.get(key)
    if (listeners === undefined) return
    this.#deliveries += listeners
    const pushes = this.#pushes.get(key)
    if (pushes === undefined) this.#pushes.set(key, [what])
    else pushes.push(what)
  }

  #tokenOf(pair: string): string {
    return this.tokens[Math.floor(this.pairs.indexOf(pair) / 2)] ?? ''
  }

  #pair(pair: string): Change {
    const token = this.#tokenOf(pair)
    const sample = samplePair()
    return {
      type: 'pair',
      pair: {
        ...sample,
        ...{ address: pair, targetToken: token, isMain: this.pairs.indexOf(pair) % 2 === 0 },
        token0: { ...sample.token0, token },
        token1: { ...sample.token1, token: WETH },
      },
    }
  }

  #set(cause: 'block' | 'undo', number: number, time: number, changes: readonly Change[]): ChangeSet {
    const seq = this.#seq + 1
    const head = { number, hash: `0x${seq.toString(16).padStart(64, '0')}`, time }
    return sampleSet(seq, changes, {
      chain: CHAIN,
      cause,
      head,
      finalNumber: Math.max(0, number - BLOCKS_KEPT),
    })
  }
}

function address(first: string, index: number): string {
  return `0x${first}${index.toString(16).padStart(39, '0')}`
}
