import { announcedKey } from '../dex/evm/uniswap-v4/pool-key.ts'
import type { BlockRef, Envelope, Fact, RawLog } from '../domain/envelope.ts'
import { never } from '../domain/ids.ts'
import { ZERO_ADDRESS } from '../domain/known-addresses.ts'
import { type CommittedState, JournaledState, type Table, type Writes } from '../state/journaled-state.ts'
import { blockRefCodec } from '../wire/block-ref-codec.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import { type Codec, id, varuint } from '../wire/codec.ts'
import { InspectionQueue, saysItChanged } from './inspection-queue.ts'
import { LoggedSettings } from './logged-settings.ts'
import { OpenHistories } from './open-histories.ts'

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
 * The reader's index of its own log: the blocks that may still be undone, and the facts already published. It is a fold
 * of that log, undo included: a fact of an undone block is published again.
 */
export class ReaderIndex {
  readonly #state: JournaledState
  readonly #tip: Table<BlockRef>
  readonly #hashes: Table<string>
  /** The round of settings in which its fact was read; of a token, the one in which it was asked about lockers. */
  readonly #pools: Table<number>
  readonly #tokens: Table<number>
  /** Tokens whose burned and locked balances are still to be requested. */
  readonly #unasked: Table<true>
  /** Tokens whose older launch is in the log. */
  readonly #launches: Table<true>
  /** Transfer histories still to be read. */
  readonly histories: OpenHistories
  readonly inspections: InspectionQueue
  readonly settings: LoggedSettings

  readonly #hasHistories: boolean

  /** Without `hasHistories` (on Solana), older transfers and burned balances cannot be requested, so nothing is queued. */
  constructor(committed: CommittedState, { hasHistories = true } = {}) {
    this.#hasHistories = hasHistories
    this.#state = new JournaledState(committed)
    this.#tip = this.#state.table('tip', blockRefCodec)
    this.#hashes = this.#state.table('hash', id)
    this.#pools = this.#state.table('pool', varuint)
    this.#tokens = this.#state.table('token', varuint)
    this.#unasked = this.#state.table('unasked', presentCodec)
    this.#launches = this.#state.table('launch', presentCodec)
    this.histories = new OpenHistories(this.#state)
    this.inspections = new InspectionQueue(this.#state)
    this.settings = new LoggedSettings(this.#state)
  }

  get tip(): BlockRef | undefined {
    return this.#tip.get(ONLY)
  }

  /** The newest block that cannot be undone; before the first `final`, the one before the log's first block. */
  get floor(): BlockRef | undefined {
    const bytes = this.#state.getOutsideBlocks(FLOOR, ONLY)
    return bytes === undefined ? undefined : blockRefCodec.read(new ByteReader(bytes))
  }

  /** The hash of a block that was read, unless it is below the floor. */
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

  knowsLaunch(token: string): boolean {
    return this.#launches.get(token) !== undefined
  }

  isOutdatedPool(address: string): boolean {
    const round = this.#pools.get(address)
    return round !== undefined && round < this.settings.round('pools')
  }

  lacksNonCirculating(address: string): boolean {
    if (this.#unasked.get(address) !== undefined) return true
    const round = this.#hasHistories && address !== ZERO_ADDRESS ? this.#tokens.get(address) : undefined
    return round !== undefined && round < this.settings.round('lockers')
  }

  apply(envelope: Envelope): void {
    switch (envelope.kind) {
      case 'block':
        if (this.floor === undefined) {
          const { number, hash, parentHash } = envelope
          // There is nothing before the very first block, so it can never be undone.
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
        this.histories.reload()
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
      case 'settings':
        this.settings.apply(envelope.settings)
        break
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
    this.settings.abandon()
    this.histories.reload()
  }

  #remember(fact: Fact, block: number): void {
    if (fact.type === 'pool' && this.knowsPool(fact.address)) {
      this.#pools.put(fact.address, this.settings.round('pools'))
      return
    }
    if (this.#hasHistories) this.histories.apply(fact, block)
    this.inspections.apply(fact, block)
    switch (fact.type) {
      case 'pool':
        this.#pools.put(fact.address, this.settings.round('pools'))
        break
      case 'token':
        this.#tokens.put(fact.address, this.settings.round('lockers'))
        if (this.#hasHistories && fact.address !== ZERO_ADDRESS) this.#unasked.put(fact.address, true)
        break
      case 'nonCirculating':
        this.#unasked.delete(fact.address)
        if (this.knowsToken(fact.address)) this.#tokens.put(fact.address, this.settings.round('lockers'))
        break
      case 'launch':
        this.#launches.put(fact.address, true)
        break
      case 'poolState':
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
    for (const log of logs) {
      if (saysItChanged(log) && this.knowsToken(log.address)) this.inspections.change(log.address, block)
      const announced = announcedKey(log)
      if (announced !== undefined && this.knowsPool(announced.pool))
        this.inspections.addKey(announced.pool, announced.key)
    }
  }

  #setFloor(ref: BlockRef): void {
    const w = new ByteWriter()
    blockRefCodec.write(w, ref)
    this.#state.setOutsideBlocks(FLOOR, ONLY, w.finish())
  }
}
