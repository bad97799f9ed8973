import type { EventRef, MainPairSwitch } from '../domain/change.ts'
import type { ContractReport } from '../domain/contract-report.ts'
import type { BlockRef } from '../domain/envelope.ts'
import type { Price, Value } from '../domain/money.ts'
import type { JournaledState, RecordCodec, Table } from '../state/journaled-state.ts'
import type { ByteReader } from '../wire/byte-reader.ts'
import type { ByteWriter } from '../wire/byte-writer.ts'
import { readReport, writeReport } from '../wire/contract-codec.ts'
import { readBlockRef, writeBlockRef } from '../wire/envelope-codec.ts'
import { readEventRef, writeEventRef } from '../wire/field-codec.ts'
import { readSwitch, writeSwitch } from '../wire/liquidity-codec.ts'
import { CandleTable } from './candle/candle-table.ts'
import { type HolderTables, openHolderTables } from './holders/tables.ts'
import { PairTable } from './pair/pair-table.ts'
import type { Ratio } from './pool/pool.ts'
import { PriceTable } from './pool/price-table.ts'
import { PoolTable } from './pool-table.ts'
import { TokenTable } from './token/token-table.ts'
import { openWindowTables, type WindowTables } from './window/tables.ts'

/** All of the engine's memory, by table. */
export type EngineTables = WindowTables &
  HolderTables & {
    readonly pools: PoolTable
    readonly prices: PriceTable
    readonly pairs: PairTable
    readonly tokens: TokenTable
    readonly candles: CandleTable
    /** By block number: what an undo of that block has to retract. */
    readonly emitted: Table<Emitted>
    /** Pairs whose pool's price at the end of the block before was not taken over yet. */
    readonly unsettled: Table<readonly Unsettled[]>
    readonly anchors: Table<readonly Anchor[]>
    /** By token. */
    readonly contracts: Table<ContractReport>
    readonly tip: Table<Tip>
    /** Time of the first block of all. */
    readonly startTime: Table<number>
    /** The second after the last old block: windows are whole from there on. Undefined if no block was old. */
    readonly windowsSince: Table<number>
    /** The first block whose documents are not published yet, and by block the documents, see `DeferredDocuments`. */
    readonly deferredSince: Table<number>
    readonly deferred: Table<DeferredNames>
  }

/** The documents that a block was the first to change since others were published. */
export type DeferredNames = { readonly pairs: readonly string[]; readonly tokens: readonly string[] }

/** The events of a block, which no later version replaces: an undo retracts them one by one. */
export type Emitted = {
  readonly trades: readonly EventRef[]
  readonly liquidity: readonly EventRef[]
  readonly switches: readonly MainPairSwitch[]
}

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

const ratioCodec: RecordCodec<Ratio> = {
  write: (w, { raw0, raw1 }) => {
    w.biguint(raw0)
    w.biguint(raw1)
  },
  read: (r) => ({ raw0: r.biguint(), raw1: r.biguint() }),
}

export const reportCodec: RecordCodec<ContractReport> = { write: writeReport, read: readReport }

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

const numberCodec: RecordCodec<number> = { write: (w, value) => w.varuint(value), read: (r) => r.varuint() }

const namesCodec = listCodec<string>(
  (w, name) => w.recurringId(name),
  (r) => r.id(),
)

const deferredCodec: RecordCodec<DeferredNames> = {
  write: (w, { pairs, tokens }) => {
    namesCodec.write(w, pairs)
    namesCodec.write(w, tokens)
  },
  read: (r) => ({ pairs: namesCodec.read(r), tokens: namesCodec.read(r) }),
}

export function openTables(state: JournaledState): EngineTables {
  const pairs = new PairTable(state)
  return {
    pools: new PoolTable(state, pairs),
    prices: new PriceTable(state),
    pairs,
    tokens: new TokenTable(state),
    candles: new CandleTable(state),
    emitted: state.table('emitted', emittedCodec),
    unsettled: state.table('unsettled', unsettledCodec),
    anchors: state.table('anchors', anchorsCodec),
    contracts: state.table('contract', reportCodec),
    tip: state.table('tip', tipCodec),
    startTime: state.table('startTime', numberCodec),
    windowsSince: state.table('windowsSince', numberCodec),
    deferredSince: state.table('deferredSince', numberCodec),
    deferred: state.table('deferred', deferredCodec),
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
