import type { FieldKind, RecordLayout } from '../../wire/record-layout.ts'
import { CELL, type Cell, type ColumnType, defaultOf } from './cells.ts'
import type { TableName } from './table-names.ts'

/** The cell writer for each pair of field kind and column type. */
const CELLS: Readonly<Record<string, number>> = {
  'id > String': CELL.id,
  'id? > String': CELL.id,
  'id? > Nullable(String)': CELL.idOrNull,
  'text > String': CELL.text,
  'text > LowCardinality(String)': CELL.text,
  'text? > Nullable(String)': CELL.textOrNull,
  'byte > Bool': CELL.byte,
  'byte? > Nullable(Bool)': CELL.byteOrNull,
  'byte? > Nullable(UInt8)': CELL.byteOrNull,
  "byte > Nullable(Enum8('buy' = 1, 'sell' = 2))": CELL.codeOrNull,
  'byte > LowCardinality(String)': CELL.word,
  'varuint > UInt32': CELL.u32,
  'varuint > UInt64': CELL.u64,
  "varuint > DateTime('UTC')": CELL.time,
  'varuint? > Nullable(UInt32)': CELL.u32OrNull,
  'varuint? > Nullable(UInt64)': CELL.u64OrNull,
  "varuint? > Nullable(DateTime('UTC'))": CELL.timeOrNull,
  'biguint > UInt256': CELL.u256,
  'biguint? > Nullable(UInt256)': CELL.u256OrNull,
  'biguint? > Nullable(Decimal(76, 18))': CELL.fixedOrNull,
  'biguint? > Nullable(Decimal(76, 40))': CELL.fixedOrNull,
  'signed > Int256': CELL.i256,
  'number > LowCardinality(String)': CELL.numberWord,
  'number > UInt16': CELL.number16,
  "number > DateTime('UTC')": CELL.number32,
  "number > Nullable(Enum8('usd' = 1, 'native' = 2))": CELL.numberOrNull,
}

/** A field (with its words, if the column is an enumeration), or the code of a word that is the same in every row. */
export type Source<Field> =
  | Field
  | readonly [field: Field, words: readonly string[]]
  | { readonly constant: number }
type Column<Field> = readonly [type: ColumnType, from: Source<Field>]
export type Columns<Field> = Readonly<Record<string, Column<Field>>>

/** Columns compiled for one layout of a record. */
export type Cells = {
  readonly operations: Uint8Array
  readonly slots: Uint8Array
  /** Bytes of constants, and of words with their length prefix. */
  readonly texts: readonly (readonly Uint8Array[])[]
}

/** Maps record fields to columns. Every table also has chain, seq and is_deleted, which are not listed. */
export type Table = {
  readonly name: TableName
  readonly columns: readonly string[]
  readonly types: readonly ColumnType[]
  /** The change type that writes a full row; any other type is a removal. */
  readonly type: number
  readonly key: Cells
  readonly rest: Cells
  readonly removedKey: Cells
  /** Cells of a removal beyond its key: NULL, or the default of a column that is not nullable. */
  readonly removedRest: Uint8Array
}

export function defineTable<Full extends string, Removed extends string>(
  name: TableName,
  layouts: { readonly full: RecordLayout<Full>; readonly removed: RecordLayout<Removed> },
  key: Columns<NoInfer<Full & Removed>>,
  rest: Columns<NoInfer<Full>>,
): Table {
  const columnsOf = <Field>(columns: Columns<Field>) => Object.entries(columns) as [string, Column<Field>][]
  const all = [...columnsOf<Full>(key), ...columnsOf(rest)]
  return {
    name,
    columns: ['chain', ...all.map(([column]) => column), 'seq', 'is_deleted'],
    types: ['LowCardinality(String)', ...all.map(([, [type]]) => type), 'UInt64', 'UInt8'],
    type: layouts.full.type,
    key: cellsOf(
      columnsOf<Full>(key).map(([, column]) => column),
      layouts.full,
    ),
    rest: cellsOf(
      columnsOf(rest).map(([, column]) => column),
      layouts.full,
    ),
    removedKey: cellsOf(
      columnsOf<Removed>(key).map(([, column]) => column),
      layouts.removed,
    ),
    removedRest: Buffer.concat(columnsOf(rest).map(([, [type]]) => defaultOf(type))),
  }
}

/** A table whose rows are built from decoded records, because they are few or not part of a message. */
export type RecordTable<T> = {
  readonly name: TableName
  readonly columns: readonly string[]
  readonly types: readonly ColumnType[]
  readonly values: readonly ((record: T) => Cell)[]
}

export function defineRecordTable<T>(
  name: TableName,
  columns: Readonly<Record<string, readonly [type: ColumnType, value: (record: T) => Cell]>>,
): RecordTable<T> {
  const all = Object.entries(columns)
  return {
    name,
    columns: ['chain', ...all.map(([column]) => column), 'seq', 'is_deleted'],
    types: ['LowCardinality(String)', ...all.map(([, [type]]) => type), 'UInt64', 'UInt8'],
    values: all.map(([, [, value]]) => value),
  }
}

function cellsOf<Field extends string>(
  columns: readonly Column<Field>[],
  { slots, kinds }: RecordLayout<Field>,
): Cells {
  const read = columns.map(([type, from]) => {
    if (typeof from === 'object' && 'constant' in from) {
      return { operation: CELL.constant, slot: 0, texts: [Uint8Array.of(from.constant)] }
    }
    const [field, words] = typeof from === 'string' ? [from, []] : from
    return { operation: cellOf(kinds[field], type), slot: slots[field], texts: words.map(sizedText) }
  })
  return {
    operations: Uint8Array.from(read, ({ operation }) => operation),
    slots: Uint8Array.from(read, ({ slot }) => slot),
    texts: read.map(({ texts }) => texts),
  }
}

function cellOf(kind: FieldKind, type: ColumnType): number {
  const cell = CELLS[`${kind} > ${type}`]
  if (cell === undefined) throw new Error(`no column of type ${type} can be filled from ${kind}`)
  return cell
}

/** Length prefix and bytes. */
export function sizedText(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  if (bytes.length > 0x7f) throw new RangeError(`too long for a word: ${text}`)
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}
