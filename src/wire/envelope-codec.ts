import type {
  BlockEnvelope,
  Envelope,
  FinalEnvelope,
  RawLog,
  RawTransaction,
  UndoEnvelope,
} from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { never } from '../domain/ids.ts'
import { blockRefCodec } from './block-ref-codec.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { factCodec } from './fact-codec.ts'
import { OpenedTransaction } from './opened-transaction.ts'

/** A change of layout takes the next number. Version 4 had no `isOld` and is still read. */
const VERSION = 5
const VERSION_WITHOUT_OLD = 4
const KIND = { block: 1, undo: 2, final: 3 } as const

type BlockOf<Transaction> = Omit<BlockEnvelope, 'transactions'> & {
  readonly transactions: readonly Transaction[]
}
type EnvelopeOf<Transaction> = BlockOf<Transaction> | UndoEnvelope | FinalEnvelope

/** A block with transactions that are read in place: valid as long as its message. */
export type OpenedBlock = BlockOf<OpenedTransaction>

export function encodeEnvelope(envelope: Envelope): Uint8Array {
  const w = new ByteWriter()
  w.u8(VERSION)
  w.u8(KIND[envelope.kind])
  w.text(envelope.chain)
  switch (envelope.kind) {
    case 'block':
      w.varuint(envelope.number)
      w.id(envelope.hash)
      w.id(envelope.parentHash)
      w.varuint(envelope.time)
      w.bool(envelope.isOld ?? false)
      w.list(envelope.transactions, (transaction) => writeTransaction(w, transaction))
      w.list(envelope.facts, (fact) => factCodec.write(w, fact))
      break
    case 'undo':
      blockRefCodec.write(w, envelope.lastValid)
      break
    case 'final':
      blockRefCodec.write(w, envelope.upTo)
      break
    default:
      never(envelope)
  }
  return w.finish()
}

export function decodeEnvelope(bytes: Uint8Array): Envelope {
  return readEnvelope(bytes, readTransaction)
}

/** Decodes for the fold, which copies ids from message to message. */
export function openEnvelope(bytes: Uint8Array): EnvelopeOf<OpenedTransaction> {
  return readEnvelope(bytes, (r) => openTransaction(r, bytes))
}

function readEnvelope<T>(bytes: Uint8Array, read: (r: ByteReader) => T): EnvelopeOf<T> {
  const r = new ByteReader(bytes)
  const version = r.u8()
  if (version !== VERSION && version !== VERSION_WITHOUT_OLD) {
    throw new ChaintapeError('message_unreadable', `BLOCKS message has version ${version}, not ${VERSION}`)
  }
  const kind = r.u8()
  const chain = r.text()
  const envelope = readKind(r, kind, chain, version !== VERSION_WITHOUT_OLD, read)
  r.end()
  return envelope
}

function readKind<T>(
  r: ByteReader,
  kind: number,
  chain: string,
  hasOld: boolean,
  read: (r: ByteReader) => T,
): EnvelopeOf<T> {
  switch (kind) {
    case KIND.block:
      return {
        kind: 'block',
        chain,
        number: r.varuint(),
        hash: r.id(),
        parentHash: r.id(),
        time: r.varuint(),
        ...(hasOld && r.bool() && { isOld: true }),
        transactions: r.list(() => read(r)),
        facts: r.list(() => factCodec.read(r)),
      }
    case KIND.undo:
      return { kind: 'undo', chain, lastValid: blockRefCodec.read(r) }
    case KIND.final:
      return { kind: 'final', chain, upTo: blockRefCodec.read(r) }
    default:
      throw new ChaintapeError('message_unreadable', `unknown envelope kind ${kind}`)
  }
}

/**
 * Reader and writer of transactions and logs are by hand: they are most of a message, and the fold reads them in place.
 */
function writeTransaction(w: ByteWriter, transaction: RawTransaction): void {
  w.varuint(transaction.index)
  w.id(transaction.hash)
  w.id(transaction.from)
  w.list(transaction.logs, (log) => {
    w.varuint(log.index)
    w.id(log.address)
    w.list(log.topics, (topic) => w.id(topic))
    w.bytes(log.data)
  })
}

function readTransaction(r: ByteReader): RawTransaction {
  return { index: r.varuint(), hash: r.id(), from: r.id(), logs: r.list(() => readLog(r)) }
}

function openTransaction(r: ByteReader, message: Uint8Array): OpenedTransaction {
  const index = r.varuint()
  const places = { hashAt: r.skipId(), fromAt: r.skipId(), end: r.position }
  return new OpenedTransaction(
    index,
    message,
    places,
    r.list(() => readLog(r)),
  )
}

function readLog(r: ByteReader): RawLog {
  return {
    index: r.varuint(),
    address: r.recurringId(),
    topics: r.list(() => r.recurringId()),
    data: r.bytes(),
  }
}
