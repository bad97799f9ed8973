import type { DifferenceList } from '../../domain/reconciliation.ts'
import type { StoredRange, StoredRows, StoredTable } from '../../store/clickhouse/read/stored-rows.ts'
import { type CellRow, cellRows, cellText } from '../../store/clickhouse/row-cells.ts'
import { ROW_KEYS } from '../../store/clickhouse/row-keys.ts'
import { rowsOf, type TableRows } from '../../store/clickhouse/rows.ts'
import type { TableName } from '../../store/clickhouse/table-names.ts'
import { latestChanges } from '../../store/latest-changes.ts'
import type { ChangeSetIndex } from '../../wire/change-index.ts'

type Versions = {
  /** The cells of the key, of any version. */
  readonly row: CellRow
  readonly bySeq: Map<number, CellRow>
  last: number
  isLastFound: boolean
}

/** Rows whose time is before this have been dropped; undefined for a table that keeps all. */
export type ExpiredBefore = (table: TableName) => number | undefined

/** Keys per query: their values are part of its address. */
const KEYS_PER_QUERY = 200

/**
 * The rows that a few change sets write to one table. A batch of the writer stores only the latest version of a key, and
 * ClickHouse merges versions away, so ClickHouse may hold any of them, must hold the last one or a later one, and may
 * hold no other.
 */
export class ExpectedTable {
  readonly #table: StoredTable
  readonly #keyAt: readonly number[]
  readonly #seqAt: number
  readonly #timeAt: number
  readonly #versions = new Map<string, Versions>()

  constructor({ table: name, columns, types }: Pick<TableRows, 'table' | 'columns' | 'types'>) {
    this.#table = { name, columns, types }
    const { key, time } = ROW_KEYS[name]
    this.#keyAt = key.map((column) => columns.indexOf(column))
    this.#seqAt = columns.indexOf('seq')
    this.#timeAt = time === undefined ? -1 : columns.indexOf(time)
  }

  add(chunks: readonly Buffer[]): number {
    let count = 0
    for (const row of cellRows(Buffer.concat(chunks), this.#table.types)) {
      const seq = this.#seqOf(row)
      const id = this.#idOf(row)
      const versions = this.#versions.get(id)
      if (versions === undefined) {
        this.#versions.set(id, { row, bySeq: new Map([[seq, row]]), last: seq, isLastFound: false })
      } else {
        versions.bySeq.set(seq, row)
        versions.last = Math.max(versions.last, seq)
      }
      count++
    }
    return count
  }

  /** Returns the number of stored rows that were compared. */
  async compare(
    stored: Pick<StoredRows, 'versions' | 'later'>,
    { chain, after, upTo }: Pick<StoredRange, 'chain' | 'after' | 'upTo'>,
    expiredBefore: number,
    differences: DifferenceList,
  ): Promise<number> {
    let compared = 0
    const ids = [...this.#versions.keys()].filter((id) => this.#timeOf(id) >= expiredBefore)
    for (let at = 0; at < ids.length; at += KEYS_PER_QUERY) {
      const range = { chain, after, upTo, ...this.#placeOf(ids.slice(at, at + KEYS_PER_QUERY)) }
      for (const row of await stored.versions(this.#table, range)) {
        this.#compareRow(row, differences)
        compared++
      }
      const missing = ids.slice(at, at + KEYS_PER_QUERY).filter((id) => !this.#versions.get(id)?.isLastFound)
      if (missing.length > 0) await this.#reportMissing(missing, stored, range, differences)
    }
    return compared
  }

  #compareRow(row: CellRow, differences: DifferenceList): void {
    const seq = this.#seqOf(row)
    const versions = this.#versions.get(this.#idOf(row))
    const expected = versions?.bySeq.get(seq)
    if (versions === undefined || expected === undefined) {
      const place = { where: this.#nameOf(row), what: `version ${seq}` }
      differences.add({ kind: 'row', ...place, stored: 'a row', computed: 'none' })
      return
    }
    if (seq === versions.last) versions.isLastFound = true
    const { columns, types } = this.#table
    for (const [at, cell] of row.entries()) {
      const computed = expected[at] as Buffer
      if (cell.equals(computed)) continue
      differences.add({
        kind: 'row',
        where: this.#nameOf(row),
        what: `${columns[at]} of version ${seq}`,
        stored: cellText(cell, types[at] as string),
        computed: cellText(computed, types[at] as string),
      })
    }
  }

  /** A later version may have replaced the last one of this stretch. */
  async #reportMissing(
    ids: readonly string[],
    stored: Pick<StoredRows, 'later'>,
    range: StoredRange,
    differences: DifferenceList,
  ): Promise<void> {
    const later = await stored.later(this.#table, { ...range, ...this.#placeOf(ids) })
    const replaced = new Set(later.map((row) => joined(row.slice(0, -1))))
    for (const id of ids) {
      if (replaced.has(id)) continue
      const { row, last } = this.#versions.get(id) as Versions
      const place = { where: this.#nameOf(row), what: `version ${last}` }
      differences.add({ kind: 'row', ...place, stored: 'none', computed: 'a row' })
    }
  }

  #placeOf(ids: readonly string[]): Pick<StoredRange, 'values' | 'times'> {
    const { columns, types } = this.#table
    const rows = ids.map((id) => (this.#versions.get(id) as Versions).row)
    const values = ROW_KEYS[this.#table.name].by.map((column) => {
      const at = columns.indexOf(column)
      const type = types[at] as string
      const texts = new Set(rows.map((row) => cellText(row[at] as Buffer, type)))
      return type === 'UInt16' ? Array.from(texts, Number) : [...texts]
    })
    if (this.#timeAt < 0) return { values, times: undefined }
    const times = ids.map((id) => this.#timeOf(id))
    return { values, times: [Math.min(...times), Math.max(...times)] }
  }

  #timeOf(id: string): number {
    const { row } = this.#versions.get(id) as Versions
    return this.#timeAt < 0 ? Number.POSITIVE_INFINITY : (row[this.#timeAt] as Buffer).readUInt32LE()
  }

  #seqOf(row: CellRow): number {
    return Number((row[this.#seqAt] as Buffer).readBigUInt64LE())
  }

  #idOf(row: CellRow): string {
    return joined(this.#keyAt.map((at) => row[at] as Buffer))
  }

  #nameOf(row: CellRow): string {
    const { name, types } = this.#table
    return `${name} ${this.#keyAt.map((at) => cellText(row[at] as Buffer, types[at] as string)).join(' ')}`
  }
}

/** The cells have their lengths, so different keys give different strings. */
function joined(cells: readonly Buffer[]): string {
  return Buffer.concat(cells).toString('latin1')
}

/** The rows of a few change sets, over all tables. */
export class ExpectedRows {
  readonly #tables = new Map<TableName, ExpectedTable>()
  #first = 0
  #last = 0
  #count = 0

  get count(): number {
    return this.#count
  }

  add(set: ChangeSetIndex): void {
    if (this.#first === 0) this.#first = set.seq
    this.#last = set.seq
    for (const rows of rowsOf(latestChanges([set]))) {
      const table = this.#tables.get(rows.table) ?? new ExpectedTable(rows)
      this.#tables.set(rows.table, table)
      this.#count += table.add(rows.chunks)
    }
  }

  /** Compares and forgets them; returns the number of stored rows that were compared. */
  async compare(
    chain: string,
    stored: Pick<StoredRows, 'versions' | 'later'>,
    expiredBefore: ExpiredBefore,
    differences: DifferenceList,
  ): Promise<number> {
    let compared = 0
    const range = { chain, after: this.#first - 1, upTo: this.#last }
    for (const [name, table] of this.#tables) {
      compared += await table.compare(stored, range, expiredBefore(name) ?? 0, differences)
    }
    this.#tables.clear()
    this.#first = 0
    this.#count = 0
    return compared
  }
}
