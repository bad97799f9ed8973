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
  type WindowSums,
  type Windows,
  type WindowsRef,
} from '../../src/domain/change.ts'
import type { BlockRef, Envelope, Fact, RawLog, RawTransaction } from '../../src/domain/envelope.ts'
import { INTERVALS, type Interval } from '../../src/domain/interval.ts'
import type { OrderKey } from '../../src/domain/order-key.ts'
import { WINDOWS } from '../../src/domain/window.ts'
import { inspection, report } from './contract-arbitraries.ts'

export const MAX_UINT256 = 2n ** 256n - 1n

/** Every record we decode is a plain object with all its keys, so the generated ones are too. */
function plain<T>(fields: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>
}

function known<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq: 3 })
}

function short<T>(item: fc.Arbitrary<T>, maxLength = 4): fc.Arbitrary<T[]> {
  return fc.array(item, { maxLength, size: 'max' })
}

/** Any unsigned integer that a number holds exactly, the edges of its wire form often. */
export const uint: fc.Arbitrary<number> = fc.oneof(
  fc.nat(300),
  fc.maxSafeNat(),
  fc.constantFrom(0, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 49, Number.MAX_SAFE_INTEGER),
)

export const uint256: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX_UINT256 }),
  fc.bigInt({ min: 0n, max: 10n ** 24n }),
  fc.nat(77).map((exponent) => 10n ** BigInt(exponent)),
  fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n, 2n ** 112n - 1n, 2n ** 255n, MAX_UINT256),
)

const signed: fc.Arbitrary<bigint> = fc.oneof(
  uint256,
  uint256.map((size) => -size),
)

export const bytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 300, size: 'max' })

const hostileTexts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ufeffBOM',
  '\u202egnp.exe',
  'e\u0301',
  '\u200d\u200b',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  '\u{10ffff}',
  '\ufffd',
  '__proto__',
  'constructor',
  'null',
  "'; DROP TABLE trades; --",
  '<script>alert(1)</script>',
  '\r\n\t\u2028\u2029',
  'x'.repeat(5_000),
  '\u{1f680}'.repeat(200),
]

/** Text as a token may name itself: any well-formed Unicode. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary-ascii', maxLength: 20 }),
  fc.constantFrom(...hostileTexts),
)

function hex(size: number): fc.Arbitrary<string> {
  return fc
    .uint8Array({ minLength: size, maxLength: size })
    .map((content) => `0x${Buffer.from(content).toString('hex')}`)
}

const BASE58 = [...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz']

function base58(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...BASE58), minLength, maxLength })
}

export const evmAddress: fc.Arbitrary<string> = hex(20)
export const evmHash: fc.Arbitrary<string> = hex(32)
export const solanaAddress: fc.Arbitrary<string> = base58(32, 44)
export const solanaSignature: fc.Arbitrary<string> = base58(86, 88)

/** Almost hex, so that the short form must not be taken. */
const almostHex = fc.constantFrom(
  '',
  '0x',
  '0',
  '0x0',
  '0xABCD',
  '0xabcg',
  '0x00 ',
  'x00',
  '0X00',
  '00',
  '0x00\n',
)

export const address: fc.Arbitrary<string> = fc.oneof(evmAddress, solanaAddress)
export const hash: fc.Arbitrary<string> = fc.oneof(evmHash, solanaSignature)
/** What `id` must carry, whatever it is. */
export const anyId: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: address, weight: 4 },
  { arbitrary: hash, weight: 2 },
  almostHex,
  text,
)

export const chainName: fc.Arbitrary<string> = fc.stringMatching(/^[a-z][a-z0-9_]{0,31}$/)
export const interval: fc.Arbitrary<Interval> = fc.constantFrom(...INTERVALS)
export const decimals: fc.Arbitrary<number> = fc.nat(255)

export const orderKey: fc.Arbitrary<OrderKey> = plain<OrderKey>({
  block: uint,
  tx: fc.oneof(fc.nat(20), fc.nat(999_999)),
  log: fc.oneof(fc.nat(20), fc.nat(999_999)),
})

export const blockRef: fc.Arbitrary<BlockRef> = plain<BlockRef>({ number: uint, hash })

export const rawLog: fc.Arbitrary<RawLog> = plain<RawLog>({
  index: uint,
  address,
  topics: short(evmHash),
  data: bytes,
})

export const rawTransaction: fc.Arbitrary<RawTransaction> = plain<RawTransaction>({
  index: uint,
  hash,
  from: anyId,
  logs: short(rawLog),
})

export const fact: fc.Arbitrary<Fact> = fc.oneof(
  plain<Extract<Fact, { type: 'pool' }>>({
    type: fc.constant('pool'),
    address,
    factory: address,
    tokens: fc.array(anyId, { maxLength: 8 }),
    pricing: fc.oneof(
      plain<{ kind: 'reserves' }>({ kind: fc.constant('reserves') }),
      plain<{ kind: 'sqrtPrice' }>({ kind: fc.constant('sqrtPrice') }),
      plain<{ kind: 'trades' }>({ kind: fc.constant('trades') }),
      plain<{ kind: 'bins'; binStep: number }>({ kind: fc.constant('bins'), binStep: fc.nat(65_535) }),
    ),
    reservesBefore: known(fc.array(uint256, { maxLength: 8 })),
  }).chain((pool) => fc.option(uint256).map((goalRaw) => (goalRaw === null ? pool : { ...pool, goalRaw }))),
  plain<Extract<Fact, { type: 'token' }>>({
    type: fc.constant('token'),
    address,
    nameRaw: fc.uint8Array({ maxLength: 100 }),
    symbolRaw: fc.uint8Array({ maxLength: 100 }),
    decimals: known(decimals),
    supplyRaw: known(uint256),
  }),
  plain<Extract<Fact, { type: 'transfers' }>>({
    type: fc.constant('transfers'),
    address,
    upTo: uint,
    isLast: fc.boolean(),
    first: known(plain<{ time: number; sender: string }>({ time: uint, sender: address })),
    gains: short(plain<{ holder: string; amountRaw: bigint }>({ holder: address, amountRaw: signed })),
    issuedRaw: signed,
    burnedRaw: uint256,
    stillbornRaw: uint256,
  }),
  plain<Extract<Fact, { type: 'inspection' }>>({ type: fc.constant('inspection'), address, inspection }),
  plain<Extract<Fact, { type: 'inspectionFailure' }>>({
    type: fc.constant('inspectionFailure'),
    address,
    block: uint,
  }),
  plain<Extract<Fact, { type: 'nonCirculating' }>>({
    type: fc.constant('nonCirculating'),
    address,
    balances: short(plain<{ holder: string; amountRaw: bigint }>({ holder: address, amountRaw: uint256 })),
  }),
  plain<Extract<Fact, { type: 'balance' }>>({
    type: fc.constant('balance'),
    address,
    holder: address,
    amountRaw: uint256,
  }),
)

export const envelope: fc.Arbitrary<Envelope> = fc.oneof(
  {
    weight: 4,
    arbitrary: plain<Extract<Envelope, { kind: 'block' }>>({
      kind: fc.constant('block'),
      chain: chainName,
      number: uint,
      hash,
      parentHash: hash,
      time: uint,
      transactions: short(rawTransaction),
      facts: short(fact),
    }),
  },
  plain<Extract<Envelope, { kind: 'undo' }>>({
    kind: fc.constant('undo'),
    chain: chainName,
    lastValid: blockRef,
  }),
  plain<Extract<Envelope, { kind: 'final' }>>({
    kind: fc.constant('final'),
    chain: chainName,
    upTo: blockRef,
  }),
)

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

export const trade: fc.Arbitrary<Trade> = plain<Trade>({
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
const windowSums = plain<WindowSums>({
  buyUsd: fc.oneof(fc.constantFrom(undefined, 0n, 1n), uint256),
  sellUsd: fc.oneof(fc.constantFrom(undefined, 0n, 1n), uint256),
  buys: fc.constantFrom(0, 1, 300),
  sells: fc.constantFrom(0, 1, 300),
  makers: fc.constantFrom(0, 1, 300),
  buyers: fc.constantFrom(0, 1),
  sellers: fc.constantFrom(0, 1),
  openUsd: fc.oneof(fc.constantFrom(undefined, 1n, 2n), uint256),
})

export const windows: fc.Arbitrary<Windows> = plain<Windows>({
  pair: known(anyId),
  token: known(anyId),
  lengths: fc.array(windowSums, { minLength: WINDOWS.length, maxLength: WINDOWS.length }),
  amountRaw: money,
  highUsd: money,
  lowUsd: money,
  priceUsd: money,
  day: uint,
  dayOpenUsd: money,
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

/** A message with one thing wrong with it: far more telling to a decoder than noise. */
export function damaged(message: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(message, fc.nat(), fc.nat(255), fc.constantFrom('overwrite', 'cut', 'insert', 'remove', 'append'))
    .map(([whole, place, byte, how]) => {
      const at = whole.length === 0 ? 0 : place % whole.length
      const before = whole.subarray(0, at)
      switch (how) {
        case 'overwrite':
          return Buffer.concat([before, Buffer.of(byte), whole.subarray(at + 1)])
        case 'insert':
          return Buffer.concat([before, Buffer.of(byte), whole.subarray(at)])
        case 'remove':
          return Buffer.concat([before, whole.subarray(at + 1)])
        case 'append':
          return Buffer.concat([whole, Buffer.of(byte)])
        default:
          return before
      }
    })
}
