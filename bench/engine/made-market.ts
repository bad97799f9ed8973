import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import type { ChainConfig } from '../../src/config/schema.ts'
import type { BlockEnvelope, Envelope, Fact, RawLog, RawTransaction } from '../../src/domain/envelope.ts'
import type { EngineSettings } from '../../src/engine/settings.ts'
import { engineSettings } from '../../src/engine/settings.ts'
import { chainSettings } from '../../src/roles/chain-settings.ts'
import { PAIR_SWAP, type RecordedSwaps, SYNC, words } from './recorded-swaps.ts'

const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
/** Dollars of six decimals that are traded against WETH, by the number of their pair: quote assets on both sides. */
const DOLLARS = new Map([
  [0, { address: USDC, symbol: 'USDC' }],
  [2, { address: '0xdac17f958d2ee523a2206206994597c13d831ec7', symbol: 'USDT' }],
  [4, { address: '0x6c3ea9036406852006290770bedfcaba0e23a0e8', symbol: 'PYUSD' }],
])
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const V2_FACTORY = '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f'
const V3_FACTORY = '0x1f98431c8ad98523631ae4a59f267346ea31f984'
const SECONDS_PER_BLOCK = 12
const FIRST_NUMBER = 10_000_000
const FINAL_LAG = 64
const BLOCKS_PER_FINAL = 32
const INTRODUCED_PER_BLOCK = 250
const WALLETS = 100_000
const LOGS_PER_SWAP = 4
/** Pairs of one group, such as 20 to 39, share tokens with one another only. */
export const PAIRS_PER_GROUP = 20
/** About what one WETH is worth: turns a recorded amount of WETH into one of USDC. */
const WETH_USD = 2_000n
const POOL_HOLDS = 10n ** 24n

export function ethereumSettings(): EngineSettings {
  // What the file leaves out has its default from the schema; here, the depth from which a pool counts, and the coin.
  const config = { min_depth_usd: 1_000, native: { decimals: 18 }, ...ethereumFile() } as ChainConfig
  return engineSettings('eth', chainSettings(config))
}

export function ethereumFile(): object {
  return parse(readFileSync(path.join(import.meta.dirname, '../../config/chains/eth.yaml'), 'utf8')) as object
}

export type MarketPlan = {
  readonly pairs: number
  readonly chain?: string
  /** With every swap go two Transfers: of the token, and of what it is paid with. */
  readonly hasTransfers?: boolean
  /** A backfill: blocks are old, and what was read is final already. */
  readonly isHistory?: boolean
}

export type MarketPlace = { number: number; hash: string; time: number; random: number }

/**
 * A chain of any number of pairs that trade as recorded pools did: the same events, at other addresses. How often
 * a pair trades falls with its rank (Zipf's law, exponent 1): half of all trades are of few pairs, and the other
 * half of ever rarer ones. A pair with an odd number is of Uniswap V2, the others are of V3. Pairs 0, 2 and 4 are of two quote
 * assets, an eighth of all trades; one pair in five is traded against USDC, the others against WETH.
 */
export class MadeMarket {
  readonly #recorded: RecordedSwaps
  readonly #plan: MarketPlan
  #place: MarketPlace

  constructor(recorded: RecordedSwaps, plan: MarketPlan, place?: MarketPlace) {
    this.#recorded = recorded
    this.#plan = plan
    this.#place = place ?? { number: FIRST_NUMBER, hash: hex(0, 32), time: 1_700_000_000, random: 1 }
  }

  get #chain(): string {
    return this.#plan.chain ?? 'eth'
  }

  /** Where it stands, for another process to go on from there. */
  get place(): MarketPlace {
    return { ...this.#place }
  }

  /** Every pair is met once, with a trade. */
  *introduction(): Generator<Envelope> {
    const { pairs: all, hasTransfers } = this.#plan
    for (let first = 0; first < all; first += INTRODUCED_PER_BLOCK) {
      const count = Math.min(INTRODUCED_PER_BLOCK, all - first)
      const pairs = Array.from({ length: count }, (_, at) => first + at)
      const facts = pairs.flatMap(factsOf)
      const histories = hasTransfers ? pairs.map((pair) => historyOf(pair, this.#place.number)) : []
      yield* this.#block(pairs, [...facts, ...histories])
    }
  }

  /** The next block, of 50 to 200 trades; now and then what is final follows. */
  *next(): Generator<Envelope> {
    const swaps = 50 + this.#dice(151)
    const pairs = Array.from({ length: swaps }, () => this.#drawPair())
    yield* this.#block(pairs, [])
  }

  /** A block of these pairs' trades at a time of its own, later than the one before. */
  *blockAt(time: number, pairs: readonly number[]): Generator<Envelope> {
    this.#place = { ...this.#place, time: time - SECONDS_PER_BLOCK }
    yield* this.#block(pairs, [])
  }

  *#block(pairs: readonly number[], facts: readonly Fact[]): Generator<Envelope> {
    const number = this.#place.number + 1
    const block: BlockEnvelope = {
      kind: 'block',
      chain: this.#chain,
      number,
      hash: hex(number, 32),
      parentHash: this.#place.hash,
      time: this.#place.time + SECONDS_PER_BLOCK,
      ...(this.#plan.isHistory && { isOld: true }),
      transactions: pairs.map((pair, index) => this.#transaction(pair, index)),
      facts,
    }
    this.#place = { ...this.#place, number, hash: block.hash, time: block.time }
    yield block
    const final = number - (this.#plan.isHistory ? 0 : FINAL_LAG)
    if (number % BLOCKS_PER_FINAL !== 0 || final <= FIRST_NUMBER) return
    yield { kind: 'final', chain: this.#chain, upTo: { number: final, hash: hex(final, 32) } }
  }

  #transaction(pair: number, index: number): RawTransaction {
    const hash = hex(this.#place.number * 1_000 + index, 32)
    const from = addressOf('aa', this.#dice(WALLETS))
    const moves = this.#plan.hasTransfers ? transfers(pair, index, from) : []
    const first = LOGS_PER_SWAP * index + moves.length
    const swap = pair % 2 === 1 ? this.#v2(pair, first) : this.#v3(pair, first)
    return { index, hash, from, logs: [...moves, ...swap] }
  }

  /** The day of the recorded pool goes on in every such pool, each at its own hour, those of dollars at the same. */
  #v3(pair: number, index: number): RawLog[] {
    const { concentrated } = this.#recorded
    const hour = DOLLARS.has(pair) ? 0 : pair * 37
    const { topics, data } = must(concentrated[(hour + this.#place.number) % concentrated.length])
    return [{ index, address: poolOf(pair), topics, data }]
  }

  /** A recorded trade, larger or smaller, at a price that is a little higher or lower. */
  #v2(pair: number, index: number): RawLog[] {
    const { pairs } = this.#recorded
    const { topics, reserves, amountIn, isFirstIn } = must(pairs[pair % pairs.length])
    const shift = BigInt(this.#dice(400) - 200)
    const reserve0 = (reserves[0] * (10_000n + shift)) / 10_000n
    const reserve1 = (inQuote(reserves[1], pair) * (10_000n - shift)) / 10_000n + 1n
    const usual = isFirstIn ? amountIn : inQuote(amountIn, pair)
    const paid = (usual * BigInt(200 + this.#dice(2_000))) / 1_000n + 1n
    // Never nothing: that would be no trade.
    const got = (isFirstIn ? (paid * reserve1) / reserve0 : (paid * reserve0) / reserve1) + 1n
    const amounts = isFirstIn ? [paid, 0n, 0n, got] : [0n, paid, got, 0n]
    const address = poolOf(pair)
    return [
      { index, address, topics: [SYNC], data: words(reserve0, reserve1) },
      { index: index + 1, address, topics: [PAIR_SWAP, ...topics.slice(1)], data: words(...amounts) },
    ]
  }

  #drawPair(): number {
    return Math.floor((this.#plan.pairs + 1) ** this.#chance()) - 1
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
  const isV2 = pair % 2 === 1
  const pool: Fact = {
    type: 'pool',
    address: poolOf(pair),
    factory: isV2 ? V2_FACTORY : V3_FACTORY,
    tokens: tokensOf(pair),
    pricing: { kind: isV2 ? 'reserves' : 'sqrtPrice' },
    // So much that what a pool is said to pay out, round after round, never runs out.
    reservesBefore: isV2 ? undefined : [10n ** 17n, 10n ** 26n],
  }
  const dollar = DOLLARS.get(pair)
  if (dollar !== undefined) {
    return [
      tokenFact(dollar.address, dollar.symbol, 6),
      ...(pair === 0 ? [tokenFact(WETH, 'WETH', 18)] : []),
      pool,
    ]
  }
  // A pool of USDC has it in the place of the recorded one's USDC, and its token in that of WETH.
  const decimals = isV2 || isAgainstUsdc(pair) ? 18 : 6
  return [tokenFact(tokenOf(pair), `TOK${pair % 1_000}`, decimals), pool]
}

/** In the order of the recorded events: those of V3 are of USDC and WETH, in those of V2 the second one pays. */
function tokensOf(pair: number): [string, string] {
  const dollar = DOLLARS.get(pair)
  if (dollar !== undefined) return [dollar.address, WETH]
  const token = tokenOf(pair)
  if (!isAgainstUsdc(pair)) return [token, WETH]
  return pair % 2 === 1 ? [token, USDC] : [USDC, token]
}

/** One of V2 and one of V3 among ten, and none whose token has a second pair. */
function isAgainstUsdc(pair: number): boolean {
  return pair % 10 === 3 || (pair % 10 === 2 && !DOLLARS.has(pair))
}

/** What a recorded amount of WETH is in the asset that a pair is traded against. */
function inQuote(amountRaw: bigint, pair: number): bigint {
  return isAgainstUsdc(pair) ? (amountRaw * WETH_USD) / 10n ** 12n + 1n : amountRaw
}

/** All that happened to a token before it was met: the pool got what there is. */
function historyOf(pair: number, upTo: number): Fact {
  const creator = addressOf('aa', pair % WALLETS)
  return {
    type: 'transfers',
    address: DOLLARS.get(pair)?.address ?? tokenOf(pair),
    upTo,
    isLast: true,
    first: { time: 1_600_000_000, sender: creator },
    gains: [{ holder: poolOf(pair), amountRaw: POOL_HOLDS }],
    ...{ issuedRaw: POOL_HOLDS, burnedRaw: 0n, mintedToZeroRaw: 0n },
  }
}

/** One token goes to the pool, the other comes from it; every other wallet buys. */
function transfers(pair: number, index: number, wallet: string): RawLog[] {
  const ends = [wallet, poolOf(pair)].map((address) => `0x${'0'.repeat(24)}${address.slice(2)}`)
  const back = ends.toReversed()
  return tokensOf(pair).map((address, side) => ({
    index: LOGS_PER_SWAP * index + side,
    address,
    topics: [TRANSFER, ...((index + side) % 2 === 0 ? ends : back)],
    data: words(10n ** 15n + BigInt(index)),
  }))
}

/** One token in ten has two pairs. */
function tokenOf(pair: number): string {
  return addressOf('cc', pair % PAIRS_PER_GROUP === 18 ? pair - 2 : pair)
}

function tokenFact(address: string, symbol: string, decimals: number): Fact {
  const raw = Buffer.from(symbol)
  return { type: 'token', address, nameRaw: raw, symbolRaw: raw, decimals, supplyRaw: 10n ** 27n }
}

export function poolOf(pair: number): string {
  return addressOf('bb', pair)
}

/** The pair whose pool or token has this address. */
export function pairOfAddress(address: string): number | undefined {
  const [, kind, digits] = /^0x.{8}(bb|cc)(.{30})$/.exec(address) ?? []
  const pair = Number.parseInt(digits ?? '', 16)
  return kind !== undefined && addressOf(kind, pair) === address ? pair : undefined
}

function addressOf(kind: string, number: number): string {
  return `0x${spreadOf(number).toString(16).padStart(8, '0')}${kind}${number.toString(16).padStart(30, '0')}`
}

/** The first four bytes of an address. Like those of real addresses, neighbors in rank are not neighbors in a sorted store. */
export function spreadOf(number: number): number {
  return Math.imul(number + 1, 0x9e3779b1) >>> 0
}

function hex(number: number, size: number): string {
  const spread = Math.imul(number + 1, 0x85ebca6b) >>> 0
  return `0x${spread.toString(16).padStart(8, '0')}${number.toString(16).padStart(size * 2 - 8, '0')}`
}

function must<T>(item: T | undefined): T {
  if (item === undefined) throw new Error('nothing recorded')
  return item
}
