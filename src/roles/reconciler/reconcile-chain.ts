import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainHead } from '../../domain/chain-head.ts'
import type { Generation } from '../../domain/generation.ts'
import type { DifferenceList, Reconciliation } from '../../domain/reconciliation.ts'
import { Engine } from '../../engine/engine.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { BlockArchive } from '../../store/clickhouse/block-archive.ts'
import type { StoredRows } from '../../store/clickhouse/read/stored-rows.ts'
import type { StateFolder } from '../../store/lmdb/snapshots.ts'
import type { StoredDocuments } from '../../store/redis/stored-documents.ts'
import { ExpectedDocuments } from './expected-documents.ts'
import { ExpectedRows, type ExpiredBefore } from './expected-rows.ts'
import { ArchiveFault, foldArchive } from './fold-archive.ts'
import { openScratchState, removeScratchState } from './scratch-state.ts'

export type ReconcileParts = {
  readonly chain: string
  /** The generation that is served, and its name in the stores. */
  readonly generation: Generation
  readonly stored: string
  readonly settings: EngineSettings
  /** The engine's state and its snapshots. */
  readonly folder: Pick<StateFolder, 'format' | 'snapshots'>
  /** Where the snapshot is unpacked; removed afterwards. */
  readonly scratch: string
  readonly blocks: Pick<ChainLog, 'epoch' | 'isQuarantined'>
  readonly archive: Pick<BlockArchive, 'end' | 'read' | 'lastSequence' | 'sequenceOf'>
  readonly marker: (chain: string) => Promise<ChainHead | undefined>
  readonly rows: Pick<StoredRows, 'versions' | 'later'>
  readonly documents: Pick<StoredDocuments, 'head' | 'documents' | 'candles'>
  readonly expiredBefore: ExpiredBefore
  readonly signal: AbortSignal
}

export type Stretch = {
  /** Block numbers; by default from the older snapshot to the last archived block. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** Fold from the first message of the chain if no snapshot is old enough. */
  readonly orFromStart: boolean
  readonly maxMessages: number
  /** Share of the time spent working, at most. */
  readonly load: number
}

/** Rows compared together: they are in memory, and asked for in a few queries. */
const ROWS_TOGETHER = 5_000

/**
 * Folds a stretch of the archive again, from a snapshot, and compares every row and document that it leads to with what
 * ClickHouse and Redis hold. Changes nothing but its own scratch folder.
 */
export async function reconcileStretch(
  parts: ReconcileParts,
  stretch: Stretch,
  differences: DifferenceList,
): Promise<Omit<Reconciliation, 'at' | 'nodeBlocks' | 'differences' | 'examples'>> {
  const { chain, stored, generation, settings, folder, scratch, blocks, archive, documents, signal } = parts
  const none = { blocks: undefined, rows: 0, documents: 0, skipped: 0 }
  const bounds = await boundsOf(parts, stretch)
  const { from, until } = bounds
  const start = { before: from ?? until, prefer: from === undefined ? 'oldest' : 'newest' } as const
  try {
    const { orFromStart, load } = stretch
    const store = await openScratchState(scratch, folder, blocks, { ...start, orFromStart })
    if (store === undefined) return none
    await using resources = new AsyncDisposableStack()
    resources.defer(() => store.close())
    const engine = new Engine(settings, store, generation)
    const rows = new RowComparison(parts, load, differences)
    const hot = new ExpectedDocuments()
    let [first, last, upTo, messages] = [0, 0, 0, 0]
    const fold = { chain, generation, blocks, archive, engine, store, until, load, signal }
    try {
      for await (const set of foldArchive(fold)) {
        if (set.seq < (from ?? 0)) continue
        first ||= set.head.number
        last = set.head.number
        upTo = set.seq
        hot.add(set)
        await rows.add(set)
        if (++messages >= stretch.maxMessages) break
      }
    } catch (error) {
      if (!(error instanceof ArchiveFault)) throw error
      const where = `BLOCKS message ${error.sequence}`
      differences.add({ kind: 'archive', where, what: 'message', stored: error.message, computed: '' })
    }
    if (messages === 0) return none
    await rows.finish()
    const isRedisThere = ((await documents.head(stored))?.seq ?? 0) >= upTo
    const { compared, skipped } = isRedisThere
      ? await hot.compare(stored, documents, upTo, differences)
      : { compared: 0, skipped: 0 }
    return { blocks: { from: first, to: last }, rows: rows.compared, documents: compared, skipped }
  } finally {
    removeScratchState(scratch)
  }
}

/** Sequences of the first message to compare, if it is given, and of the last one: archived, and written to ClickHouse. */
async function boundsOf(
  { chain, stored, blocks, archive, marker }: ReconcileParts,
  { from, to }: Stretch,
): Promise<{ readonly from: number | undefined; readonly until: number }> {
  const [end, written] = await Promise.all([archive.end(chain, blocks.epoch), marker(stored)])
  const until = Math.min(end?.sequence ?? 0, written?.seq ?? 0)
  const sequenceOf = async (number: number | undefined): Promise<number | undefined> =>
    number === undefined ? undefined : await archive.sequenceOf(chain, blocks.epoch, number)
  const [first, last] = [await sequenceOf(from), await sequenceOf(to)]
  // A first block that is not archived: there is nothing to compare.
  if (from !== undefined && first === undefined) return { from: undefined, until: 0 }
  return { from: first, until: Math.min(until, last ?? until) }
}

/** Compares rows a few thousand at a time. */
class RowComparison {
  readonly #parts: ReconcileParts
  readonly #load: number
  readonly #differences: DifferenceList
  readonly #rows = new ExpectedRows()
  compared = 0

  constructor(parts: ReconcileParts, load: number, differences: DifferenceList) {
    this.#parts = parts
    this.#load = load
    this.#differences = differences
  }

  async add(set: Parameters<ExpectedRows['add']>[0]): Promise<void> {
    this.#rows.add(set)
    if (this.#rows.count >= ROWS_TOGETHER) await this.finish()
  }

  async finish(): Promise<void> {
    const { stored, rows, expiredBefore, signal } = this.#parts
    const startedAt = performance.now()
    this.compared += await this.#rows.compare(stored, rows, expiredBefore, this.#differences)
    if (this.#load >= 1) return
    const pauseMs = ((performance.now() - startedAt) * (1 - this.#load)) / this.#load
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}
