import type { Change, ChangeSet } from '../change.ts'
import { ChaintapeError } from '../errors.ts'
import { never } from '../ids.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { readBlockRef, writeBlockRef } from './envelope-codec.ts'
import {
  readCandle,
  readCandleRef,
  readPair,
  readToken,
  readTrade,
  readTradeRef,
  writeCandle,
  writeCandleRef,
  writePair,
  writeToken,
  writeTrade,
  writeTradeRef,
} from './record-codec.ts'

/** Version 2 of a CHANGES message. A change of layout takes the next number and, once released, keeps reading this one. */
const VERSION = 2
const CAUSES = ['block', 'undo', 'final'] as const
const TYPE = {
  trade: 1,
  candle: 2,
  pair: 3,
  token: 4,
  tradeRemoved: 5,
  candleRemoved: 6,
  pairRemoved: 7,
  tokenRemoved: 8,
} as const satisfies Record<Change['type'], number>

export function encodeChangeSet(set: ChangeSet): Uint8Array {
  const w = new ByteWriter(4096)
  w.u8(VERSION)
  w.text(set.chain)
  w.varuint(set.seq)
  w.u8(CAUSES.indexOf(set.cause))
  writeBlockRef(w, set.head)
  w.varuint(set.head.time)
  w.varuint(set.finalNumber)
  w.list(set.changes, (change) => writeChange(w, change))
  return w.finish()
}

export function decodeChangeSet(bytes: Uint8Array): ChangeSet {
  const r = new ByteReader(bytes)
  const version = r.u8()
  if (version !== VERSION) {
    throw new ChaintapeError('message_unreadable', `CHANGES message has version ${version}, not ${VERSION}`)
  }
  const chain = r.text()
  const seq = r.varuint()
  const cause = CAUSES[r.u8()]
  if (cause === undefined) throw new ChaintapeError('message_unreadable', 'unknown cause')
  const set: ChangeSet = {
    chain,
    seq,
    cause,
    head: { ...readBlockRef(r), time: r.varuint() },
    finalNumber: r.varuint(),
    changes: r.list(() => readChange(r)),
  }
  r.end()
  return set
}

function writeChange(w: ByteWriter, change: Change): void {
  w.u8(TYPE[change.type])
  switch (change.type) {
    case 'trade':
      writeTrade(w, change.trade)
      break
    case 'candle':
      writeCandle(w, change.candle)
      break
    case 'pair':
      writePair(w, change.pair)
      break
    case 'token':
      writeToken(w, change.token)
      break
    case 'tradeRemoved':
      writeTradeRef(w, change.trade)
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
    default:
      never(change)
  }
}

function readChange(r: ByteReader): Change {
  const type = r.u8()
  switch (type) {
    case TYPE.trade:
      return { type: 'trade', trade: readTrade(r) }
    case TYPE.candle:
      return { type: 'candle', candle: readCandle(r) }
    case TYPE.pair:
      return { type: 'pair', pair: readPair(r) }
    case TYPE.token:
      return { type: 'token', token: readToken(r) }
    case TYPE.tradeRemoved:
      return { type: 'tradeRemoved', trade: readTradeRef(r) }
    case TYPE.candleRemoved:
      return { type: 'candleRemoved', candle: readCandleRef(r) }
    case TYPE.pairRemoved:
      return { type: 'pairRemoved', pair: r.id() }
    case TYPE.tokenRemoved:
      return { type: 'tokenRemoved', token: r.id() }
    default:
      throw new ChaintapeError('message_unreadable', `unknown change type ${type}`)
  }
}
