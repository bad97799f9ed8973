import type { BlockRef, Envelope, Fact, RawLog, RawTransaction } from '../envelope.ts'
import { ChaintapeError } from '../errors.ts'
import { never } from '../ids.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'

/** Version 1 of a BLOCKS message. A change of layout takes the next number and keeps reading this one. */
const VERSION = 1
const KIND = { block: 1, undo: 2, final: 3 } as const
const FACT = { pool: 1, token: 2 } as const

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
      w.list(envelope.transactions, (transaction) => writeTransaction(w, transaction))
      w.list(envelope.facts, (fact) => writeFact(w, fact))
      break
    case 'undo':
      writeBlockRef(w, envelope.lastValid)
      break
    case 'final':
      writeBlockRef(w, envelope.upTo)
      break
    default:
      never(envelope)
  }
  return w.finish()
}

export function decodeEnvelope(bytes: Uint8Array): Envelope {
  const r = new ByteReader(bytes)
  const version = r.u8()
  if (version !== VERSION) {
    throw new ChaintapeError('message_unreadable', `BLOCKS message has version ${version}, not ${VERSION}`)
  }
  const kind = r.u8()
  const chain = r.text()
  const envelope = readKind(r, kind, chain)
  r.end()
  return envelope
}

function readKind(r: ByteReader, kind: number, chain: string): Envelope {
  switch (kind) {
    case KIND.block:
      return {
        kind: 'block',
        chain,
        number: r.varuint(),
        hash: r.id(),
        parentHash: r.id(),
        time: r.varuint(),
        transactions: r.list(() => readTransaction(r)),
        facts: r.list(() => readFact(r)),
      }
    case KIND.undo:
      return { kind: 'undo', chain, lastValid: readBlockRef(r) }
    case KIND.final:
      return { kind: 'final', chain, upTo: readBlockRef(r) }
    default:
      throw new ChaintapeError('message_unreadable', `unknown envelope kind ${kind}`)
  }
}

export function writeBlockRef(w: ByteWriter, ref: BlockRef): void {
  w.varuint(ref.number)
  w.id(ref.hash)
}

export function readBlockRef(r: ByteReader): BlockRef {
  return { number: r.varuint(), hash: r.id() }
}

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

function readLog(r: ByteReader): RawLog {
  return {
    index: r.varuint(),
    address: r.recurringId(),
    topics: r.list(() => r.recurringId()),
    data: r.bytes(),
  }
}

function writeFact(w: ByteWriter, fact: Fact): void {
  w.u8(FACT[fact.type])
  w.id(fact.address)
  switch (fact.type) {
    case 'pool':
      w.id(fact.factory)
      w.id(fact.token0)
      w.id(fact.token1)
      break
    case 'token':
      w.text(fact.name)
      w.text(fact.symbol)
      w.optional(fact.decimals, (decimals) => w.u8(decimals))
      w.optional(fact.supplyRaw, (supply) => w.biguint(supply))
      break
    default:
      never(fact)
  }
}

function readFact(r: ByteReader): Fact {
  const type = r.u8()
  const address = r.id()
  switch (type) {
    case FACT.pool:
      return { type: 'pool', address, factory: r.id(), token0: r.id(), token1: r.id() }
    case FACT.token:
      return {
        type: 'token',
        address,
        name: r.text(),
        symbol: r.text(),
        decimals: r.optional(() => r.u8()),
        supplyRaw: r.optional(() => r.biguint()),
      }
    default:
      throw new ChaintapeError('message_unreadable', `unknown fact type ${type}`)
  }
}
