import { WINDOWS } from '../domain/window.ts'
import { TYPE } from './change-type.ts'
import { defineLayout, type FieldKind } from './record-layout.ts'

/** The fields of each change in encoding order; candles and windows have their own scanners. */

const EVENT_REF = { block: 'varuint', tx: 'varuint', log: 'varuint', time: 'varuint', pair: 'id' } as const

const EVENT_VALUES = {
  valueUsd: 'biguint?',
  valueNative: 'biguint?',
  liquidityUsd: 'biguint?',
  liquidityNative: 'biguint?',
} as const

export const TRADE = defineLayout(TYPE.trade, {
  ...EVENT_REF,
  amm: 'text',
  transaction: 'id',
  sender: 'id',
  recipient: 'id',
  wallet: 'id',
  targetToken: 'id?',
  side: 'byte',
  ...eventSide('sold'),
  ...eventSide('bought'),
  ...EVENT_VALUES,
  holdings: {
    isToken0Sold: 'byte',
    nativeRaw: 'biguint?',
    soldRaw: 'biguint?',
    soldAccounts: 'byte',
    boughtRaw: 'biguint?',
    boughtAccounts: 'byte',
  },
})

export const TRADE_REMOVED = defineLayout(TYPE.tradeRemoved, EVENT_REF)

export const LIQUIDITY = defineLayout(TYPE.liquidity, {
  ...EVENT_REF,
  kind: 'byte',
  amm: 'text',
  transaction: 'id',
  provider: 'id',
  wallet: 'id',
  ...eventSide('side0'),
  ...eventSide('side1'),
  ...EVENT_VALUES,
})

export const LIQUIDITY_REMOVED = defineLayout(TYPE.liquidityRemoved, EVENT_REF)

export const PAIR = defineLayout(TYPE.pair, {
  address: 'id',
  amm: 'text',
  ...pairSide('token0'),
  ...pairSide('token1'),
  targetToken: 'id?',
  isMain: 'byte',
  tvlUsd: 'biguint?',
  tvlNative: 'biguint?',
  fdvUsd: 'biguint?',
  createdAt: 'varuint?',
  updatedAt: 'varuint',
  firstTradeAt: 'varuint?',
  lastTradeAt: 'varuint?',
  lastTradePriceUsd: 'biguint?',
  lastSide: 'byte',
  athPriceUsd: 'biguint?',
})

export const PAIR_REMOVED = defineLayout(TYPE.pairRemoved, { address: 'id' })

export const TOKEN = defineLayout(TYPE.token, {
  address: 'id',
  name: 'text',
  symbol: 'text',
  decimals: 'byte?',
  supplyRaw: 'biguint?',
  priceUsd: 'biguint?',
  priceNative: 'biguint?',
  mainPair: 'id?',
  mainPairTvlUsd: 'biguint?',
  tvlUsd: 'biguint?',
  fdvUsd: 'biguint?',
  marketCapUsd: 'biguint?',
  holding: { holders: 'varuint?', burnedRaw: 'biguint', lockedRaw: 'biguint', circulatingRaw: 'biguint?' },
  origin: { time: 'varuint', creator: 'id' },
  launch: { time: 'varuint', priceUsd: 'biguint?' },
  platform: { name: 'text', createdAt: 'varuint?', progressPpm: 'varuint?', graduatedAt: 'varuint?' },
  risk: { score: 'byte', isHoneypot: 'byte?', isMintable: 'byte' },
  updatedAt: 'varuint',
})

export const TOKEN_REMOVED = defineLayout(TYPE.tokenRemoved, { address: 'id' })

const SWITCH_FIELDS = {
  token: 'id',
  block: 'varuint',
  time: 'varuint',
  oldPair: 'id',
  newPair: 'id',
  reason: 'byte',
} as const

export const SWITCH = defineLayout(TYPE.switch, SWITCH_FIELDS)
export const SWITCH_REMOVED = defineLayout(TYPE.switchRemoved, SWITCH_FIELDS)

export const BALANCE = defineLayout(TYPE.balance, {
  token: 'id',
  holder: 'id',
  amountRaw: 'signed',
  beforeRaw: 'signed',
  /** Both from `magnitudeOf`. */
  magnitude: 'number',
  magnitudeBefore: 'number',
})

/** The report is rarely needed, so it is decoded only on demand. */
export const CONTRACT = defineLayout(TYPE.contract, { token: 'id' })
export const CONTRACT_REMOVED = defineLayout(TYPE.contractRemoved, { token: 'id' })

/** Adjacent candles share fields, so a slot may refer to the record of an earlier one. */
export const CANDLE = defineLayout(TYPE.candle, {
  pair: 'id',
  /** Index in `INTERVALS`. */
  interval: 'number',
  start: 'number',
  ...candleValues('usd'),
  ...candleValues('native'),
  /** Quote values equal to those in dollars: 1; in native coins: 2; neither: 0. */
  quoteAs: 'number',
  ...candleValues('quote'),
  tradeCount: 'varuint',
  firstBlock: 'varuint',
  firstTx: 'varuint',
  firstLog: 'varuint',
  lastBlock: 'varuint',
  lastTx: 'varuint',
  lastLog: 'varuint',
  /** Equal for candles of a message that share all fields from `usdOpen` on. */
  trades: 'number',
})

export const CANDLE_REMOVED = defineLayout(TYPE.candleRemoved, {
  pair: 'id',
  interval: 'number',
  start: 'number',
})

const WINDOWS_REF = { pair: 'id?', token: 'id?' } as const

/** Windows also share fields with the next shorter one, and prices of a document may refer to earlier ones. */
export const WINDOWS_LAYOUT = defineLayout(TYPE.windows, {
  ...WINDOWS_REF,
  priceUsd: 'biguint?',
  ...windowSums(),
  amountRaw: 'biguint?',
  highUsd: 'biguint?',
  lowUsd: 'biguint?',
  day: 'varuint',
  dayOpenUsd: 'biguint?',
})

export const WINDOWS_REMOVED = defineLayout(TYPE.windowsRemoved, WINDOWS_REF)

function eventSide<const Side extends string>(side: Side) {
  return prefixed(side, {
    Token: 'id',
    Symbol: 'text',
    Decimals: 'byte?',
    AmountRaw: 'biguint',
    ReserveRaw: 'biguint?',
    PriceUsd: 'biguint?',
    PriceNative: 'biguint?',
  })
}

function pairSide<const Side extends string>(side: Side) {
  return prefixed(side, {
    Address: 'id',
    Symbol: 'text',
    Decimals: 'byte?',
    ReserveRaw: 'biguint?',
    InitialReserveRaw: 'biguint?',
    PriceUsd: 'biguint?',
    PriceNative: 'biguint?',
  })
}

function candleValues<const Unit extends string>(unit: Unit) {
  return prefixed(unit, {
    Open: 'biguint?',
    High: 'biguint?',
    Low: 'biguint?',
    Close: 'biguint?',
    Volume: 'biguint?',
  })
}

function windowSums() {
  const sums = {
    BuyUsd: 'biguint?',
    SellUsd: 'biguint?',
    Buys: 'varuint',
    Sells: 'varuint',
    Makers: 'varuint',
    Buyers: 'varuint',
    Sellers: 'varuint',
    OpenUsd: 'biguint?',
  } as const
  type Prefixed = { [N in `${(typeof WINDOWS)[number]}${keyof typeof sums}`]: FieldKind }
  return Object.assign({}, ...WINDOWS.map((name) => prefixed(name, sums))) as Prefixed
}

function prefixed<const Prefix extends string, const F extends Readonly<Record<string, FieldKind>>>(
  prefix: Prefix,
  fields: F,
): { readonly [N in keyof F & string as `${Prefix}${N}`]: F[N] } {
  const entries = Object.entries(fields).map(([name, kind]) => [`${prefix}${name}`, kind])
  return Object.fromEntries(entries) as { [N in keyof F & string as `${Prefix}${N}`]: F[N] }
}
