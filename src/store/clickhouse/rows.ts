import type { Change, ChangeSet } from '../../domain/change.ts'
import { never } from '../../domain/ids.ts'
import {
  type Cell,
  candlesTable,
  pairsTable,
  type Table,
  type TableName,
  tokensTable,
  tradesTable,
} from './tables.ts'

export type TableRows = {
  readonly table: TableName
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

/**
 * What a run of change sets leaves behind, as rows: for each natural key only its newest version, a removal
 * being a row that says so. The sets are those of one log, in its order.
 */
export function rowsOf(sets: readonly ChangeSet[]): TableRows[] {
  const trades = new RowsOfTable(tradesTable)
  const candles = new RowsOfTable(candlesTable)
  const pairs = new RowsOfTable(pairsTable)
  const tokens = new RowsOfTable(tokensTable)
  const add = (set: ChangeSet, change: Change): void => {
    switch (change.type) {
      case 'trade':
        trades.put(set, change.trade)
        break
      case 'candle':
        candles.put(set, change.candle)
        break
      case 'pair':
        pairs.put(set, change.pair)
        break
      case 'token':
        tokens.put(set, change.token)
        break
      case 'tradeRemoved':
        trades.remove(set, change.trade)
        break
      case 'candleRemoved':
        candles.remove(set, change.candle)
        break
      case 'pairRemoved':
        pairs.remove(set, { address: change.pair })
        break
      case 'tokenRemoved':
        tokens.remove(set, { address: change.token })
        break
      default:
        never(change)
    }
  }
  for (const set of sets) {
    for (const change of set.changes) add(set, change)
  }
  return [trades, candles, pairs, tokens].map((table) => table.finish()).filter(({ rows }) => rows.length > 0)
}

class RowsOfTable<Key, Full extends Key> {
  readonly #table: Table<Key, Full>
  /** By natural key; the cells beyond it are made at the end, as most versions are replaced before that. */
  readonly #newest = new Map<string, { readonly start: readonly Cell[]; readonly record: Full | undefined }>()

  constructor(table: Table<Key, Full>) {
    this.#table = table
  }

  put(set: ChangeSet, record: Full): void {
    this.#keep(set, record, record)
  }

  remove(set: ChangeSet, ref: Key): void {
    this.#keep(set, ref, undefined)
  }

  /** The columns beyond the key of a removal are NULL, which the server turns into their defaults. */
  finish(): TableRows {
    const { name, key, rest } = this.#table
    const columns = ['chain', 'seq', 'is_deleted', ...[...key, ...rest].map(([column]) => column)]
    const rows = Array.from(this.#newest.values(), ({ start, record }) => [
      ...start,
      ...rest.map(([, cell]) => (record === undefined ? null : cell(record))),
    ])
    return { table: name, columns, rows }
  }

  #keep(set: ChangeSet, ref: Key, record: Full | undefined): void {
    const key = this.#table.key.map(([, cell]) => cell(ref))
    const start = [set.chain, set.seq, record === undefined ? 1 : 0, ...key]
    this.#newest.set(`${set.chain}/${key.join('/')}`, { start, record })
  }
}
