import type { Header, KnownFacts } from '../../chain/source.ts'
import type { Fact, RawTransaction } from '../../domain/envelope.ts'
import type { ArchivedMessage, BlockArchive } from '../../store/clickhouse/block-archive.ts'
import { decodeEnvelope, encodeEnvelope } from '../../wire/envelope-codec.ts'

export type SupplementRowsParts = {
  readonly chain: string
  readonly epoch: string
  readonly archive: Pick<BlockArchive, 'end' | 'read' | 'write' | 'commit'>
  readonly name: string
  readonly earlier: readonly string[]
  /** Throws if the rows are not wanted any more. */
  readonly mustRead: () => void
}

const BATCH_BYTES = 4_000_000
/** What a kill costs, at most; ClickHouse takes one insert per second easily. */
const BATCH_MS = 1_000

/** The blocks of a supplement, and the facts in them. Rows come before the commit point, like those of the archive. */
export class SupplementRows implements KnownFacts {
  readonly #parts: SupplementRowsParts
  readonly #pools = new Set<string>()
  readonly #tokens = new Set<string>()
  #unwritten: ArchivedMessage[] = []
  #unwrittenBytes = 0
  #lastSequence = 0
  #writtenAtMs = performance.now()

  constructor(parts: SupplementRowsParts) {
    this.#parts = parts
  }

  /** In BLOCKS, of the last block that was added. */
  get lastSequence(): number {
    return this.#lastSequence
  }

  knowsPool(address: string): boolean {
    return this.#pools.has(address)
  }

  knowsToken(address: string): boolean {
    return this.#tokens.has(address)
  }

  /** Copies the rows of the earlier attempt that got furthest; returns the number of its last block, 0 if it has none. */
  async continue(): Promise<number> {
    const { epoch, archive, earlier } = this.#parts
    let furthest = { name: '', sequence: 0 }
    for (const name of earlier) {
      const sequence = (await archive.end(name, epoch))?.sequence ?? 0
      if (sequence > furthest.sequence) furthest = { name, sequence }
    }
    let last = 0
    if (furthest.sequence === 0) return last
    for await (const { body, position } of archive.read(furthest.name, epoch, 0)) {
      const block = decodeEnvelope(body)
      if (block.kind !== 'block') continue
      last = block.number
      this.#take(position.sequence, block, body, block.facts)
      await this.flushIfDue()
    }
    await this.flush()
    return last
  }

  add(
    sequence: number,
    header: Header,
    transactions: readonly RawTransaction[],
    facts: readonly Fact[],
  ): void {
    const { chain } = this.#parts
    const { number, hash, parentHash, time } = header
    const place = { chain, number, hash, parentHash, time }
    this.#take(sequence, header, encodeEnvelope({ kind: 'block', ...place, transactions, facts }), facts)
  }

  async flushIfDue(): Promise<void> {
    const isDue = performance.now() - this.#writtenAtMs >= BATCH_MS
    if (isDue || this.#unwrittenBytes >= BATCH_BYTES) await this.flush()
  }

  /** After a failure, the next call writes the same rows again. */
  async flush(): Promise<void> {
    const { archive, name, mustRead } = this.#parts
    const end = this.#unwritten.at(-1)
    if (end === undefined) return
    // Nobody would remove rows that are written after their generation was removed.
    mustRead()
    await archive.write(name, this.#unwritten)
    await archive.commit(name, end.position)
    this.#unwritten = []
    this.#unwrittenBytes = 0
    this.#writtenAtMs = performance.now()
  }

  #take(
    sequence: number,
    { number, hash, time }: Omit<Header, 'parentHash'>,
    body: Uint8Array,
    facts: readonly Fact[],
  ): void {
    const position = { epoch: this.#parts.epoch, sequence, link: 0 }
    const previousSequence = this.#lastSequence
    this.#unwritten.push({ kind: 'block', number, hash, time, body, position, previousSequence })
    this.#unwrittenBytes += body.length
    this.#lastSequence = sequence
    for (const { type, address } of facts) {
      if (type === 'pool') this.#pools.add(address)
      if (type === 'token') this.#tokens.add(address)
    }
  }
}
