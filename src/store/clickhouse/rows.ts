import { ByteReader } from '../../wire/byte-reader.ts'
import type { ChangeSetIndex } from '../../wire/change-index.ts'
import { CANDLE, CONTRACT } from '../../wire/change-layouts.ts'
import { reportCodec } from '../../wire/contract-codec.ts'
import type { LatestChanges, PlacedChange } from '../latest-changes.ts'
import type { Cell, ColumnType } from './cells.ts'
import { type RecordTable, sizedText, type Table } from './columns.ts'
import { RowBinary } from './row-binary.ts'
import type { TableName } from './table-names.ts'
import {
  balancesTable,
  candlesTable,
  contractsTable,
  liquidityTable,
  pairsTable,
  pairWindowsTable,
  switchesTable,
  tokenSearchTable,
  tokensTable,
  tokenWindowsTable,
  tradesTable,
} from './tables.ts'
import { termsOf } from './token-terms.ts'

export type TableRows = {
  readonly table: TableName
  readonly columns: readonly string[]
  readonly types: readonly ColumnType[]
  readonly count: number
  /** In RowBinary format. */
  readonly chunks: readonly Buffer[]
}

/** One row per natural key with its latest version; a removal is a row marked as deleted. */
export function rowsOf(latest: LatestChanges): TableRows[] {
  const candles = new RowsOfTable(candlesTable)
  for (const ofPair of latest.candles.values()) candles.addCandles(ofPair.values())
  const windows = new RowsOfTable(pairWindowsTable).addAll(latest.pairWindows.values())
  windows.addAll(latest.tokenWindows.values(), tokenWindowsTable)
  return [
    new RowsOfTable(tradesTable).addAll(latest.trades.values()),
    new RowsOfTable(liquidityTable).addAll(latest.liquidity.values()),
    candles,
    new RowsOfTable(pairsTable).addAll(latest.pairs.values()),
    new RowsOfTable(tokensTable).addAll(latest.tokens.values()),
    windows,
    new RowsOfTable(switchesTable).addAll(latest.switches.values()),
    balanceRows(latest),
    contractRows(latest),
    searchRows(latest),
  ]
    .map((table) => table.finish())
    .filter(({ count }) => count > 0)
}

class RowsOfTable {
  readonly #table: Table | RecordTable<never>
  readonly #rows = new RowBinary()
  #chain = ''
  #sizedChain = sizedText('')

  constructor(table: Table | RecordTable<never>) {
    this.#table = table
  }

  addAll(changes: Iterable<PlacedChange>, table = this.#table as Table): this {
    for (const { set, base } of changes) this.add(table, set, base, set.places[base] !== table.type)
    return this
  }

  add(table: Table, set: ChangeSetIndex, base: number, isRemoved: boolean): void {
    this.#begin(set.chain)
    this.#rows.cells(isRemoved ? table.removedKey : table.key, set.bytes, set.places, base)
    if (isRemoved) this.#rows.raw(table.removedRest)
    else this.#rows.cells(table.rest, set.bytes, set.places, base)
    this.#end(set.seq, isRemoved)
  }

  /** Most candles of a pair contain the same trades as the previous one, so all cells but the key are equal. */
  addCandles(candles: Iterable<PlacedChange>): void {
    let repeatable: ChangeSetIndex | undefined
    let trades = 0
    for (const { set, base } of candles) {
      const isRemoved = set.places[base] !== candlesTable.type
      const itsTrades = set.places[base + CANDLE.slots.trades]
      if (isRemoved) this.add(candlesTable, set, base, true)
      else {
        this.#begin(set.chain)
        this.#rows.cells(candlesTable.key, set.bytes, set.places, base)
        if (set === repeatable && trades === itsTrades) this.#rows.repeat()
        else this.#rows.repeatableCells(candlesTable.rest, set.bytes, set.places, base)
        this.#end(set.seq, false)
        repeatable = set
        trades = itsTrades as number
      }
    }
  }

  addRecord<T>(
    { values, types }: RecordTable<T>,
    { chain, seq }: ChangeSetIndex,
    record: T,
    isRemoved: boolean,
  ): void {
    this.#begin(chain)
    // The first column is the chain.
    for (let at = 0; at < values.length; at++) {
      this.#rows.value(types[at + 1] as ColumnType, (values[at] as (record: T) => Cell)(record))
    }
    this.#end(seq, isRemoved)
  }

  finish(): TableRows {
    const { name, columns, types } = this.#table
    return { table: name, columns, types, count: this.#rows.count, chunks: this.#rows.finish() }
  }

  #begin(chain: string): void {
    if (chain !== this.#chain) {
      this.#chain = chain
      this.#sizedChain = sizedText(chain)
    }
    this.#rows.begin()
    this.#rows.text(this.#sizedChain)
  }

  #end(seq: number, isRemoved: boolean): void {
    this.#rows.u64(seq)
    this.#rows.u8(isRemoved ? 1 : 0)
  }
}

function balanceRows({ balances }: LatestChanges): RowsOfTable {
  const rows = new RowsOfTable(balancesTable)
  for (const { set, base, isRemoved } of balances.values()) rows.add(balancesTable, set, base, isRemoved)
  return rows
}

function contractRows({ contracts }: LatestChanges): RowsOfTable {
  const rows = new RowsOfTable(contractsTable)
  for (const { set, base } of contracts.values()) {
    const isRemoved = set.places[base] !== CONTRACT.type
    const r = new ByteReader(set.bytes, set.places[base + CONTRACT.slots.token])
    const report = isRemoved ? undefined : reportCodec.read(r)
    rows.addRecord(contractsTable, set, { token: report?.token ?? r.id(), report }, isRemoved)
  }
  return rows
}

/** A removed token keeps its search terms: the search reads the token itself. */
function searchRows({ tokens }: LatestChanges): RowsOfTable {
  const rows = new RowsOfTable(tokenSearchTable)
  for (const { set, base } of tokens.values()) {
    if (set.places[base] !== tokensTable.type) continue
    for (const term of termsOf(set, base)) rows.addRecord(tokenSearchTable, set, term, false)
  }
  return rows
}
