import type { ChangeSet } from '../domain/change.ts'
import { ByteReader } from './byte-reader.ts'
import { currentChangeSet, readSetHead } from './change-codec.ts'
import * as layouts from './change-layouts.ts'
import { TYPE as CHANGE, END } from './change-type.ts'
import { reportCodec } from './contract-codec.ts'
import type { RecordLayout } from './record-layout.ts'
import { RecordScanner, unreadable } from './record-scanner.ts'
import { scanBalance } from './scan-balance.ts'
import { scanCandleRef, scanCandles } from './scan-candles.ts'
import { scanWindows } from './scan-windows.ts'

/** A CHANGES message with the offsets of all its fields, for readers that copy fields instead of decoding them. */
export type ChangeSetIndex = Omit<ChangeSet, 'changes'> & {
  readonly bytes: Uint8Array
  /** Reader over `bytes`, to decode single fields. */
  readonly reader: ByteReader
  /** Number of changes. */
  readonly count: number
  /** The slots of all changes, concatenated, each in its layout. */
  readonly places: Uint32Array
}

const { TRADE, TRADE_REMOVED, LIQUIDITY, LIQUIDITY_REMOVED, PAIR, PAIR_REMOVED, TOKEN, TOKEN_REMOVED } =
  layouts
const { SWITCH, SWITCH_REMOVED, BALANCE, CONTRACT, CONTRACT_REMOVED, WINDOWS_REMOVED } = layouts
const { CANDLE, CANDLE_REMOVED, WINDOWS_LAYOUT } = layouts

/** By type of change. */
const SCANNED: (RecordLayout | undefined)[] = []
for (const layout of [
  ...[TRADE, TRADE_REMOVED, LIQUIDITY, LIQUIDITY_REMOVED, PAIR, PAIR_REMOVED, TOKEN, TOKEN_REMOVED],
  ...[SWITCH, SWITCH_REMOVED, CONTRACT_REMOVED, WINDOWS_REMOVED],
] as RecordLayout[])
  SCANNED[layout.type] = layout

/** Slots per change, by type. */
const SIZES: number[] = []
for (const { type, size } of [CANDLE, CANDLE_REMOVED, WINDOWS_LAYOUT, BALANCE, CONTRACT] as RecordLayout[])
  SIZES[type] = size
for (const layout of SCANNED) if (layout !== undefined) SIZES[layout.type] = layout.size

/** Reused for every message, so that it grows only once. */
let room: Uint32Array = new Uint32Array(16_384)

export function indexChangeSet(message: Uint8Array): ChangeSetIndex {
  const bytes = currentChangeSet(message)
  const r = new ByteReader(bytes)
  const head = readSetHead(r)
  const scanner = new RecordScanner(bytes, r.position, room)
  let count = 0
  for (let type = scanner.byte(); type !== END; type = scanner.byte()) {
    count += scanChange(scanner, type)
  }
  if (scanner.position !== bytes.length)
    throw unreadable(`${bytes.length - scanner.position} bytes left over`)
  room = scanner.places
  return { ...head, bytes, reader: r, count, places: room.slice(0, scanner.length) }
}

/** The first slot of the change after this one. */
export function nextChange(places: Uint32Array, base: number): number {
  return base + (SIZES[places[base] as number] as number)
}

/** The end of the id at this offset. */
export function idEnd(bytes: Uint8Array, at: number): number {
  const size = bytes[at] as number
  if (size < 0x80) return at + 1 + (size >> 1)
  const r = new ByteReader(bytes, at)
  const tagged = r.varuint()
  return r.position + Math.floor(tagged / 2)
}

/** Returns the number of changes. */
function scanChange(scanner: RecordScanner, type: number): number {
  const layout = SCANNED[type]
  if (layout !== undefined) scanner.scan(layout)
  else if (type === CHANGE.candle) return scanCandles(scanner)
  else if (type === CHANGE.windows) scanWindows(scanner)
  else if (type === CHANGE.candleRemoved) scanCandleRef(scanner)
  else if (type === CHANGE.balance) scanBalance(scanner)
  else if (type === CHANGE.contract) scanContract(scanner)
  else throw unreadable(`unknown change type ${type}`)
  return 1
}

function scanContract(scanner: RecordScanner): void {
  const base = scanner.begin(CONTRACT)
  scanner.places[base + CONTRACT.slots.token] = scanner.position
  const r = new ByteReader(scanner.bytes, scanner.position)
  reportCodec.read(r)
  scanner.position = r.position
  scanner.end(base)
}
