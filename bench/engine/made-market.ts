import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import type { ChainConfig } from '../../src/config/schema.ts'
import type { BlockEnvelope, Envelope, Fact, RawLog, RawTransaction } from '../../src/domain/envelope.ts'
import type { EngineSettings } from '../../src/engine/settings.ts'
import { engineSettings } from '../../src/roles/engine-settings.ts'
import { PAIR_SWAP, type RecordedSwaps, SYNC, words } from './recorded-swaps.ts'

const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const V2_FACTORY = '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f'
const V3_FACTORY = '0x1f98431c8ad98523631ae4a59f267346ea31f984'
const SECONDS_PER_BLOCK = 12
const FINAL_LAG = 64
const BLOCKS_PER_FINAL = 32
const INTRODUCED_PER_BLOCK = 250
const WALLETS = 100_000

export function ethereumSettings(): EngineSettings {
  const file = path.join(import.meta.dirname, '../../config/chains/eth.yaml')
  // What the file leaves out has its default from the schema; here, the depth from which a pool counts.
  const config = { min_depth_usd: 1_000, ...parse(readFileSync(file, 'utf8')) } as ChainConfig
  return engineSettings('eth', config)
}

export type MarketPlace = { number: number; hash: string; time: number; random: number }

/**
 * A chain of any number of pairs that trade as recorded pools did: the same events, at other addresses. How often
 * a pair trades falls with its rank (Zipf's law, exponent 1): half of all trades are of few pairs, and the other
 * half of ever rarer ones. A pair with an odd number is of Uniswap V2, the others are of V3; pair 0 is USDC/WETH.
 */
export class MadeMarket {
  readonly #recorded: RecordedSwaps
  readonly #pairs: number
  #place: MarketPlace

  constructor(recorded: RecordedSwaps, pairs: number, place?: MarketPlace) {
    this.#recorded = recorded
    this.#pairs = pairs
    this.#place = place ?? { number: 10_000_000, hash: hex(0, 32), time: 1_700_000_000, random: 1 }
  }

  /** Where it stands, for another process to go on from there. */
  get place(): MarketPlace {
    return { ...this.#place }
  }

  /** Every pair is met once, with a trade. */
  *introduction(): Generator<Envelope> {
    for (let first = 0; first < this.#pairs; first += INTRODUCED_PER_BLOCK) {
      const count = Math.min(INTRODUCED_PER_BLOCK, this.#pairs - first)
      const pairs = Array.from({ length: count }, (_, at) => first + at)
      yield* this.#block(pairs, pairs.flatMap(factsOf))
    }
  }

  /** The next block, of 50 to 200 trades; now and then what is final follows. */
  *next(): Generator<Envelope> {
    const swaps = 50 + this.#dice(151)
    const pairs = Array.from({ length: swaps }, () => this.#drawPair())
    yield* this.#block(pairs, [])
  }

  *#block(pairs: readonly number[], facts: readonly Fact[]): Generator<Envelope> {
    const number = this.#place.number + 1
    const block: BlockEnvelope = {
      kind: 'block',
      chain: 'eth',
      number,
      hash: hex(number, 32),
      parentHash: this.#place.hash,
      time: this.#place.time + SECONDS_PER_BLOCK,
      transactions: pairs.map((pair, index) => this.#transaction(pair, index)),
      facts,
    }
    this.#place = { ...this.#place, number, hash: block.hash, time: block.time }
    yield block
    if (number % BLOCKS_PER_FINAL !== 0 || number - FINAL_LAG < 10_000_001) return
    yield {
      kind: 'final',
      chain: 'eth',
      upTo: { number: number - FINAL_LAG, hash: hex(number - FINAL_LAG, 32) },
    }
  }

  #transaction(pair: number, index: number): RawTransaction {
    const hash = hex(this.#place.number * 1_000 + index, 32)
    const from = addressOf('aa', this.#dice(WALLETS))
    return { index, hash, from, logs: pair % 2 === 1 ? this.#v2(pair, index) : this.#v3(pair, index) }
  }

  /** The day of the recorded pool goes on in every such pool, each at its own hour. */
  #v3(pair: number, index: number): RawLog[] {
    const { concentrated } = this.#recorded
    const { topics, data } = must(concentrated[(pair * 37 + this.#place.number) % concentrated.length])
    return [{ index: 2 * index, address: poolOf(pair), topics, data }]
  }

  /** A recorded trade, larger or smaller, at a price that is a little higher or lower. */
  #v2(pair: number, index: number): RawLog[] {
    const { pairs } = this.#recorded
    const { topics, reserves, amountIn, isFirstIn } = must(pairs[pair % pairs.length])
    const shift = BigInt(this.#dice(400) - 200)
    const reserve0 = (reserves[0] * (10_000n + shift)) / 10_000n
    const reserve1 = (reserves[1] * (10_000n - shift)) / 10_000n
    const paid = (amountIn * BigInt(200 + this.#dice(2_000))) / 1_000n + 1n
    const got = isFirstIn ? (paid * reserve1) / reserve0 : (paid * reserve0) / reserve1
    const amounts = isFirstIn ? [paid, 0n, 0n, got] : [0n, paid, got, 0n]
    const address = poolOf(pair)
    return [
      { index: 2 * index, address, topics: [SYNC], data: words(reserve0, reserve1) },
      { index: 2 * index + 1, address, topics: [PAIR_SWAP, ...topics.slice(1)], data: words(...amounts) },
    ]
  }

  #drawPair(): number {
    return Math.floor((this.#pairs + 1) ** this.#chance()) - 1
  }

  #dice(sides: number): number {
    return Math.floor(this.#chance() * sides)
  }

  /** Mulberry32: the same market in every run. */
  #chance(): number {
    this.#place.random = (this.#place.random + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#place.random ^ (this.#place.random >>> 15), 1 | this.#place.random)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function factsOf(pair: number): Fact[] {
  const token = pair === 0 ? USDC : tokenOf(pair)
  const isV2 = pair % 2 === 1
  const pool: Fact = {
    type: 'pool',
    address: poolOf(pair),
    factory: isV2 ? V2_FACTORY : V3_FACTORY,
    tokens: [token, WETH],
    pricing: { kind: isV2 ? 'reserves' : 'sqrtPrice' },
    // So much that what a pool is said to pay out, round after round, never runs out.
    reservesBefore: isV2 ? undefined : [10n ** 17n, 10n ** 26n],
  }
  const weth = tokenFact(WETH, 'WETH', 18)
  if (pair === 0) return [tokenFact(USDC, 'USDC', 6), weth, pool]
  return [tokenFact(token, `TOK${pair % 1_000}`, isV2 ? 18 : 6), pool]
}

/** One token in ten has two pairs. */
function tokenOf(pair: number): string {
  return addressOf('cc', pair % 20 === 18 ? pair - 2 : pair)
}

function tokenFact(address: string, symbol: string, decimals: number): Fact {
  const raw = Buffer.from(symbol)
  return { type: 'token', address, nameRaw: raw, symbolRaw: raw, decimals, supplyRaw: 10n ** 27n }
}

function poolOf(pair: number): string {
  return addressOf('bb', pair)
}

/** Spread as real addresses are: neighbours in rank are no neighbours in a sorted store. */
function addressOf(kind: string, number: number): string {
  const spread = Math.imul(number + 1, 0x9e3779b1) >>> 0
  return `0x${spread.toString(16).padStart(8, '0')}${kind}${number.toString(16).padStart(30, '0')}`
}

function hex(number: number, size: number): string {
  const spread = Math.imul(number + 1, 0x85ebca6b) >>> 0
  return `0x${spread.toString(16).padStart(8, '0')}${number.toString(16).padStart(size * 2 - 8, '0')}`
}

function must<T>(item: T | undefined): T {
  if (item === undefined) throw new Error('nothing recorded')
  return item
}
