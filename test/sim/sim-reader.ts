import { pino } from 'pino'
import { Doorbell } from '../../src/chain/doorbell.ts'
import { Reader } from '../../src/chain/reader.ts'
import { ReaderIndex } from '../../src/chain/reader-index.ts'
import type { BlockRef } from '../../src/domain/envelope.ts'
import type { LogPosition } from '../../src/domain/log-position.ts'
import type { Outbox } from '../../src/lib/outbox.ts'
import { ChainLog } from '../../src/log/chain-log.ts'
import type { IndexStore } from '../../src/roles/reader/appender.ts'
import { takeTurns } from '../../src/roles/reader/take-turns.ts'
import type { Writes } from '../../src/state/journaled-state.ts'
import type { Random } from '../fuzz/random.ts'
import { MemoryState } from '../support/rigs/memory-state.ts'
import { MemoryOutbox } from './memory-outbox.ts'
import { EPOCH, type LineTrouble, SimConnection } from './sim-connection.ts'
import type { SimNode } from './sim-node.ts'
import type { SimStream } from './sim-stream.ts'
import type { VirtualClock } from './virtual-clock.ts'

export const CHAIN = 'simchain'

/** What a reader leaves on its disk. */
export class SimDisk {
  readonly state = new MemoryState()
  position: LogPosition | undefined
  readonly outbox: MemoryOutbox

  constructor(outboxFrames: number) {
    this.outbox = new MemoryOutbox(outboxFrames)
  }
}

export type SimSettings = {
  readonly startBlock: number
  readonly readAheadBlocks: number
  readonly pollMs: number
  readonly maxFrameBytes: number
  readonly lineLatencyMs: number
  /** Rings the reader's doorbell before it polls by itself. */
  readonly hasDoorbell: boolean
  readonly takeoverMs: number
  readonly outboxFrames: number
  /** How long after its death a reader's words may still arrive. */
  readonly lastWordsMs: number
}

export type SimReaderParts = {
  readonly id: number
  readonly clock: VirtualClock
  readonly random: Random
  readonly node: SimNode
  readonly stream: SimStream
  readonly disk: SimDisk
  readonly line: LineTrouble
  readonly settings: SimSettings
  readonly note: (what: string) => void
  /** Called around everything that becomes durable; may kill the reader. */
  readonly onWrite: (reader: SimReader, when: 'before' | 'after') => void
  readonly onProgress: (reader: SimReader, tip: BlockRef | undefined) => void
  /** It ended: without an error because it was stopped, or with one. */
  readonly onEnd: (reader: SimReader, error: unknown) => void
}

/** Thrown where the reader was when it died; whatever it would still do has no effect any more. */
class Died extends Error {}

const logger = pino({ level: 'silent' })
/** Nothing is dropped from this log. */
const NO_ARCHIVE = { read: async function* () {} }

/** A reader process: the real program, joined as its role joins it, over a node and a log that are simulated. */
export class SimReader {
  readonly id: number
  readonly connection: SimConnection
  readonly #parts: SimReaderParts
  readonly #stop = new AbortController()
  readonly #doorbell = new Doorbell()
  #isAlive = true

  constructor(parts: SimReaderParts) {
    const { id, clock, random, stream, line: trouble, settings, onWrite } = parts
    this.#parts = parts
    this.id = id
    this.connection = new SimConnection({
      clock,
      random,
      stream,
      trouble,
      latencyMs: settings.lineLatencyMs,
      lastWordsMs: settings.lastWordsMs,
      isAlive: () => this.#isAlive,
      onWrite: (when) => {
        if (this.#isAlive) onWrite(this, when)
        if (!this.#isAlive && when === 'before') throw new Died()
      },
    })
    this.#run().then(
      () => this.#end(undefined),
      (error: unknown) => this.#end(error),
    )
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** SIGKILL: from this moment on nothing reaches it. */
  kill(): void {
    this.#isAlive = false
    this.connection.cut()
  }

  /** SIGTERM. */
  stop(): void {
    this.#stop.abort()
  }

  ring(): void {
    this.#doorbell.ring()
  }

  async #run(): Promise<void> {
    const { node, disk, settings, onProgress, note } = this.#parts
    const { signal } = this.#stop
    const isAlive = (): boolean => this.#isAlive
    const log = new ChainLog({
      client: this.connection.client(),
      manager: this.connection.manager(),
      stream: CHAIN,
      subject: CHAIN,
      epoch: EPOCH,
      isConnected: () => true,
      onUndelivered: () => undefined,
      maxFrameBytes: settings.maxFrameBytes,
      logger,
      signal,
      outbox: this.#outbox(),
    })
    const index = new ReaderIndex(disk.state)
    const store: IndexStore = {
      get position() {
        return disk.position
      },
      commit: (writes, position) => this.#commit(writes, position),
      clear: () => {
        if (!this.#isAlive) throw new Died()
        disk.state.records.clear()
        disk.position = undefined
      },
    }
    const { pollMs, takeoverMs } = settings
    const source = node.source(isAlive)
    const doorbell = settings.hasDoorbell ? this.#doorbell : new Doorbell()
    const turns = {
      ...{
        chain: CHAIN,
        log,
        archive: NO_ARCHIVE,
        index,
        store,
        logger,
        signal,
        pollMs,
        takeoverMs,
        doorbell,
      },
      head: () => source.head(),
      onProgress: ({ tip }: { tip: BlockRef | undefined }) => onProgress(this, tip),
      onTurn: (turn: string) => note(`reader ${this.id}: ${turn}`),
    }
    await takeTurns(turns, async (appender) => {
      await new Reader({
        chain: CHAIN,
        source,
        index,
        // Readers with different files: each that leads changes the settings.
        settings: { rules: 1, dexes: [], quoteAssets: [], minDepthUsd: BigInt(this.id % 3), lockers: [] },
        gather: node.gather(isAlive),
        // What it finds is thrown away: it may take time and fail at any moment.
        askAhead: async (block, transactions, known) => {
          await node.gather(isAlive)(block, transactions, known)
        },
        append: (envelope) => {
          if (envelope.kind === 'undo') note(`reader ${this.id}: undo to ${envelope.lastValid.number}`)
          if (envelope.kind === 'final') note(`reader ${this.id}: final up to ${envelope.upTo.number}`)
          return appender.append(envelope)
        },
        flush: () => appender.flush(),
        startBlock: settings.startBlock,
        readAheadBlocks: settings.readAheadBlocks,
        pollMs,
        doorbell,
        logger,
        signal,
        onBlock: () => undefined,
        onProgress: turns.onProgress,
      }).run()
    })
  }

  /** The dead write nothing. */
  #outbox(): Outbox {
    const { outbox } = this.#parts.disk
    return {
      add: (epoch, seq, frame) => {
        if (this.#isAlive) outbox.add(epoch, seq, frame)
      },
      get: (epoch, seq) => outbox.get(epoch, seq),
      oldest: () => outbox.oldest(),
      flushed: () => outbox.flushed(),
    }
  }

  #commit(writes: Writes, position: LogPosition): void {
    const { disk, onWrite } = this.#parts
    onWrite(this, 'before')
    if (!this.#isAlive) throw new Died()
    disk.state.write(writes)
    disk.position = position
    onWrite(this, 'after')
    if (!this.#isAlive) throw new Died()
  }

  #end(error: unknown): void {
    if (!this.#isAlive) return
    this.kill()
    this.#parts.onEnd(this, error)
  }
}
