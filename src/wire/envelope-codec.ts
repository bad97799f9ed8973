import type {
  BlockEnvelope,
  BlockRef,
  Envelope,
  Fact,
  FinalEnvelope,
  PoolFact,
  Pricing,
  RawLog,
  RawTransaction,
  TransfersFact,
  UndoEnvelope,
} from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { never } from '../domain/ids.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { readSigned, writeSigned } from './field-codec.ts'
import { readInspection, writeInspection } from './inspection-codec.ts'
import { OpenedTransaction } from './opened-transaction.ts'

/** A change of layout takes the next number. Version 4 had no `isOld` and is still read. */
const VERSION = 5
const VERSION_WITHOUT_OLD = 4
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
