import type {
  BlockEnvelope,
  BlockRef,
  Envelope,
  FinalEnvelope,
  RawLog,
  RawTransaction,
  SettingsEnvelope,
  UndoEnvelope,
} from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { never } from '../domain/ids.ts'
import type { WalletBalances } from '../domain/wallet-balances.ts'
import { blockRefCodec } from './block-ref-codec.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { factCodec } from './fact-codec.ts'
import { OpenedTransaction } from './opened-transaction.ts'
import { settingsCodec } from './settings-codec.ts'
import { readWallet, writeWallet } from './wallet-codec.ts'

/**
 * A change of layout takes the next number. Version 5 had neither settings nor the balances of wallets, and version 4 no
 * `isOld`; both are still read.
 */
const VERSION = 6
const VERSION_WITHOUT_SETTINGS = 5
const VERSION_WITHOUT_OLD = 4
const KIND = { block: 1, undo: 2, final: 3, settings: 4 } as const

type BlockOf<Transaction> = Omit<BlockEnvelope, 'transactions'> & {
  readonly transactions: readonly Transaction[]
}
type EnvelopeOf<Transaction> = BlockOf<Transaction> | UndoEnvelope | FinalEnvelope | SettingsEnvelope

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
    case 'settings':
      settingsCodec.write(w, envelope.settings)
      break
    default:
      never(envelope)
  }
  return w.finish()
}

export function decodeEnvelope(bytes: Uint8Array): Envelope {
  return readEnvelope(bytes, readTransaction)
}

export type EnvelopeHead = BlockRef & { readonly kind: Envelope['kind']; readonly time: number }

/** Kind and block of a message without its content; `time` is 0 unless it is a block. Settings are of no block. */
export function decodeEnvelopeHead(bytes: Uint8Array): EnvelopeHead {
  const r = new ByteReader(bytes)
  const version = readVersion(r)
  const kind = r.u8()
  r.text()
  if (kind === KIND.undo) return { kind: 'undo', ...blockRefCodec.read(r), time: 0 }
  if (kind === KIND.final) return { kind: 'final', ...blockRefCodec.read(r), time: 0 }
  if (kind === KIND.settings && version === VERSION) return { kind: 'settings', number: 0, hash: '', time: 0 }
  if (kind !== KIND.block) throw unknownKind(kind)
  const number = r.varuint()
  const hash = r.id()
  r.id()
  return { kind: 'block', number, hash, time: r.varuint() }
}

/** Decodes for the fold, which copies ids from message to message. */
export function openEnvelope(bytes: Uint8Array): EnvelopeOf<OpenedTransaction> {
  return readEnvelope(bytes, (r, version) => openTransaction(r, version, bytes))
}

type Read<T> = (r: ByteReader, version: number) => T

function readEnvelope<T>(bytes: Uint8Array, read: Read<T>): EnvelopeOf<T> {
  const r = new ByteReader(bytes)
  const version = readVersion(r)
  const kind = r.u8()
  const chain = r.text()
  const envelope = readKind(r, kind, chain, version, read)
  r.end()
  return envelope
}

function readVersion(r: ByteReader): number {
  const version = r.u8()
  if (version <= VERSION && version >= VERSION_WITHOUT_OLD) return version
  throw new ChaintapeError('message_unreadable', `BLOCKS message has version ${version}, not ${VERSION}`)
}

function unknownKind(kind: number): ChaintapeError {
  return new ChaintapeError('message_unreadable', `unknown envelope kind ${kind}`)
}

function readKind<T>(
  r: ByteReader,
  kind: number,
  chain: string,
  version: number,
  read: Read<T>,
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
        ...(version > VERSION_WITHOUT_OLD && r.bool() && { isOld: true }),
        transactions: r.list(() => read(r, version)),
        facts: r.list(() => factCodec.read(r)),
      }
    case KIND.undo:
      return { kind: 'undo', chain, lastValid: blockRefCodec.read(r) }
    case KIND.final:
      return { kind: 'final', chain, upTo: blockRefCodec.read(r) }
    case KIND.settings:
      if (version <= VERSION_WITHOUT_SETTINGS) throw unknownKind(kind)
      return { kind: 'settings', chain, settings: settingsCodec.read(r) }
    default:
      throw unknownKind(kind)
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
  w.optional(transaction.wallet, (wallet) => writeWallet(w, wallet))
}

function readTransaction(r: ByteReader, version: number): RawTransaction {
  const transaction = { index: r.varuint(), hash: r.id(), from: r.id(), logs: r.list(() => readLog(r)) }
  const wallet = walletIn(r, version)
  return wallet === undefined ? transaction : { ...transaction, wallet }
}

function openTransaction(r: ByteReader, version: number, message: Uint8Array): OpenedTransaction {
  const index = r.varuint()
  const places = { hashAt: r.skipId(), fromAt: r.skipId(), end: r.position }
  const logs = r.list(() => readLog(r))
  return new OpenedTransaction(index, message, places, logs, walletIn(r, version))
}

function walletIn(r: ByteReader, version: number): WalletBalances | undefined {
  return version > VERSION_WITHOUT_SETTINGS ? r.optional(() => readWallet(r)) : undefined
}

function readLog(r: ByteReader): RawLog {
  return {
    index: r.varuint(),
    address: r.recurringId(),
    topics: r.list(() => r.recurringId()),
    data: r.bytes(),
  }
}
