import type { Candle, Change, ChangeSet } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { blockRefCodec } from './block-ref-codec.ts'
import { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readCandleRef, readCandles, writeCandleRef, writeCandles } from './candle-codec.ts'
import { type ChangeSetHead, ChangeSetWriter } from './change-set-writer.ts'
import { CAUSES, CHANGES_VERSION, END, FORMER_CHANGES_VERSION, TYPE } from './change-type.ts'
import type { Codec } from './codec.ts'
import { reportCodec } from './contract-codec.ts'
import { readEventRef, readTime, writeEventRef } from './field-codec.ts'
import { readCandlesLazily } from './lazy-candles.ts'
import { liquidityCodec, switchCodec } from './liquidity-codec.ts'
import {
  readBalance,
  readPair,
  readToken,
  readTrade,
  readTradeWithoutHoldings,
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
  /** In the current version. */
  readonly bytes: Uint8Array
  /** Offset of the record of each change; for adjacent candles, of the first one. */
  readonly offsets: readonly number[]
}

export function decodeChangeSet(bytes: Uint8Array): ChangeSet {
  return decode(currentChangeSet(bytes), readCandles).set
}

/**
 * Decodes candles lazily, for readers that need few of them: they are most of a set. `bytes` must not change until
 * then.
 */
export function openChangeSet(bytes: Uint8Array): OpenedChangeSet {
  const current = currentChangeSet(bytes)
  return decode(current, (r) => readCandlesLazily(r, current))
}

/**
 * The message in the current version. A message of the former version is decoded and encoded again: few of them remain
 * after an upgrade, and nothing else has to read their layout.
 */
export function currentChangeSet(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== FORMER_CHANGES_VERSION) return bytes
  const r = new ByteReader(bytes)
  const head = readSetHead(r)
  const changes = readChanges(r, readCandles, [], readFormerChange)
  r.end()
  return encodeChangeSet({ ...head, changes })
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
  const changes = readChanges(r, readRun, offsets, readChange)
  r.end()
  return { set: { chain, seq, cause, head, finalNumber, changes }, bytes, offsets }
}

export function readSetHead(r: ByteReader): ChangeSetHead {
  const version = r.u8()
  if (version !== CHANGES_VERSION && version !== FORMER_CHANGES_VERSION) {
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
  const head = { ...blockRefCodec.read(r), time: r.varuint() }
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

function readChanges(
  r: ByteReader,
  readRun: ReadCandles,
  offsets: number[],
  readSingle: (r: ByteReader, type: number) => Change,
): Change[] {
  const changes: Change[] = []
  for (let type = r.u8(); type !== END; type = r.u8()) {
    const at = r.position
    if (type !== TYPE.candle) changes.push(readSingle(r, type))
    else for (const candle of readRun(r)) changes.push({ type: 'candle', candle })
    while (offsets.length < changes.length) offsets.push(at)
  }
  return changes
}

type Single = Exclude<Change, { type: 'candle' }>
type ChangeOf<Type extends Single['type']> = Extract<Single, { type: Type }>

/** By type of change. Each names its fields itself: an object with a computed name costs as much as a short record. */
const CODECS: { readonly [Type in Single['type']]: Codec<ChangeOf<Type>> } = {
  trade: {
    write: (w, { trade }) => writeTrade(w, trade),
    read: (r) => ({ type: 'trade', trade: readTrade(r) }),
  },
  pair: {
    write: (w, { pair }) => writePair(w, pair),
    read: (r) => ({ type: 'pair', pair: readPair(r) }),
  },
  token: {
    write: (w, { token }) => writeToken(w, token),
    read: (r) => ({ type: 'token', token: readToken(r) }),
  },
  liquidity: {
    write: (w, { liquidity }) => liquidityCodec.write(w, liquidity),
    read: (r) => ({ type: 'liquidity', liquidity: liquidityCodec.read(r) }),
  },
  windows: {
    write: (w, { windows }) => writeWindows(w, windows),
    read: (r) => ({ type: 'windows', windows: readWindows(r) }),
  },
  switch: {
    write: (w, change) => switchCodec.write(w, change.switch),
    read: (r) => ({ type: 'switch', switch: switchCodec.read(r) }),
  },
  balance: {
    write: (w, { balance }) => writeBalance(w, balance),
    read: (r) => ({ type: 'balance', balance: readBalance(r) }),
  },
  contract: {
    write: (w, { contract }) => reportCodec.write(w, contract),
    read: (r) => ({ type: 'contract', contract: reportCodec.read(r) }),
  },
  tradeRemoved: {
    write: (w, { trade }) => writeEventRef(w, trade),
    read: (r) => ({ type: 'tradeRemoved', trade: readEventRef(r) }),
  },
  candleRemoved: {
    write: (w, { candle }) => writeCandleRef(w, candle),
    read: (r) => ({ type: 'candleRemoved', candle: readCandleRef(r) }),
  },
  pairRemoved: {
    write: (w, { pair }) => w.id(pair),
    read: (r) => ({ type: 'pairRemoved', pair: r.id() }),
  },
  tokenRemoved: {
    write: (w, { token }) => w.id(token),
    read: (r) => ({ type: 'tokenRemoved', token: r.id() }),
  },
  liquidityRemoved: {
    write: (w, { liquidity }) => writeEventRef(w, liquidity),
    read: (r) => ({ type: 'liquidityRemoved', liquidity: readEventRef(r) }),
  },
  windowsRemoved: {
    write: (w, { windows }) => writeWindowsRef(w, windows),
    read: (r) => ({ type: 'windowsRemoved', windows: readWindowsRef(r) }),
  },
  switchRemoved: {
    write: (w, change) => switchCodec.write(w, change.switch),
    read: (r) => ({ type: 'switchRemoved', switch: switchCodec.read(r) }),
  },
  contractRemoved: {
    write: (w, { token }) => w.id(token),
    read: (r) => ({ type: 'contractRemoved', token: r.id() }),
  },
}

const CODECS_BY_CODE: (Codec<Single> | undefined)[] = []
for (const [type, codec] of Object.entries(CODECS))
  CODECS_BY_CODE[TYPE[type as Single['type']]] = codec as Codec<Single>

function writeChange(w: ByteWriter, change: Single): void {
  const codec = CODECS[change.type] as Codec<Single>
  codec.write(w, change)
}

function readChange(r: ByteReader, type: number): Change {
  const codec = CODECS_BY_CODE[type]
  if (codec === undefined) throw new ChaintapeError('message_unreadable', `unknown change type ${type}`)
  return codec.read(r)
}

function readFormerChange(r: ByteReader, type: number): Change {
  return type === TYPE.trade ? { type: 'trade', trade: readTradeWithoutHoldings(r) } : readChange(r, type)
}
