import type { EventRef, MainPairSwitch } from '../domain/change.ts'
import type { ContractReport } from '../domain/contract-report.ts'
import type { BlockRef } from '../domain/envelope.ts'
import type { Price, Value } from '../domain/money.ts'
import type { JournaledState, Table } from '../state/journaled-state.ts'
import { biguint, type Codec, id, list, record, recurringId, varuint } from '../wire/codec.ts'
import { reportCodec } from '../wire/contract-codec.ts'
import { eventRefCodec } from '../wire/field-codec.ts'
import { switchCodec } from '../wire/liquidity-codec.ts'
import { CandleTable } from './candle/candle-table.ts'
import { type HolderTables, openHolderTables } from './holders/tables.ts'
import { PairTable } from './pair/pair-table.ts'
import type { Ratio } from './pool/pool.ts'
import { PriceTable } from './pool/price-table.ts'
import { PoolTable } from './pool-table.ts'
import { TokenTable } from './token/token-table.ts'
import { openWindowTables, type WindowTables } from './window/tables.ts'

/** The engine's whole state, by table. */
export type EngineTables = WindowTables &
  HolderTables & {
    readonly pools: PoolTable
    readonly prices: PriceTable
    readonly pairs: PairTable
    /** By token: its bonding curve, if events of the platform report its graduation by the token alone. */
    readonly curves: Table<string>
    readonly tokens: TokenTable
    readonly candles: CandleTable
    /** By block number: the events that an undo of that block retracts. */
    readonly emitted: Table<Emitted>
    /** Pairs whose price at the end of the previous block does not count yet. */
    readonly unsettled: Table<readonly Unsettled[]>
    readonly anchors: Table<readonly Anchor[]>
    /** By token. */
    readonly contracts: Table<ContractReport>
    readonly tip: Table<Tip>
    /** The settings by which the last block was folded; undefined if they were not in the log. */
    readonly foldedBy: Table<Uint8Array>
    /** Time of the very first block. */
    readonly startTime: Table<number>
    /** The second after the last old block: windows are complete from there on. Undefined if no block was old. */
    readonly windowsSince: Table<number>
    /** The first block with unpublished documents, and those documents by block; see `DeferredDocuments`. */
    readonly deferredSince: Table<number>
    readonly deferred: Table<DeferredNames>
  }

/** Documents that a block was the first to change since the last publication. */
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

/** Single key of the tables with one row, such as the tip and the anchors. */
export const ONLY = 'only'

const refs = list(eventRefCodec)

export const emittedCodec = record<Emitted>({ trades: refs, liquidity: refs, switches: list(switchCodec) })

const anchor = record<Anchor>({
  pair: recurringId,
  stable: recurringId,
  depthUsd: biguint,
  nativeUsd: biguint,
})

const unsettled = record<Unsettled>({
  pair: recurringId,
  ratio: record<Ratio>({ raw0: biguint, raw1: biguint }),
})

const tip = record<Tip>({ number: varuint, hash: id, time: varuint })

const names = list(recurringId)

/** A copy, which outlives the memory of the store. */
const ownBytes: Codec<Uint8Array> = { write: (w, value) => w.bytes(value), read: (r) => r.bytes().slice() }

const deferred = record<DeferredNames>({ pairs: names, tokens: names })

export function openTables(state: JournaledState): EngineTables {
  const pairs = new PairTable(state)
  return {
    pools: new PoolTable(state, pairs),
    prices: new PriceTable(state),
    pairs,
    curves: state.table('curve', id),
    tokens: new TokenTable(state),
    candles: new CandleTable(state),
    emitted: state.table('emitted', emittedCodec),
    unsettled: state.table('unsettled', list(unsettled)),
    anchors: state.table('anchors', list(anchor)),
    contracts: state.table('contract', reportCodec),
    tip: state.table('tip', tip),
    foldedBy: state.table('foldedBy', ownBytes),
    startTime: state.table('startTime', varuint),
    windowsSince: state.table('windowsSince', varuint),
    deferredSince: state.table('deferredSince', varuint),
    deferred: state.table('deferred', deferred),
    ...openWindowTables(state),
    ...openHolderTables(state),
  }
}
