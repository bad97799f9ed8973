import {
  type Balance,
  type Candle,
  type CandleValues,
  type EventSide,
  LIQUIDITY_KINDS,
  type LiquidityEvent,
  type MainPairSwitch,
  type Pair,
  SWITCH_REASONS,
  type Token,
  type Trade,
  type TradeHoldings,
  type Windows,
  type WindowsRef,
} from '../../../src/domain/change.ts'
import { candleStart, type Interval } from '../../../src/domain/interval.ts'
import { dayOf, WINDOWS } from '../../../src/domain/window.ts'

export type Pool = { readonly address: string; readonly token0: string; readonly token1: string }

const MAX_UINT256 = 2n ** 256n - 1n
const MAX_MONEY = 10n ** 76n - 1n

/** A repeatable source of chance: mulberry32. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }

  hex(bytes: number): string {
    return `0x${Array.from({ length: bytes }, () => this.below(256).toString(16).padStart(2, '0')).join('')}`
  }

  big(max: bigint): bigint {
    if (this.below(20) === 0) return this.pick([0n, 1n, max])
    return BigInt(this.hex(this.pick([4, 9, 16, 40]))) % (max + 1n)
  }

  maybe<T>(value: T): T | undefined {
    return this.below(5) === 0 ? undefined : value
  }

  money(): bigint | undefined {
    return this.maybe(this.big(MAX_MONEY))
  }

  shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.below(1 << 30) }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item)
  }
}

export function buildTrade(dice: Dice, pool: Pool, key: Trade['key'], time: number): Trade {
  return {
    key,
    time,
    pair: pool.address,
    amm: dice.pick(['uniswap_v2', 'sushiswap_v2']),
    transaction: dice.hex(32),
    sender: dice.hex(20),
    recipient: dice.hex(20),
    wallet: dice.hex(20),
    targetToken: dice.maybe(pool.token0),
    side: dice.pick(['buy', 'sell', undefined]),
    sold: buildSide(dice, pool.token0),
    bought: buildSide(dice, pool.token1),
    valueUsd: dice.money(),
    valueNative: dice.money(),
    liquidityUsd: dice.money(),
    liquidityNative: dice.money(),
    ...(key.log % 2 === 1 && { holdings: buildHoldings(key) }),
  }
}

/** Computed from the key, so that the rest of the story stays as it is. */
function buildHoldings({ block, tx, log }: Trade['key']): TradeHoldings {
  const holding = (place: number) =>
    (tx + place) % 3 === 0
      ? undefined
      : { amountRaw: BigInt(block) ** BigInt(1 + place), accounts: (tx + log) % 8 }
  return {
    isToken0Sold: tx % 2 === 0,
    nativeRaw: log % 5 === 0 ? undefined : BigInt(block) * 1_000_000_007n,
    sold: holding(0),
    bought: holding(1),
  }
}

export function buildLiquidity(dice: Dice, pool: Pool, key: Trade['key'], time: number): LiquidityEvent {
  return {
    key,
    time,
    pair: pool.address,
    kind: dice.pick(LIQUIDITY_KINDS),
    amm: dice.pick(['uniswap_v2', 'sushiswap_v2']),
    transaction: dice.hex(32),
    provider: dice.pick([dice.hex(20), '']),
    wallet: dice.hex(20),
    side0: buildSide(dice, pool.token0),
    side1: buildSide(dice, pool.token1),
    valueUsd: dice.money(),
    valueNative: dice.money(),
    liquidityUsd: dice.money(),
    liquidityNative: dice.money(),
  }
}

function buildSide(dice: Dice, token: string): EventSide {
  return {
    token,
    symbol: dice.pick(['WETH', '', 'a"b\\', '\u{1f680}\u0000', "'; DROP TABLE trades; --", '\r\n\t']),
    decimals: dice.maybe(dice.below(256)),
    amountRaw: dice.big(MAX_UINT256),
    reserveRaw: dice.maybe(dice.big(MAX_UINT256)),
    priceUsd: dice.money(),
    priceNative: dice.money(),
  }
}

export function buildCandle(
  dice: Dice,
  pair: string,
  interval: Interval,
  key: Trade['key'],
  time: number,
): Candle {
  const values = (): CandleValues => ({
    open: dice.big(MAX_MONEY),
    high: dice.big(MAX_MONEY),
    low: dice.big(MAX_MONEY),
    close: dice.big(MAX_MONEY),
    volume: dice.big(MAX_MONEY),
  })
  const usd = dice.maybe(values())
  const native = dice.maybe(values())
  const tradeCount = dice.below(1_000)
  const turned = usd && { ...usd, open: usd.close, close: usd.open }
  return {
    pair,
    interval,
    start: candleStart(interval, time),
    usd,
    native,
    quote: [usd, native, turned][tradeCount % 3],
    tradeCount,
    firstTrade: { block: dice.below(key.block + 1), tx: dice.below(10), log: dice.below(10) },
    lastTrade: key,
  }
}

export function buildPair(dice: Dice, pool: Pool, time: number): Pair {
  const side = (token: string): Pair['token0'] => ({
    token,
    symbol: dice.pick(['WETH', 'USDT', '']),
    decimals: dice.maybe(dice.below(256)),
    reserveRaw: dice.maybe(dice.big(MAX_UINT256)),
    initialReserveRaw: dice.maybe(dice.big(MAX_UINT256)),
    priceUsd: dice.money(),
    priceNative: dice.money(),
  })
  return {
    address: pool.address,
    amm: 'uniswap_v2',
    token0: side(pool.token0),
    token1: side(pool.token1),
    targetToken: dice.maybe(pool.token0),
    isMain: dice.below(2) === 0,
    tvlUsd: dice.money(),
    tvlNative: dice.money(),
    fdvUsd: dice.money(),
    createdAt: dice.maybe(time - 5),
    updatedAt: time,
    firstTradeAt: dice.maybe(time),
    lastTradeAt: dice.maybe(time),
    lastTradePriceUsd: dice.money(),
    lastSide: dice.pick(['buy', 'sell', undefined]),
    athPriceUsd: dice.money(),
  }
}

export function buildToken(dice: Dice, address: string, time: number): Token {
  return {
    address,
    name: dice.pick(['Wrapped Ether', '', '\u202egnp.exe', 'x'.repeat(2_000)]),
    symbol: dice.pick(['WETH', '', '\u{1f680}']),
    decimals: dice.maybe(dice.below(256)),
    supplyRaw: dice.maybe(dice.big(MAX_UINT256)),
    priceUsd: dice.money(),
    priceNative: dice.money(),
    mainPair: dice.maybe(dice.hex(20)),
    mainPairTvlUsd: dice.money(),
    tvlUsd: dice.money(),
    fdvUsd: dice.money(),
    marketCapUsd: dice.money(),
    holding: dice.maybe({
      holders: dice.below(1_000_000),
      burnedRaw: dice.big(MAX_UINT256),
      lockedRaw: dice.big(MAX_UINT256),
      circulatingRaw: dice.maybe(dice.big(MAX_UINT256)),
    }),
    origin: dice.maybe({ time, creator: dice.hex(20) }),
    launch: dice.maybe({ time, priceUsd: dice.money() }),
    platform: dice.maybe({
      name: 'fourmeme',
      createdAt: dice.maybe(time),
      progressPpm: dice.maybe(dice.below(1_000_001)),
      graduatedAt: dice.maybe(time),
    }),
    risk: dice.maybe({
      score: dice.below(101),
      isHoneypot: dice.pick([true, false, undefined]),
      isMintable: dice.pick([true, false]),
    }),
    updatedAt: time,
  }
}

export function buildBalance(dice: Dice, token: string): Balance {
  const size = dice.big(MAX_UINT256 / 2n)
  return { token, holder: dice.hex(20), amountRaw: dice.below(5) === 0 ? -size : size, beforeRaw: 0n }
}

export function buildWindows(dice: Dice, { pair, token }: WindowsRef, time: number): Windows {
  return {
    pair,
    token,
    lengths: WINDOWS.map(() => ({
      buyUsd: dice.pick([0n, dice.big(MAX_MONEY)]),
      sellUsd: dice.pick([0n, dice.big(MAX_MONEY / 10n)]),
      buys: dice.below(1_000),
      sells: dice.below(1_000),
      makers: dice.below(1_000),
      buyers: dice.below(1_000),
      sellers: dice.below(1_000),
      openUsd: dice.money(),
    })),
    amountRaw: dice.big(MAX_UINT256),
    highUsd: dice.money(),
    lowUsd: dice.money(),
    priceUsd: dice.money(),
    day: dayOf(time),
    dayOpenUsd: dice.money(),
  }
}

export function buildSwitch(dice: Dice, token: string, block: number, time: number): MainPairSwitch {
  return {
    token,
    block,
    time,
    oldPair: dice.hex(20),
    newPair: dice.hex(20),
    reason: dice.pick(SWITCH_REASONS),
  }
}
