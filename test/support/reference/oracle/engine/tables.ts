import type { PoolPrice } from '../../../../../src/dex/events.ts'
import type {
  Candle,
  EventRef,
  MainPairSwitch,
  Pair,
  Token,
  TokenLaunch,
} from '../../../../../src/domain/change.ts'
import type { ContractReport } from '../../../../../src/domain/contract-report.ts'
import type { BlockRef } from '../../../../../src/domain/envelope.ts'
import type { Price, Value } from '../../../../../src/domain/money.ts'
import type { JournaledState, RecordCodec, Table } from '../state/journaled-state.ts'
import type { ByteReader } from '../wire/byte-reader.ts'
import type { ByteWriter } from '../wire/byte-writer.ts'
import { readCandles, writeCandles } from '../wire/candle-codec.ts'
import { readReport, writeReport } from '../wire/contract-codec.ts'
import { readBlockRef, readPricing, writeBlockRef, writePricing } from '../wire/envelope-codec.ts'
import { readEventRef, readMoney, writeEventRef, writeMoney } from '../wire/field-codec.ts'
import { readSwitch, writeSwitch } from '../wire/liquidity-codec.ts'
import { readPair, readToken, writePair, writeToken } from '../wire/record-codec.ts'
import { type HolderTables, openHolderTables } from './holders/tables.ts'
import type { Pool } from './pool/pool.ts'
import type { Ratio } from './pool/ratio.ts'
import { openWindowTables, type WindowTables } from './window/tables.ts'

/** All of the engine's memory, by table. */
export type EngineTables = WindowTables &
  HolderTables & {
    readonly pools: Table<Pool>
    readonly pairs: Table<Pair>
    /** By pair, where nothing but trades tells the price: the last one. */
    readonly lastExchanges: Table<Ratio>
    readonly tokens: Table<TokenState>
    /** By quote asset: the pairs that are priced in it. */
    readonly quotedPairs: Table<QuotedPairs>
    /** By pair: the newest candle of each interval. */
    readonly candles: Table<readonly Candle[]>
    /** By block number: what an undo of that block has to retract. */
    readonly emitted: Table<Emitted>
    /** By pair: its pool's price as it counts for others, since the last block that touched it. */
    readonly references: Table<Ratio>
    /** Pairs whose pool's price at the end of the block before was not taken over yet. */
    readonly unsettled: Table<readonly Unsettled[]>
    readonly anchors: Table<readonly Anchor[]>
    /** By token. */
    readonly contracts: Table<ContractReport>
    readonly tip: Table<Tip>
    /** Time of the first block of all. */
    readonly startTime: Table<number>
  }

/** What a block told that nothing later replaces. */
export type Emitted = {
  readonly trades: readonly EventRef[]
  readonly liquidity: readonly EventRef[]
  readonly switches: readonly MainPairSwitch[]
}

export type TokenState = {
  readonly token: Token
  readonly targetOf: readonly PairDepth[]
  /** In any pair with a price, since it was met. */
  readonly firstTrade: TokenLaunch | undefined
}

/** A pair of the token, and how deep it is. */
export type PairDepth = {
  readonly pair: string
  readonly tvlUsd: Value
  /** What its quote side is worth. */
  readonly depthUsd: Value
}

/** A quote asset may have millions of pairs, so their TVL is a running total and only the deepest are listed. */
export type QuotedPairs = { readonly tvlUsd: Value; readonly deepest: readonly PairDepth[] }

export type Unsettled = { readonly pair: string; readonly ratio: Ratio }

/** A pool of a stablecoin against the native coin. */
export type Anchor = {
  readonly pair: string
  readonly stable: string
  readonly depthUsd: Value
  readonly nativeUsd: Price
}

export type Tip = BlockRef & { readonly time: number }

/** There is one tip and one list of anchors: their tables have this single key. */
export const ONLY = 'only'

const poolCodec: RecordCodec<Pool> = {
  write: (w, { address, factory, tokens, pricing, price, goalRaw }) => {
    w.recurringId(address)
    w.recurringId(factory)
    w.list(tokens, (token) => w.recurringId(token))
    writePricing(w, pricing)
    w.optional(price, (known) => writePoolPrice(w, known))
    w.optional(goalRaw, (known) => w.biguint(known))
  },
  read: (r) => ({
    address: r.id(),
    factory: r.id(),
    tokens: r.list(() => r.id()),
    pricing: readPricing(r),
    price: r.optional(() => readPoolPrice(r)),
    goalRaw: r.optional(() => r.biguint()),
  }),
}

const ratioCodec: RecordCodec<Ratio> = {
  write: (w, { raw0, raw1 }) => {
    w.biguint(raw0)
    w.biguint(raw1)
  },
  read: (r) => ({ raw0: r.biguint(), raw1: r.biguint() }),
}

export const pairCodec: RecordCodec<Pair> = { write: writePair, read: readPair }

const depthsCodec = listCodec<PairDepth>(
  (w, { pair, tvlUsd, depthUsd }) => {
    w.recurringId(pair)
    w.biguint(tvlUsd)
    w.biguint(depthUsd)
  },
  (r) => ({ pair: r.id(), tvlUsd: r.biguint(), depthUsd: r.biguint() }),
)

const quotedPairsCodec: RecordCodec<QuotedPairs> = {
  write: (w, { tvlUsd, deepest }) => {
    w.biguint(tvlUsd)
    depthsCodec.write(w, deepest)
  },
  read: (r) => ({ tvlUsd: r.biguint(), deepest: depthsCodec.read(r) }),
}

export const tokenCodec: RecordCodec<TokenState> = {
  write: (w, { token, targetOf, firstTrade }) => {
    writeToken(w, token)
    depthsCodec.write(w, targetOf)
    w.optional(firstTrade, ({ time, priceUsd }) => {
      w.varuint(time)
      writeMoney(w, priceUsd)
    })
  },
  read: (r) => ({
    token: readToken(r),
    targetOf: depthsCodec.read(r),
    firstTrade: r.optional(() => ({ time: r.varuint(), priceUsd: readMoney(r) })),
  }),
}

export const reportCodec: RecordCodec<ContractReport> = { write: writeReport, read: readReport }

export const candlesCodec: RecordCodec<readonly Candle[]> = {
  write: writeCandles,
  read: readCandles,
}
const refsCodec = listCodec(writeEventRef, readEventRef)
const switchesCodec = listCodec(writeSwitch, readSwitch)

export const emittedCodec: RecordCodec<Emitted> = {
  write: (w, { trades, liquidity, switches }) => {
    refsCodec.write(w, trades)
    refsCodec.write(w, liquidity)
    switchesCodec.write(w, switches)
  },
  read: (r) => ({
    trades: refsCodec.read(r),
    liquidity: refsCodec.read(r),
    switches: switchesCodec.read(r),
  }),
}

const anchorsCodec = listCodec<Anchor>(
  (w, anchor) => {
    w.recurringId(anchor.pair)
    w.recurringId(anchor.stable)
    w.biguint(anchor.depthUsd)
    w.biguint(anchor.nativeUsd)
  },
  (r) => ({ pair: r.id(), stable: r.id(), depthUsd: r.biguint(), nativeUsd: r.biguint() }),
)

const unsettledCodec = listCodec<Unsettled>(
  (w, { pair, ratio }) => {
    w.recurringId(pair)
    ratioCodec.write(w, ratio)
  },
  (r) => ({ pair: r.id(), ratio: ratioCodec.read(r) }),
)

const tipCodec: RecordCodec<Tip> = {
  write: (w, tip) => {
    writeBlockRef(w, tip)
    w.varuint(tip.time)
  },
  read: (r) => ({ ...readBlockRef(r), time: r.varuint() }),
}

export function openTables(state: JournaledState): EngineTables {
  return {
    pools: state.table('pool', poolCodec),
    pairs: state.table('pair', pairCodec),
    lastExchanges: state.table('exchange', ratioCodec),
    tokens: state.table('token', tokenCodec),
    quotedPairs: state.table('quotedPairs', quotedPairsCodec),
    candles: state.table('candles', candlesCodec),
    emitted: state.table('emitted', emittedCodec),
    references: state.table('reference', ratioCodec),
    unsettled: state.table('unsettled', unsettledCodec),
    anchors: state.table('anchors', anchorsCodec),
    contracts: state.table('contract', reportCodec),
    tip: state.table('tip', tipCodec),
    startTime: state.table('startTime', { write: (w, time) => w.varuint(time), read: (r) => r.varuint() }),
    ...openWindowTables(state),
    ...openHolderTables(state),
  }
}

function listCodec<T>(
  write: (w: ByteWriter, item: T) => void,
  read: (r: ByteReader) => T,
): RecordCodec<readonly T[]> {
  return { write: (w, items) => w.list(items, (item) => write(w, item)), read: (r) => r.list(() => read(r)) }
}

/** A tick is written as its distance from the lowest number of its type: the wire knows no signs. */
const TICK_OFFSET = 2 ** 31

function writePoolPrice(w: ByteWriter, price: PoolPrice): void {
  w.bool(price.kind === 'sqrt')
  if (price.kind === 'sqrt') {
    w.biguint(price.sqrtPriceX96)
    w.varuint(price.tick + TICK_OFFSET)
  } else w.varuint(price.id)
}

function readPoolPrice(r: ByteReader): PoolPrice {
  if (!r.bool()) return { kind: 'bin', id: r.varuint() }
  return { kind: 'sqrt', sqrtPriceX96: r.biguint(), tick: r.varuint() - TICK_OFFSET }
}
