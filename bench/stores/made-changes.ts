import type {
  Candle,
  CandleRef,
  Change,
  ChangeSet,
  EventSide,
  Pair,
  Token,
  Trade,
  Windows,
} from '../../src/domain/change.ts'
import { candleStart, INTERVALS } from '../../src/domain/interval.ts'
import { pow10 } from '../../src/domain/money.ts'
import { WINDOWS } from '../../src/domain/window.ts'

/** As long as the numbers of a real market: a price of a few dollars has forty decimal places. */
const PRICE = 2_012_512_345_678_901_234_567_890_123_456_789_012_345n
const VALUE = 12_345_678_901_234_567_890n
const AMOUNT = 54_321_987_654_321_987_654n
const FIRST_TIME = 1_750_000_000

const address = (kind: number, index: number): string =>
  `0x${(BigInt(kind) * pow10(30) + BigInt(index) * 7_919_777n).toString(16).padStart(40, '0')}`

/** What one block's trades, each in a pair of its own, change: a trade, ten candles, windows, a pair and a token. */
export function makeSet(seq: number, pairs: number, firstPair = 0): ChangeSet {
  const time = FIRST_TIME + seq * 12
  const changes: Change[] = []
  for (let index = firstPair; index < firstPair + pairs; index++) {
    const worth = BigInt(seq * 1_000 + index)
    const pair = address(1, index)
    const key = { block: 20_000_000 + seq, tx: index - firstPair, log: (index - firstPair) * 3 }
    changes.push({ type: 'trade', trade: makeTrade(pair, index, key, time, worth) })
    for (const [at, interval] of INTERVALS.entries()) {
      changes.push({
        type: 'candle',
        candle: makeCandle({ pair, interval, start: candleStart(interval, time) }, key, worth, BigInt(at)),
      })
    }
    changes.push({ type: 'pair', pair: makePair(pair, index, time, worth) })
    changes.push({ type: 'token', token: makeToken(pair, index, time, worth) })
    changes.push({ type: 'windows', windows: makeWindows(pair, address(2, index), worth) })
  }
  const head = { number: 20_000_000 + seq, hash: `0x${seq.toString(16).padStart(64, '0')}`, time }
  return { chain: 'eth', seq, cause: 'block', head, finalNumber: 20_000_000, changes }
}

/** Candles of the same moment share only the last price. */
export function makeCandle(ref: CandleRef, key: Trade['key'], worth: bigint, nth = 0n): Candle {
  const values = (scale: bigint) => ({
    open: (PRICE - nth * pow10(31)) / scale,
    high: (PRICE + (worth + nth) * pow10(30)) / scale,
    low: (PRICE - (worth + nth) * pow10(30)) / scale,
    close: (PRICE + worth) / scale,
    volume: (VALUE * (worth + nth + 1n)) / scale,
  })
  return {
    ...{ ...ref, usd: values(1n), native: values(2_000n), quote: values(2_000n) },
    ...{ tradeCount: 17, firstTrade: { ...key, block: key.block - 3 }, lastTrade: key },
  }
}

function makeSide(token: string, worth: bigint): EventSide {
  return {
    ...{
      token,
      symbol: 'TAPE',
      decimals: 18,
      amountRaw: AMOUNT + worth,
      reserveRaw: AMOUNT * 1_000n + worth,
    },
    ...{ priceUsd: PRICE + worth, priceNative: (PRICE + worth) / 2_000n },
  }
}

function makeTrade(pair: string, index: number, key: Trade['key'], time: number, worth: bigint): Trade {
  const wallet = address(3, index)
  return {
    ...{ key, time, pair, amm: 'uniswap_v2', transaction: `0x${wallet.slice(2)}${'ab'.repeat(12)}` },
    ...{ sender: address(4, 1), recipient: wallet, wallet, targetToken: address(2, index), side: 'buy' },
    ...{ sold: makeSide(address(5, 1), worth), bought: makeSide(address(2, index), worth) },
    ...{ valueUsd: VALUE + worth, valueNative: VALUE / 2_000n + worth },
    ...{ liquidityUsd: VALUE * 1_000n + worth, liquidityNative: VALUE + worth },
  }
}

function makePair(pair: string, index: number, time: number, worth: bigint): Pair {
  const side = (token: string): Pair['token0'] => {
    const { amountRaw, ...rest } = makeSide(token, worth)
    return { ...rest, initialReserveRaw: amountRaw }
  }
  return {
    ...{ address: pair, amm: 'uniswap_v2', token0: side(address(2, index)), token1: side(address(5, 1)) },
    ...{ targetToken: address(2, index), isMain: true, tvlUsd: VALUE + worth, tvlNative: VALUE / 2_000n },
    ...{ fdvUsd: VALUE * 10n + worth, createdAt: FIRST_TIME, updatedAt: time, firstTradeAt: FIRST_TIME },
    ...{ lastTradeAt: time, lastTradePriceUsd: PRICE + worth, lastSide: 'buy', athPriceUsd: PRICE * 2n },
  }
}

function makeToken(pair: string, index: number, time: number, worth: bigint): Token {
  return {
    ...{ address: address(2, index), name: 'Consolidated Tape', symbol: 'TAPE', decimals: 18 },
    ...{ supplyRaw: AMOUNT * 10_000n, priceUsd: PRICE + worth, priceNative: PRICE / 2_000n, mainPair: pair },
    ...{ mainPairTvlUsd: VALUE + worth, tvlUsd: VALUE + worth, fdvUsd: VALUE * 10n + worth, updatedAt: time },
    ...{
      marketCapUsd: VALUE * 9n + worth,
      holding: { holders: 9_000 + index, burnedRaw: AMOUNT, lockedRaw: 0n, circulatingRaw: AMOUNT * 9_999n },
    },
    ...{
      origin: { time: FIRST_TIME, creator: address(6, index) },
      launch: { time: FIRST_TIME, priceUsd: PRICE },
    },
    ...{ platform: undefined, risk: { score: 12, isHoneypot: false, isMintable: false } },
  }
}

function makeWindows(pair: string, token: string, worth: bigint): Windows {
  const lengths = WINDOWS.map((_, at) => ({
    ...{ buyUsd: VALUE * BigInt(at + 1) + worth, sellUsd: VALUE * BigInt(at + 2) },
    ...{ buys: 3 + at, sells: 2 + at, makers: 9, buyers: 5, sellers: 6, openUsd: PRICE + BigInt(at) },
  }))
  return {
    ...{ pair, token, lengths, amountRaw: AMOUNT * 7n + worth },
    ...{ highUsd: PRICE * 2n, lowUsd: PRICE / 2n, priceUsd: PRICE + worth, day: 20_254, dayOpenUsd: PRICE },
  }
}
