import type {
  BlockRef,
  Envelope,
  Fact,
  PoolFact,
  Pricing,
  RawLog,
  RawTransaction,
  TransfersFact,
} from '../../../../../src/domain/envelope.ts'
import { ChaintapeError } from '../../../../../src/domain/errors.ts'
import { never } from '../../../../../src/domain/ids.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { readSigned, writeSigned } from './field-codec.ts'
import { readInspection, writeInspection } from './inspection-codec.ts'

/** Version 4 of a BLOCKS message. A change of layout takes the next number and, once released, keeps reading this one. */
const VERSION = 4
const KIND = { block: 1, undo: 2, final: 3 } as const
const FACT = {
  pool: 1,
  token: 2,
  transfers: 3,
  balance: 4,
  inspection: 5,
  inspectionFailure: 6,
  nonCirculating: 7,
} as const
const PRICING = { reserves: 1, sqrtPrice: 2, bins: 3, trades: 4 } as const

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

/** Throws if the fact cannot be written, or not be read again: one such fact would make its whole block unreadable. */
export function expectEncodable(fact: Fact): void {
  const w = new ByteWriter()
  writeFact(w, fact)
  const r = new ByteReader(w.finish())
  readFact(r)
  r.end()
}

function writeFact(w: ByteWriter, fact: Fact): void {
  w.u8(FACT[fact.type])
  w.id(fact.address)
  switch (fact.type) {
    case 'pool':
      w.id(fact.factory)
      w.list(fact.tokens, (token) => w.id(token))
      writePricing(w, fact.pricing)
      w.optional(fact.reservesBefore, (reserves) => w.list(reserves, (reserve) => w.biguint(reserve)))
      w.optional(fact.goalRaw, (goal) => w.biguint(goal))
      break
    case 'token':
      w.bytes(fact.nameRaw)
      w.bytes(fact.symbolRaw)
      w.optional(fact.decimals, (decimals) => w.u8(decimals))
      w.optional(fact.supplyRaw, (supply) => w.biguint(supply))
      break
    case 'transfers':
      writeTransfers(w, fact)
      break
    case 'inspection':
      writeInspection(w, fact.inspection)
      break
    case 'inspectionFailure':
      w.varuint(fact.block)
      break
    case 'nonCirculating':
      w.list(fact.balances, ({ holder, amountRaw }) => {
        w.recurringId(holder)
        w.biguint(amountRaw)
      })
      break
    case 'balance':
      w.id(fact.holder)
      w.biguint(fact.amountRaw)
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
      return readPool(r, address)
    case FACT.token:
      return {
        type: 'token',
        address,
        nameRaw: r.bytes(),
        symbolRaw: r.bytes(),
        decimals: r.optional(() => r.u8()),
        supplyRaw: r.optional(() => r.biguint()),
      }
    case FACT.transfers:
      return readTransfers(r, address)
    case FACT.inspection:
      return { type: 'inspection', address, inspection: readInspection(r) }
    case FACT.inspectionFailure:
      return { type: 'inspectionFailure', address, block: r.varuint() }
    case FACT.nonCirculating: {
      const balances = r.list(() => ({ holder: r.recurringId(), amountRaw: r.biguint() }))
      return { type: 'nonCirculating', address, balances }
    }
    case FACT.balance:
      return { type: 'balance', address, holder: r.id(), amountRaw: r.biguint() }
    default:
      throw new ChaintapeError('message_unreadable', `unknown fact type ${type}`)
  }
}

function readPool(r: ByteReader, address: string): PoolFact {
  const pool: PoolFact = {
    type: 'pool',
    address,
    factory: r.id(),
    tokens: r.list(() => r.id()),
    pricing: readPricing(r),
    reservesBefore: r.optional(() => r.list(() => r.biguint())),
  }
  const goalRaw = r.optional(() => r.biguint())
  return goalRaw === undefined ? pool : { ...pool, goalRaw }
}

function writeTransfers(w: ByteWriter, fact: TransfersFact): void {
  w.varuint(fact.upTo)
  w.bool(fact.isLast)
  w.optional(fact.first, ({ time, sender }) => {
    w.varuint(time)
    w.id(sender)
  })
  w.list(fact.gains, ({ holder, amountRaw }) => {
    w.id(holder)
    writeSigned(w, amountRaw)
  })
  writeSigned(w, fact.issuedRaw)
  w.biguint(fact.burnedRaw)
  w.biguint(fact.mintedToZeroRaw)
}

function readTransfers(r: ByteReader, address: string): TransfersFact {
  return {
    type: 'transfers',
    address,
    upTo: r.varuint(),
    isLast: r.bool(),
    first: r.optional(() => ({ time: r.varuint(), sender: r.id() })),
    gains: r.list(() => ({ holder: r.id(), amountRaw: readSigned(r) })),
    issuedRaw: readSigned(r),
    burnedRaw: r.biguint(),
    mintedToZeroRaw: r.biguint(),
  }
}

export function writePricing(w: ByteWriter, pricing: Pricing): void {
  w.u8(PRICING[pricing.kind])
  if (pricing.kind === 'bins') w.varuint(pricing.binStep)
}

export function readPricing(r: ByteReader): Pricing {
  const kind = r.u8()
  switch (kind) {
    case PRICING.reserves:
      return { kind: 'reserves' }
    case PRICING.sqrtPrice:
      return { kind: 'sqrtPrice' }
    case PRICING.bins:
      return { kind: 'bins', binStep: r.varuint() }
    case PRICING.trades:
      return { kind: 'trades' }
    default:
      throw new ChaintapeError('message_unreadable', `unknown pricing ${kind}`)
  }
}
