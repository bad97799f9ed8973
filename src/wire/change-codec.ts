import type { Candle, Change, ChangeSet } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { never } from '../domain/ids.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { readCandleRef, readCandles, writeCandleRef, writeCandles } from './candle-codec.ts'
import { readReport, writeReport } from './contract-codec.ts'
import { readBlockRef, writeBlockRef } from './envelope-codec.ts'
import { readEventRef, readTime, writeEventRef, writeTime } from './field-codec.ts'
import { readCandlesLazily } from './lazy-candles.ts'
import { readLiquidity, readSwitch, writeLiquidity, writeSwitch } from './liquidity-codec.ts'
import {
  readBalance,
  readPair,
  readToken,
  readTrade,
  writeBalance,
  writePair,
  writeToken,
  writeTrade,
} from './record-codec.ts'
import { readWindows, readWindowsRef, writeWindows, writeWindowsRef } from './windows-codec.ts'

/** Version 6 of a CHANGES message. A change of layout takes the next number and, once released, keeps reading this one. */
const VERSION = 6
const CAUSES = ['block', 'undo', 'final'] as const
/** A change of this type is a row of candles of one pair. The list ends with a zero. */
const END = 0
const TYPE = {
  trade: 1,
  candle: 2,
  pair: 3,
  token: 4,
  tradeRemoved: 5,
  candleRemoved: 6,
  pairRemoved: 7,
  tokenRemoved: 8,
  liquidity: 9,
  windows: 10,
  switch: 11,
  liquidityRemoved: 12,
  windowsRemoved: 13,
  switchRemoved: 14,
  balance: 15,
  contract: 16,
  contractRemoved: 17,
} as const satisfies Record<Change['type'], number>

/** One for all messages: it has grown to their size. */
const w = new ByteWriter(4096)

export function encodeChangeSet(set: ChangeSet): Uint8Array {
  w.clear()
  w.u8(VERSION)
  w.text(set.chain)
  w.varuint(set.seq)
  w.u8(CAUSES.indexOf(set.cause))
  writeBlockRef(w, set.head)
  w.varuint(set.head.time)
  writeTime(w, set.head.startTime)
  w.varuint(set.finalNumber)
  for (let at = 0; at < set.changes.length; ) {
    const change = set.changes[at] as Change
    if (change.type === 'candle') at += writeCandleRun(w, candlesFrom(set.changes, at))
    else {
      writeChange(w, change)
      at++
    }
  }
  w.u8(END)
  return w.finish()
}

/** A set beside the message that it was read from. */
export type OpenedChangeSet = {
  readonly set: ChangeSet
  readonly bytes: Uint8Array
  /** Where the record of each change begins; of candles that stand in a row, where the first of them does. */
  readonly offsets: readonly number[]
}

export function decodeChangeSet(bytes: Uint8Array): ChangeSet {
  return decode(bytes, readCandles).set
}

/**
 * For who needs few of the candles, which are most of a set: they are decoded when one is looked at. Until then they need
 * `bytes`, which must not change.
 */
export function openChangeSet(bytes: Uint8Array): OpenedChangeSet {
  return decode(bytes, (r) => readCandlesLazily(r, bytes))
}

type ReadCandles = (r: ByteReader) => readonly Candle[]

function decode(bytes: Uint8Array, readRun: ReadCandles): OpenedChangeSet {
  const r = new ByteReader(bytes)
  const version = r.u8()
  if (version !== VERSION) {
    throw new ChaintapeError('message_unreadable', `CHANGES message has version ${version}, not ${VERSION}`)
  }
  const chain = r.text()
  const seq = r.varuint()
  const cause = CAUSES[r.u8()]
  if (cause === undefined) throw new ChaintapeError('message_unreadable', 'unknown cause')
  const offsets: number[] = []
  const set: ChangeSet = {
    chain,
    seq,
    cause,
    head: readHead(r),
    finalNumber: r.varuint(),
    changes: readChanges(r, readRun, offsets),
  }
  r.end()
  return { set, bytes, offsets }
}

function readHead(r: ByteReader): ChangeSet['head'] {
  const head = { ...readBlockRef(r), time: r.varuint() }
  const startTime = readTime(r)
  return startTime === undefined ? head : { ...head, startTime }
}

/** The candles of one pair that stand in a row. */
function candlesFrom(changes: readonly Change[], start: number): Candle[] {
  const candles: Candle[] = []
  for (let at = start; at < changes.length; at++) {
    const change = changes[at] as Change
    if (change.type !== 'candle' || change.candle.pair !== (candles[0] ?? change.candle).pair) break
    candles.push(change.candle)
  }
  return candles
}

function writeCandleRun(w: ByteWriter, candles: readonly Candle[]): number {
  w.u8(TYPE.candle)
  writeCandles(w, candles)
  return candles.length
}

function readChanges(r: ByteReader, readRun: ReadCandles, offsets: number[]): Change[] {
  const changes: Change[] = []
  for (let type = r.u8(); type !== END; type = r.u8()) {
    const at = r.position
    if (type !== TYPE.candle) changes.push(readChange(r, type))
    else for (const candle of readRun(r)) changes.push({ type: 'candle', candle })
    while (offsets.length < changes.length) offsets.push(at)
  }
  return changes
}

function writeChange(w: ByteWriter, change: Exclude<Change, { type: 'candle' }>): void {
  w.u8(TYPE[change.type])
  switch (change.type) {
    case 'trade':
      writeTrade(w, change.trade)
      break
    case 'pair':
      writePair(w, change.pair)
      break
    case 'token':
      writeToken(w, change.token)
      break
    case 'tradeRemoved':
      writeEventRef(w, change.trade)
      break
    case 'candleRemoved':
      writeCandleRef(w, change.candle)
      break
    case 'pairRemoved':
      w.id(change.pair)
      break
    case 'tokenRemoved':
      w.id(change.token)
      break
    case 'liquidity':
      writeLiquidity(w, change.liquidity)
      break
    case 'windows':
      writeWindows(w, change.windows)
      break
    case 'switch':
    case 'switchRemoved':
      writeSwitch(w, change.switch)
      break
    case 'balance':
      writeBalance(w, change.balance)
      break
    case 'contract':
      writeReport(w, change.contract)
      break
    case 'contractRemoved':
      w.id(change.token)
      break
    case 'liquidityRemoved':
      writeEventRef(w, change.liquidity)
      break
    case 'windowsRemoved':
      writeWindowsRef(w, change.windows)
      break
    default:
      never(change)
  }
}

function readChange(r: ByteReader, type: number): Change {
  switch (type) {
    case TYPE.trade:
      return { type: 'trade', trade: readTrade(r) }
    case TYPE.pair:
      return { type: 'pair', pair: readPair(r) }
    case TYPE.token:
      return { type: 'token', token: readToken(r) }
    case TYPE.tradeRemoved:
      return { type: 'tradeRemoved', trade: readEventRef(r) }
    case TYPE.candleRemoved:
      return { type: 'candleRemoved', candle: readCandleRef(r) }
    case TYPE.pairRemoved:
      return { type: 'pairRemoved', pair: r.id() }
    case TYPE.tokenRemoved:
      return { type: 'tokenRemoved', token: r.id() }
    case TYPE.liquidity:
      return { type: 'liquidity', liquidity: readLiquidity(r) }
    case TYPE.windows:
      return { type: 'windows', windows: readWindows(r) }
    case TYPE.switch:
      return { type: 'switch', switch: readSwitch(r) }
    case TYPE.liquidityRemoved:
      return { type: 'liquidityRemoved', liquidity: readEventRef(r) }
    case TYPE.windowsRemoved:
      return { type: 'windowsRemoved', windows: readWindowsRef(r) }
    case TYPE.switchRemoved:
      return { type: 'switchRemoved', switch: readSwitch(r) }
    case TYPE.balance:
      return { type: 'balance', balance: readBalance(r) }
    case TYPE.contract:
      return { type: 'contract', contract: readReport(r) }
    case TYPE.contractRemoved:
      return { type: 'contractRemoved', token: r.id() }
    default:
      throw new ChaintapeError('message_unreadable', `unknown change type ${type}`)
  }
}
