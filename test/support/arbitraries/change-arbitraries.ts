import fc from 'fast-check'
import {
  type Balance,
  type Candle,
  type CandleRef,
  type CandleValues,
  type Change,
  type ChangeSet,
  type EventRef,
  type EventSide,
  LIQUIDITY_KINDS,
  type LiquidityEvent,
  type MainPairSwitch,
  type Pair,
  type PairSide,
  SWITCH_REASONS,
  type Token,
  type Trade,
  type TradeDirection,
  type TradeHoldings,
  type WindowSums,
  type Windows,
  type WindowsRef,
} from '../../../src/domain/change.ts'
import type { WalletHolding } from '../../../src/domain/wallet-balances.ts'
import { WINDOWS } from '../../../src/domain/window.ts'
import { report } from './contract-arbitraries.ts'
import {
  address,
  anyId,
  chainName,
  decimals,
  hash,
  interval,
  known,
  orderKey,
  plain,
  short,
  signed,
  text,
  uint,
  uint256,
} from './value-arbitraries.ts'

const money = known(uint256)
const direction = known(fc.constantFrom<TradeDirection>('buy', 'sell'))

export const eventSide: fc.Arbitrary<EventSide> = plain<EventSide>({
  token: address,
  symbol: text,
  decimals: known(decimals),
  amountRaw: uint256,
  reserveRaw: uint256,
  priceUsd: money,
  priceNative: money,
})

export const eventRef: fc.Arbitrary<EventRef> = plain<EventRef>({ key: orderKey, time: uint, pair: anyId })

const holding = plain<WalletHolding>({ amountRaw: uint256, accounts: fc.nat(255) })

const holdings = plain<TradeHoldings>({
  isToken0Sold: fc.boolean(),
  nativeRaw: money,
  sold: known(holding),
  bought: known(holding),
})

const tradeWithoutHoldings = plain<Omit<Trade, 'holdings'>>({
  key: orderKey,
  time: uint,
  pair: address,
  amm: text,
  transaction: hash,
  sender: anyId,
  recipient: address,
  wallet: address,
  targetToken: known(address),
  side: direction,
  sold: eventSide,
  bought: eventSide,
  valueUsd: money,
  valueNative: money,
  liquidityUsd: money,
  liquidityNative: money,
})

export const trade: fc.Arbitrary<Trade> = fc
  .tuple(tradeWithoutHoldings, fc.option(holdings))
  .map(([one, held]) => (held === null ? one : { ...one, holdings: held }))

export const candleRef: fc.Arbitrary<CandleRef> = plain<CandleRef>({ pair: anyId, interval, start: uint })

export const candleValues: fc.Arbitrary<CandleValues> = plain<CandleValues>({
  open: uint256,
  high: uint256,
  low: uint256,
  close: uint256,
  volume: known(uint256),
})

const candleInEachUnit = plain<Candle>({
  pair: address,
  interval,
  start: uint,
  usd: known(candleValues),
  native: known(candleValues),
  quote: known(candleValues),
  tradeCount: uint,
  firstTrade: orderKey,
  lastTrade: orderKey,
})

/** What is quoted in a dollar, or in the native coin, has the same values in both units. */
export const candle: fc.Arbitrary<Candle> = fc
  .tuple(candleInEachUnit, fc.constantFrom('usd', 'native', 'quote'))
  .map(([one, unit]) => ({ ...one, quote: one[unit] }))

const pairSide = plain<PairSide>({
  token: address,
  symbol: text,
  decimals: known(decimals),
  reserveRaw: uint256,
  initialReserveRaw: uint256,
  priceUsd: money,
  priceNative: money,
})

export const pair: fc.Arbitrary<Pair> = plain<Pair>({
  address: anyId,
  amm: text,
  token0: pairSide,
  token1: pairSide,
  targetToken: known(address),
  isMain: fc.boolean(),
  tvlUsd: money,
  tvlNative: money,
  fdvUsd: money,
  createdAt: known(uint),
  updatedAt: uint,
  firstTradeAt: known(uint),
  lastTradeAt: known(uint),
  lastTradePriceUsd: money,
  lastSide: direction,
  athPriceUsd: money,
})

export const token: fc.Arbitrary<Token> = plain<Token>({
  address: anyId,
  name: text,
  symbol: text,
  decimals: known(decimals),
  supplyRaw: money,
  priceUsd: money,
  priceNative: money,
  mainPair: known(address),
  mainPairTvlUsd: money,
  tvlUsd: money,
  fdvUsd: money,
  marketCapUsd: money,
  holding: known(
    plain<NonNullable<Token['holding']>>({
      holders: known(uint),
      burnedRaw: uint256,
      lockedRaw: uint256,
      circulatingRaw: known(uint256),
    }),
  ),
  origin: known(plain<NonNullable<Token['origin']>>({ time: uint, creator: address })),
  launch: known(plain<NonNullable<Token['launch']>>({ time: uint, priceUsd: money })),
  platform: known(
    plain<NonNullable<Token['platform']>>({
      name: text,
      createdAt: known(uint),
      progressPpm: known(fc.nat(1_000_000)),
      graduatedAt: known(uint),
    }),
  ),
  risk: known(
    plain<NonNullable<Token['risk']>>({
      score: fc.nat(100),
      isHoneypot: known(fc.boolean()),
      isMintable: fc.boolean(),
    }),
  ),
  updatedAt: uint,
})

export const balance: fc.Arbitrary<Balance> = plain<Balance>({
  token: anyId,
  holder: anyId,
  amountRaw: signed,
  beforeRaw: signed,
})

export const liquidity: fc.Arbitrary<LiquidityEvent> = plain<LiquidityEvent>({
  key: orderKey,
  time: uint,
  pair: address,
  kind: fc.constantFrom(...LIQUIDITY_KINDS),
  amm: text,
  transaction: hash,
  provider: anyId,
  wallet: address,
  side0: eventSide,
  side1: eventSide,
  valueUsd: money,
  valueNative: money,
  liquidityUsd: money,
  liquidityNative: money,
})

export const mainPairSwitch: fc.Arbitrary<MainPairSwitch> = plain<MainPairSwitch>({
  token: address,
  block: uint,
  time: uint,
  oldPair: address,
  newPair: address,
  reason: fc.constantFrom(...SWITCH_REASONS),
})

const windowsRef = plain<WindowsRef>({ pair: known(anyId), token: known(anyId) })

/** Few different values, so that neighbours are often alike. */
const windowPrice = fc.oneof(fc.constantFrom(undefined, 1n, 2n), uint256)

const windowSums = plain<WindowSums>({
  buyUsd: fc.oneof(fc.constantFrom(undefined, 0n, 1n), uint256),
  sellUsd: fc.oneof(fc.constantFrom(undefined, 0n, 1n), uint256),
  buys: fc.constantFrom(0, 1, 300),
  sells: fc.constantFrom(0, 1, 300),
  makers: fc.constantFrom(0, 1, 300),
  buyers: fc.constantFrom(0, 1),
  sellers: fc.constantFrom(0, 1),
  openUsd: windowPrice,
})

export const windows: fc.Arbitrary<Windows> = plain<Windows>({
  pair: known(anyId),
  token: known(anyId),
  lengths: fc.array(windowSums, { minLength: WINDOWS.length, maxLength: WINDOWS.length }),
  amountRaw: money,
  highUsd: windowPrice,
  lowUsd: windowPrice,
  priceUsd: windowPrice,
  day: uint,
  dayOpenUsd: windowPrice,
})

type ChangeOf<Type extends Change['type']> = Extract<Change, { type: Type }>

/** Keyed by type, so that a new kind of change without a generator does not compile. */
const changes: { [Type in Change['type']]: fc.Arbitrary<ChangeOf<Type>> } = {
  trade: plain<ChangeOf<'trade'>>({ type: fc.constant('trade'), trade }),
  candle: plain<ChangeOf<'candle'>>({ type: fc.constant('candle'), candle }),
  pair: plain<ChangeOf<'pair'>>({ type: fc.constant('pair'), pair }),
  token: plain<ChangeOf<'token'>>({ type: fc.constant('token'), token }),
  tradeRemoved: plain<ChangeOf<'tradeRemoved'>>({ type: fc.constant('tradeRemoved'), trade: eventRef }),
  candleRemoved: plain<ChangeOf<'candleRemoved'>>({ type: fc.constant('candleRemoved'), candle: candleRef }),
  pairRemoved: plain<ChangeOf<'pairRemoved'>>({ type: fc.constant('pairRemoved'), pair: anyId }),
  tokenRemoved: plain<ChangeOf<'tokenRemoved'>>({ type: fc.constant('tokenRemoved'), token: anyId }),
  liquidity: plain<ChangeOf<'liquidity'>>({ type: fc.constant('liquidity'), liquidity }),
  windows: plain<ChangeOf<'windows'>>({ type: fc.constant('windows'), windows }),
  switch: plain<ChangeOf<'switch'>>({ type: fc.constant('switch'), switch: mainPairSwitch }),
  balance: plain<ChangeOf<'balance'>>({ type: fc.constant('balance'), balance }),
  contract: plain<ChangeOf<'contract'>>({ type: fc.constant('contract'), contract: report }),
  contractRemoved: plain<ChangeOf<'contractRemoved'>>({ type: fc.constant('contractRemoved'), token: anyId }),
  liquidityRemoved: plain<ChangeOf<'liquidityRemoved'>>({
    type: fc.constant('liquidityRemoved'),
    liquidity: eventRef,
  }),
  windowsRemoved: plain<ChangeOf<'windowsRemoved'>>({
    type: fc.constant('windowsRemoved'),
    windows: windowsRef,
  }),
  switchRemoved: plain<ChangeOf<'switchRemoved'>>({
    type: fc.constant('switchRemoved'),
    switch: mainPairSwitch,
  }),
}

export const change: fc.Arbitrary<Change> = fc.oneof(...Object.values(changes))

export const changeSet: fc.Arbitrary<ChangeSet> = plain<ChangeSet>({
  chain: chainName,
  seq: uint,
  cause: fc.constantFrom('block', 'undo', 'final'),
  head: plain<ChangeSet['head']>({ number: uint, hash, time: uint }),
  finalNumber: uint,
  changes: short(change, 8),
})
