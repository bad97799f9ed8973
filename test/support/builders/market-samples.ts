import type {
  Candle,
  Change,
  ChangeSet,
  LiquidityEvent,
  MainPairSwitch,
  Pair,
  Token,
  Trade,
  Windows,
} from '../../../src/domain/change.ts'
import { PRICE_DIGITS, parseFixed, VALUE_DIGITS } from '../../../src/domain/money.ts'

/** Small, readable records for tests that state what they expect by hand. */
import { encodeChangeSet, type OpenedChangeSet, openChangeSet } from '../../../src/wire/change-codec.ts'

export const WETH = `0x${'e'.repeat(40)}`
export const USDC = `0x${'c'.repeat(40)}`
export const MEME = `0x${'a'.repeat(40)}`
export const MEME_WETH = `0x${'1'.repeat(40)}`
export const MEME_USDC = `0x${'2'.repeat(40)}`
export const WALLET = `0x${'f'.repeat(40)}`
export const ROUTER = `0x${'d'.repeat(40)}`
export const TX_HASH = `0x${'7'.repeat(64)}`

export function price(text: string): bigint {
  return fixed(text, PRICE_DIGITS)
}

export function value(text: string): bigint {
  return fixed(text, VALUE_DIGITS)
}

export function samplePair(overrides: Partial<Pair> = {}): Pair {
  return {
    address: MEME_WETH,
    amm: 'uniswap_v2',
    token0: {
      token: MEME,
      symbol: 'MEME',
      decimals: 9,
      reserveRaw: 2_000_000_500_000_000n,
      initialReserveRaw: 1_000_000_000_000_000n,
      priceUsd: price('0.003'),
      priceNative: price('0.0000015'),
    },
    token1: {
      token: WETH,
      symbol: 'WETH',
      decimals: 18,
      reserveRaw: 3_000_000_000_000_000_000n,
      initialReserveRaw: 1_500_000_000_000_000_000n,
      priceUsd: price('2000'),
      priceNative: price('1'),
    },
    targetToken: MEME,
    isMain: true,
    tvlUsd: value('12000.5'),
    tvlNative: value('6'),
    fdvUsd: value('3000000'),
    createdAt: 1_700_000_000,
    updatedAt: 1_700_000_120,
    firstTradeAt: 1_700_000_060,
    lastTradeAt: 1_700_000_110,
    lastTradePriceUsd: price('0.0031'),
    lastSide: 'buy',
    athPriceUsd: price('0.004'),
    ...overrides,
  }
}

/** What surrounds a candle or pair of which nothing else is known. */
export const ALONE = { windows: undefined, pair: undefined, times: undefined }

/** Windows of which nothing is known, nor since when. */
export const NO_WINDOWS = { windows: undefined, headTime: undefined, since: undefined }

export function pairAlone(pair: Pair) {
  return { chain: 'eth', pair, target: undefined, windows: undefined, times: undefined }
}

/** A pair that traded for 250.5 dollars in the last 24 hours: bought twice, sold once, all in the last hour. */
export function sampleWindows(overrides: Partial<Windows> = {}): Windows {
  const busy = {
    ...{ buyUsd: value('200.5'), sellUsd: value('50'), buys: 2, sells: 1 },
    ...{ makers: 2, buyers: 2, sellers: 1, openUsd: price('0.002') },
  }
  const idle = {
    ...{ buyUsd: 0n, sellUsd: 0n, buys: 0, sells: 0 },
    ...{ makers: 0, buyers: 0, sellers: 0, openUsd: price('0.004') },
  }
  return {
    pair: MEME_WETH,
    token: MEME,
    lengths: [idle, idle, idle, busy, busy, busy],
    amountRaw: 80_000_000_000_000n,
    highUsd: price('0.0032'),
    lowUsd: price('0.0028'),
    priceUsd: price('0.003'),
    day: 19_675,
    dayOpenUsd: price('0.0024'),
    ...overrides,
  }
}

export function sampleToken(overrides: Partial<Token> = {}): Token {
  return {
    address: MEME,
    name: 'Meme Coin',
    symbol: 'MEME',
    decimals: 9,
    supplyRaw: 1_000_000_000_000_000_000n,
    priceUsd: price('0.003'),
    priceNative: price('0.0000015'),
    mainPair: MEME_WETH,
    mainPairTvlUsd: value('12000.5'),
    tvlUsd: value('12500.75'),
    fdvUsd: value('3000000'),
    marketCapUsd: value('2400000'),
    holding: {
      holders: 321,
      burnedRaw: 150_000_000_000_000_000n,
      lockedRaw: 50_000_000_000_000_000n,
      circulatingRaw: 800_000_000_000_000_000n,
    },
    origin: { time: 1_690_000_000, creator: WALLET },
    launch: { time: 1_690_000_060, priceUsd: price('0.0001') },
    platform: undefined,
    risk: { score: 15, isHoneypot: false, isMintable: false },
    updatedAt: 1_700_000_120,
    ...overrides,
  }
}

export function sampleTrade(overrides: Partial<Trade> = {}): Trade {
  return {
    key: { block: 100, tx: 3, log: 17 },
    time: 1_700_000_110,
    pair: MEME_WETH,
    amm: 'uniswap_v2',
    transaction: TX_HASH,
    sender: ROUTER,
    recipient: WALLET,
    wallet: WALLET,
    targetToken: MEME,
    side: 'buy',
    sold: {
      token: WETH,
      symbol: 'WETH',
      decimals: 18,
      amountRaw: 50_000_000_000_000_000n,
      reserveRaw: 3_000_000_000_000_000_000n,
      priceUsd: price('2000'),
      priceNative: price('1'),
    },
    bought: {
      token: MEME,
      symbol: 'MEME',
      decimals: 9,
      amountRaw: 32_000_123_456_789n,
      reserveRaw: 2_000_000_500_000_000n,
      priceUsd: price('0.0031'),
      priceNative: price('0.00000155'),
    },
    valueUsd: value('100'),
    valueNative: value('0.05'),
    liquidityUsd: value('12000.5'),
    liquidityNative: value('6'),
    ...overrides,
  }
}

export function sampleCandle(overrides: Partial<Candle> = {}): Candle {
  return {
    pair: MEME_WETH,
    interval: 'k1',
    start: 1_700_000_100,
    usd: {
      open: price('0.0029'),
      high: price('0.0032'),
      low: price('0.0028'),
      close: price('0.0031'),
      volume: value('250.5'),
    },
    native: {
      open: price('0.00000145'),
      high: price('0.0000016'),
      low: price('0.0000014'),
      close: price('0.00000155'),
      volume: value('0.12525'),
    },
    quote: {
      open: price('0.00000145'),
      high: price('0.0000016'),
      low: price('0.0000014'),
      close: price('0.00000155'),
      volume: value('0.12525'),
    },
    tradeCount: 2,
    firstTrade: { block: 99, tx: 0, log: 2 },
    lastTrade: { block: 100, tx: 3, log: 17 },
    ...overrides,
  }
}

/** 1,000 MEME and 0.0015 WETH were added to the pool. */
export function sampleLiquidity(overrides: Partial<LiquidityEvent> = {}): LiquidityEvent {
  const { sold, bought } = sampleTrade()
  return {
    key: { block: 100, tx: 5, log: 31 },
    time: 1_700_000_112,
    pair: MEME_WETH,
    kind: 'addLiquidity',
    amm: 'uniswap_v2',
    transaction: TX_HASH,
    provider: ROUTER,
    wallet: WALLET,
    side0: { ...bought, amountRaw: 1_000_000_000_000n },
    side1: { ...sold, amountRaw: 1_500_000_000_000_000n },
    valueUsd: value('6.1'),
    valueNative: value('0.00305'),
    liquidityUsd: value('12006.6'),
    liquidityNative: value('6.00305'),
    ...overrides,
  }
}

/** MEME's main pair was the one with WETH, and is the one with USDC. */
export function sampleSwitch(overrides: Partial<MainPairSwitch> = {}): MainPairSwitch {
  return {
    ...{ token: MEME, block: 100, time: 1_700_000_110, reason: 'deeper' as const },
    ...{ oldPair: MEME_WETH, newPair: MEME_USDC },
    ...overrides,
  }
}

export function sampleSet(
  seq: number,
  changes: readonly Change[],
  overrides: Partial<ChangeSet> = {},
): ChangeSet {
  return {
    chain: 'eth',
    seq,
    cause: 'block',
    head: { number: 100 + seq, hash: `0x${String(seq).padStart(64, '0')}`, time: 1_700_000_000 + seq },
    finalNumber: 90,
    changes,
    ...overrides,
  }
}

function fixed(text: string, digits: number): bigint {
  const parsed = parseFixed(text, digits)
  if (parsed === undefined) throw new Error(`not a decimal: ${text}`)
  return parsed
}

/** As it comes from the log. */
export function sampleMessage(...set: Parameters<typeof sampleSet>): OpenedChangeSet {
  return openChangeSet(encodeChangeSet(sampleSet(...set)))
}
