import { isDeepStrictEqual } from 'node:util'
import type { Candle } from '../../domain/change.ts'
import type { DifferenceList } from '../../domain/reconciliation.ts'
import { latestChanges } from '../../store/latest-changes.ts'
import { documentWrites } from '../../store/redis/documents.ts'
import { addressOf } from '../../store/redis/script-calls.ts'
import type { DocumentRef, StoredDocument, StoredDocuments } from '../../store/redis/stored-documents.ts'
import { decodeChangeSet } from '../../wire/change-codec.ts'
import type { ChangeSetIndex } from '../../wire/change-index.ts'
import { END, START } from '../../wire/record-layout.ts'

type ExpectedDocument = DocumentRef & { readonly seq: number; readonly body: Buffer }
type ExpectedCandle = { readonly seq: number; readonly candle: Candle }

export type DocumentCounts = { compared: number; skipped: number }

/** Memory for a stretch with many pairs is bounded: documents beyond this are not compared. */
const MAX_DOCUMENTS = 20_000
const MAX_SERIES = 5_000
const PER_READ = 200
const CANDLES_PER_READ = 300

/** The latest version of each document and open candle that a stretch of the fold changed. */
export class ExpectedDocuments {
  readonly #documents = new Map<string, ExpectedDocument>()
  /** The latest candle of each series. */
  readonly #candles = new Map<string, ExpectedCandle>()
  #isFull = false

  add(set: ChangeSetIndex): void {
    for (const write of documentWrites(latestChanges([set]))) {
      const { kind, base, isRemoved } = write
      const address = addressOf(write)
      const id = `${kind} ${address}`
      if (!this.#documents.has(id) && this.#documents.size >= MAX_DOCUMENTS) {
        this.#isFull = true
        continue
      }
      const [start, end] = isRemoved ? [0, 0] : [set.places[base + START], set.places[base + END]]
      // Copied: the slice would keep the whole message in memory.
      const body = Buffer.from(set.bytes.subarray(start, end))
      this.#documents.set(id, { kind, address, seq: set.seq, body })
    }
    if (set.cause !== 'final') this.#addCandles(set)
  }

  #addCandles({ bytes, seq }: ChangeSetIndex): void {
    for (const change of decodeChangeSet(bytes).changes) {
      if (change.type === 'candleRemoved') {
        const { pair, interval, start } = change.candle
        const id = `${pair} ${interval}`
        // The one before it may be unchanged in this stretch, so this series is left out.
        if (this.#candles.get(id)?.candle.start === start) this.#candles.delete(id)
      }
      if (change.type !== 'candle') continue
      const { candle } = change
      const id = `${candle.pair} ${candle.interval}`
      const known = this.#candles.get(id)
      if (known === undefined && this.#candles.size >= MAX_SERIES) continue
      if (candle.start >= (known?.candle.start ?? 0)) this.#candles.set(id, { seq, candle })
    }
  }

  /** False if some documents of the stretch did not fit into memory. */
  get isComplete(): boolean {
    return !this.#isFull
  }

  /** Compares the documents that have not changed after the stretch, which ends at `upTo`. */
  async compare(
    chain: string,
    stored: Pick<StoredDocuments, 'documents' | 'candles'>,
    upTo: number,
    differences: DifferenceList,
  ): Promise<DocumentCounts> {
    const counts = { compared: 0, skipped: 0 }
    const all = [...this.#documents.values()]
    for (let at = 0; at < all.length; at += PER_READ) {
      const some = all.slice(at, at + PER_READ)
      const found = await stored.documents(chain, some)
      for (const [index, expected] of some.entries()) {
        if (compareDocument(expected, found[index], upTo, differences)) counts.compared++
        else counts.skipped++
      }
    }
    for (const expected of this.#candles.values()) {
      const { pair, interval } = expected.candle
      const series = await stored.candles({ chain, pair, interval }, CANDLES_PER_READ)
      const same = series?.candles.find(({ record }) => record.start === expected.candle.start)
      // A series expires when its pair is idle, and drops its oldest candles.
      if (same === undefined || same.seq > upTo) counts.skipped++
      else {
        compareCandle(expected, same, differences)
        counts.compared++
      }
    }
    return counts
  }
}

/** False if the document has changed since. */
function compareDocument(
  { kind, address, seq, body }: ExpectedDocument,
  stored: StoredDocument | undefined,
  upTo: number,
  differences: DifferenceList,
): boolean {
  const place = { kind: 'document', where: `${kind} ${address}` } as const
  if (stored === undefined) {
    // A tombstone expires.
    if (body.length > 0)
      differences.add({ ...place, what: 'document', stored: 'none', computed: `version ${seq}` })
    return true
  }
  if (stored.seq > upTo) return false
  if (stored.seq !== seq) {
    differences.add({ ...place, what: 'version', stored: String(stored.seq), computed: String(seq) })
  } else if (!stored.body.equals(body)) {
    const [from, to] = [stored.body, body].map((bytes) => aroundDifference(bytes, stored.body, body))
    differences.add({ ...place, what: `bytes of version ${seq}`, stored: from ?? '', computed: to ?? '' })
  }
  return true
}

/** Hex of a few bytes from the first that differs. */
function aroundDifference(bytes: Buffer, a: Buffer, b: Buffer): string {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at++
  return `at ${at} of ${bytes.length}: ${bytes.toString('hex', at, at + 32)}`
}

function compareCandle(
  { seq, candle }: ExpectedCandle,
  stored: { readonly seq: number; readonly record: Candle },
  differences: DifferenceList,
): void {
  const { pair, interval, start } = candle
  const place = { kind: 'document', where: `candles ${pair} ${interval} ${start}` } as const
  if (stored.seq !== seq) {
    differences.add({ ...place, what: 'version', stored: String(stored.seq), computed: String(seq) })
    return
  }
  for (const field of Object.keys(candle) as (keyof Candle)[]) {
    if (isDeepStrictEqual(stored.record[field], candle[field])) continue
    differences.add({
      ...{ ...place, what: `${field} of version ${seq}` },
      ...{ stored: textOf(stored.record[field]), computed: textOf(candle[field]) },
    })
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each)) ?? 'undefined'
}
