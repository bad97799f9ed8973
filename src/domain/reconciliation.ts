export const DIFFERENCE_KINDS = ['row', 'document', 'archive', 'block'] as const

/**
 * - `row`: a row in ClickHouse differs from the fold of the archive
 * - `document`: the same of a document or candle in Redis
 * - `archive`: a message of the archive is damaged, missing, or cannot be folded
 * - `block`: an archived block differs from the node's
 */
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number]

export type Difference = {
  readonly kind: DifferenceKind
  /** The table, key or message, for people. */
  readonly where: string
  /** The column, field or what is missing. */
  readonly what: string
  readonly stored: string
  readonly computed: string
}

/** The outcome of one run for a chain. */
export type Reconciliation = {
  /** Unix seconds of its end. */
  readonly at: number
  /** The first and last block of the stretch that was folded; undefined if there was none. */
  readonly blocks: { readonly from: number; readonly to: number } | undefined
  /** Blocks that were read from a node again. */
  readonly nodeBlocks: number
  readonly rows: number
  readonly documents: number
  /** Documents that have changed since, and so could not be compared. */
  readonly skipped: number
  readonly differences: Readonly<Record<DifferenceKind, number>>
  /** The first of them. */
  readonly examples: readonly Difference[]
}

const MAX_TEXT = 200
const MAX_EXAMPLES = 20

/** Counts differences, and holds the first of them with texts of a bounded length. */
export class DifferenceList {
  readonly counts: Record<DifferenceKind, number> = { row: 0, document: 0, archive: 0, block: 0 }
  readonly examples: Difference[] = []

  add({ kind, where, what, stored, computed }: Difference): void {
    this.counts[kind]++
    if (this.examples.length >= MAX_EXAMPLES) return
    this.examples.push({
      ...{ kind, what },
      where: shortened(where),
      stored: shortened(stored),
      computed: shortened(computed),
    })
  }

  get total(): number {
    return DIFFERENCE_KINDS.reduce((sum, kind) => sum + this.counts[kind], 0)
  }
}

function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… (${text.length} characters)`
}

/** What gateways show of a run. */
export type ReportedReconciliation = Omit<Reconciliation, 'examples' | 'differences'> & {
  readonly differences: number
}

export function encodeReconciliation(found: Reconciliation): Uint8Array {
  const { at, blocks, nodeBlocks, rows, documents, skipped } = found
  const differences = DIFFERENCE_KINDS.reduce((sum, kind) => sum + found.differences[kind], 0)
  const report: ReportedReconciliation = { at, blocks, nodeBlocks, rows, documents, skipped, differences }
  return new TextEncoder().encode(JSON.stringify(report))
}

/** Undefined if it is of another version. */
export function decodeReconciliation(body: Uint8Array): ReportedReconciliation | undefined {
  const found: Partial<ReportedReconciliation> = JSON.parse(new TextDecoder().decode(body))
  const { at, blocks, nodeBlocks, rows, documents, skipped, differences } = found
  const counts = [at, nodeBlocks, rows, documents, skipped, differences]
  const places = blocks === undefined ? [] : [blocks.from, blocks.to]
  if (![...counts, ...places].every((count) => Number.isSafeInteger(count))) return undefined
  return { at, blocks, nodeBlocks, rows, documents, skipped, differences } as ReportedReconciliation
}
