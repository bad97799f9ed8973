import type { BlockRef, Envelope, Fact, RawLog } from '../domain/envelope.ts'
import { never } from '../domain/ids.ts'
import { ZERO_ADDRESS } from '../domain/known-addresses.ts'
import { type CommittedState, JournaledState, type Table, type Writes } from '../state/journaled-state.ts'
import { blockRefCodec } from '../wire/block-ref-codec.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import { type Codec, id } from '../wire/codec.ts'
import { HistoryQueue } from './history-queue.ts'
import { InspectionQueue, saysItChanged } from './inspection-queue.ts'

const ONLY = 'only'
const FLOOR = 'floor'
const presentCodec: Codec<true> = {
  write: (w) => w.bool(true),
  read: (r) => {
    r.bool()
    return true
  },
}

/**
 * The reader's memory of its own log: the blocks that may still be undone, and the facts it has already published. It
 * is a fold of that log, undo included: a fact of an undone block is published again.
 */
export class ReaderIndex {
  readonly #state: JournaledState
  readonly #tip: Table<BlockRef>
  readonly #hashes: Table<string>
  readonly #pools: Table<true>
  readonly #tokens: Table<true>
  /** Tokens whose burned and locked balances are still to be asked for. */
  readonly #unasked: Table<true>
  /** Queue of transfer histories still to be read. */
  readonly histories: HistoryQueue
  readonly inspections: InspectionQueue

  constructor(committed: CommittedState) {
    this.#state = new JournaledState(committed)
    this.#tip = this.#state.table('tip', blockRefCodec)
    this.#hashes = this.#state.table('hash', id)
    this.#pools = this.#state.table('pool', presentCodec)
    this.#tokens = this.#state.table('token', presentCodec)
    this.#unasked = this.#state.table('unasked', presentCodec)
    this.histories = new HistoryQueue(this.#state)
    this.inspections = new InspectionQueue(this.#state)
  }

  get tip(): BlockRef | undefined {
    return this.#tip.get(ONLY)
  }

  /** The newest block that cannot be undone; before the first `final`, the one the log starts behind. */
  get floor(): BlockRef | undefined {
    const bytes = this.#state.getOutsideBlocks(FLOOR, ONLY)
    return bytes === undefined ? undefined : blockRefCodec.read(new ByteReader(bytes))
  }

  /** The hash of a block of the chain as read so far, if it is not below the floor. */
  hashAt(number: number): string | undefined {
    const floor = this.floor
    return floor?.number === number ? floor.hash : this.#hashes.get(String(number))
  }

  knowsPool(address: string): boolean {
    return this.#pools.get(address) !== undefined
  }

  knowsToken(address: string): boolean {
    return this.#tokens.get(address) !== undefined
  }

  lacksNonCirculating(address: string): boolean {
    return this.#unasked.get(address) !== undefined
  }

  apply(envelope: Envelope): void {
    switch (envelope.kind) {
      case 'block':
        if (this.floor === undefined) {
          const { number, hash, parentHash } = envelope
          // Nothing comes before the very first block, so it can never be undone itself.
          this.#setFloor(number === 0 ? { number, hash } : { number: number - 1, hash: parentHash })
        }
        this.#tip.put(ONLY, { number: envelope.number, hash: envelope.hash })
        this.#hashes.put(String(envelope.number), envelope.hash)
        for (const fact of envelope.facts) this.#remember(fact, envelope.number)
        for (const { logs } of envelope.transactions) this.#notice(logs, envelope.number)
        this.#state.sealBlock(envelope.number)
        break
      case 'undo':
        this.#state.undoBlocks(envelope.lastValid.number + 1, this.tip?.number ?? 0)
        break
      case 'final': {
        const first = (this.floor?.number ?? 0) + 1
        this.#state.forgetBlocks(first, envelope.upTo.number)
        for (let number = first; number <= envelope.upTo.number; number++) {
          this.#state.setOutsideBlocks('hash', String(number), undefined)
        }
        this.#setFloor(envelope.upTo)
        break
      }
      default:
        never(envelope)
    }
  }

  pending(): Writes {
    return this.#state.pending()
  }

  committed(): void {
    this.#state.committed()
  }

  abandon(): void {
    this.#state.abandon()
  }

  #remember(fact: Fact, block: number): void {
    this.histories.apply(fact, block)
    this.inspections.apply(fact, block)
    switch (fact.type) {
      case 'pool':
        this.#pools.put(fact.address, true)
        break
      case 'token':
        this.#tokens.put(fact.address, true)
        if (fact.address !== ZERO_ADDRESS) this.#unasked.put(fact.address, true)
        break
      case 'nonCirculating':
        this.#unasked.delete(fact.address)
        break
      case 'transfers':
      case 'balance':
      case 'inspection':
      case 'inspectionFailure':
        break
      default:
        never(fact)
    }
  }

  #notice(logs: readonly RawLog[], block: number): void {
    for (const log of logs)
      if (saysItChanged(log) && this.knowsToken(log.address)) this.inspections.change(log.address, block)
  }

  #setFloor(ref: BlockRef): void {
    const w = new ByteWriter()
    blockRefCodec.write(w, ref)
    this.#state.setOutsideBlocks(FLOOR, ONLY, w.finish())
  }
}
