import type { Candle, Change, ChangeSet } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { never } from '../domain/ids.ts'
import { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readCandleRef, readCandles, writeCandleRef, writeCandles } from './candle-codec.ts'
import { type ChangeSetHead, ChangeSetWriter } from './change-set-writer.ts'
import { CAUSES, CHANGES_VERSION, END, TYPE } from './change-type.ts'
import { readReport, writeReport } from './contract-codec.ts'
import { readBlockRef } from './envelope-codec.ts'
import { readEventRef, readTime, writeEventRef } from './field-codec.ts'
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

/** Shared by all messages. */
const writer = new ChangeSetWriter()

export function encodeChangeSet(set: ChangeSet): Uint8Array {
  writer.begin(set)
  appendChanges(writer, set.changes)
  return writer.finish()
}

export function appendChanges(to: ChangeSetWriter, changes: readonly Change[]): void {
  for (let at = 0; at < changes.length; ) {
    const change = changes[at] as Change
    if (change.type === 'candle') {
      const candles = candlesFrom(changes, at)
      writeCandles(to.next('candle'), candles)
      at += candles.length
    } else {
      writeChange(to.next(change.type), change)
      at++
    }
  }
}

/** A change set with the message that it was read from. */
export type OpenedChangeSet = {
  readonly set: ChangeSet
  readonly bytes: Uint8Array
  /** Offset of the record of each change; for adjacent candles, of the first one. */
  readonly offsets: readonly number[]
}

export function decodeChangeSet(bytes: Uint8Array): ChangeSet {
  return decode(bytes, readCandles).set
}

/**
 * Decodes candles lazily, for readers that need few of them: they are most of a set. `bytes` must not change until
 * then.
 */
export function openChangeSet(bytes: Uint8Array): OpenedChangeSet {
  return decode(bytes, (r) => readCandlesLazily(r, bytes))
}

type ReadCandles = (r: ByteReader) => readonly Candle[]

/** The head of a change set; the changes are not read. */
export function decodeChangeSetHead(bytes: Uint8Array): ChangeSetHead {
  return readSetHead(new ByteReader(bytes))
}

function decode(bytes: Uint8Array, readRun: ReadCandles): OpenedChangeSet {
  const r = new ByteReader(bytes)
  const offsets: number[] = []
  const { chain, seq, cause, head, finalNumber } = readSetHead(r)
  const changes = readChanges(r, readRun, offsets)
  r.end()
  return { set: { chain, seq, cause, head, finalNumber, changes }, bytes, offsets }
}

export function readSetHead(r: ByteReader): ChangeSetHead {
  const version = r.u8()
  if (version !== CHANGES_VERSION) {
    throw new ChaintapeError(
      'message_unreadable',
      `CHANGES message has version ${version}, not ${CHANGES_VERSION}`,
    )
  }
  const chain = r.text()
  const seq = r.varuint()
  const cause = CAUSES[r.u8()]
  if (cause === undefined) throw new ChaintapeError('message_unreadable', 'unknown cause')
  return { chain, seq, cause, head: readHead(r), finalNumber: r.varuint() }
}

function readHead(r: ByteReader): ChangeSet['head'] {
  const head = { ...readBlockRef(r), time: r.varuint() }
  const startTime = readTime(r)
  return startTime === undefined ? head : { ...head, startTime }
}

/** Adjacent candles of one pair. */
function candlesFrom(changes: readonly Change[], start: number): Candle[] {
  const candles: Candle[] = []
  for (let at = start; at < changes.length; at++) {
    const change = changes[at] as Change
    if (change.type !== 'candle' || change.candle.pair !== (candles[0] ?? change.candle).pair) break
    candles.push(change.candle)
  }
  return candles
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
