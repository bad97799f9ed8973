import type { LogPosition } from '../../domain/log-position.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { ArchivedMessage, BlockArchive } from '../../store/clickhouse/block-archive.ts'
import { decodeEnvelopeHead } from '../../wire/envelope-codec.ts'

export type ArchiverParts = {
  readonly chain: string
  readonly log: Pick<ChainLog, 'epoch' | 'read'>
  readonly archive: Pick<BlockArchive, 'end' | 'write' | 'commit'>
  /** Runs `work` until ClickHouse answers. */
  readonly insist: <T>(work: () => Promise<T>) => Promise<T>
  readonly signal: AbortSignal
  /** Called with the sequence up to which BLOCKS is archived. */
  readonly onArchived: (sequence: number) => void
}

/** One insert per second is little for ClickHouse, and lags less than finality does. */
const BATCH_MS = 1_000
const BATCH_BYTES = 4_000_000
/** Beyond this, messages that wait for finality are read again later instead of being held. */
const WAITING_BYTES = 64_000_000

/**
 * Copies BLOCKS into the archive, up to the first block that is not final yet. Rows come before the commit point, so a
 * crash repeats a batch, and rows of a repeated batch replace each other.
 */
export class BlockArchiver {
  readonly #parts: ArchiverParts
  #finalNumber = -1
  #archived: LogPosition | undefined

  constructor(parts: ArchiverParts) {
    this.#parts = parts
  }

  /** Until the signal aborts. */
  async run(): Promise<void> {
    const { chain, log, archive, insist, signal, onArchived } = this.#parts
    this.#archived = await insist(() => archive.end(chain, log.epoch))
    onArchived(this.#archived?.sequence ?? 0)
    while (!signal.aborted) await this.#follow()
  }

  /** Returns to be called again if too much waits for finality. */
  async #follow(): Promise<void> {
    const { log, signal } = this.#parts
    const after = this.#archived
    let previousSequence = after?.sequence ?? 0
    const waiting = new WaitingMessages()
    let batch: ArchivedMessage[] = []
    let batchBytes = 0
    let writtenAtMs = Number.NEGATIVE_INFINITY
    for await (const { body, position } of log.read({ after, signal, withQuarantined: true })) {
      const message = { ...headOf(body), body, position, previousSequence }
      previousSequence = position.sequence
      if (message.kind === 'final') this.#finalNumber = Math.max(this.#finalNumber, message.number)
      waiting.add(message)
      if (waiting.hasDropped) {
        if (waiting.firstNumber <= this.#finalNumber) return
        continue
      }
      for (const each of waiting.takeUpTo(this.#finalNumber)) {
        batch.push(each)
        batchBytes += each.body.length
      }
      const isDue = message.kind === 'final' && performance.now() - writtenAtMs >= BATCH_MS
      if (batch.length === 0 || (!isDue && batchBytes < BATCH_BYTES)) continue
      await this.#write(batch)
      batch = []
      batchBytes = 0
      writtenAtMs = performance.now()
    }
  }

  /** A batch after a gap could never be read again. */
  async #expectArchive(): Promise<void> {
    const { chain, log, archive } = this.#parts
    const end = await archive.end(chain, log.epoch)
    if ((end?.sequence ?? 0) < (this.#archived?.sequence ?? 0))
      throw new ArchiveLost(`the archive of ${chain} has lost its end; continuing from ${end?.sequence ?? 0}`)
  }

  async #write(batch: readonly ArchivedMessage[]): Promise<void> {
    const { chain, archive, insist, onArchived } = this.#parts
    const { position } = batch.at(-1) as ArchivedMessage
    await insist(async () => {
      await this.#expectArchive()
      await archive.write(chain, batch)
      await archive.commit(chain, position)
    })
    this.#archived = position
    onArchived(position.sequence)
  }
}

/** ClickHouse lost its disk, or was restored from a backup: the archive is written again from the position it has now. */
export class ArchiveLost extends Error {}

/** Messages from the first block on that is not final, in order. */
class WaitingMessages {
  #messages: ArchivedMessage[] = []
  #bytes = 0
  /** The block that all of them wait for. */
  firstNumber = 0
  hasDropped = false

  add(message: ArchivedMessage): void {
    if (this.hasDropped) return
    this.#messages.push(message)
    this.#bytes += message.body.length
    if (this.#bytes <= WAITING_BYTES) return
    this.firstNumber = this.#messages.find(({ kind }) => kind === 'block')?.number ?? 0
    this.#messages = []
    this.hasDropped = true
  }

  /** Removes and returns the messages before the first block above this one. Settings wait for the block after them. */
  takeUpTo(finalNumber: number): ArchivedMessage[] {
    const found = this.#messages.findIndex(({ kind, number }) => kind === 'block' && number > finalNumber)
    const before = this.#messages.slice(0, found === -1 ? undefined : found)
    const lastBlock = before.findLastIndex(({ kind }) => kind === 'block')
    const settings = before.findIndex(({ kind }, at) => kind === 'settings' && at > lastBlock)
    const taken = this.#messages.splice(0, settings === -1 ? before.length : settings)
    for (const { body } of taken) this.#bytes -= body.length
    return taken
  }
}

function headOf(body: Uint8Array): Pick<ArchivedMessage, 'kind' | 'number' | 'hash' | 'time'> {
  try {
    return decodeEnvelopeHead(body)
  } catch {
    // An operator quarantines such a message; the archive holds it like the log does.
    return { kind: 'unreadable', number: 0, hash: '', time: 0 }
  }
}
