/** Bytes of a value in RowBinary. */
export const FIXED_BYTES = {
  Bool: 1,
  UInt8: 1,
  UInt16: 2,
  UInt32: 4,
  UInt64: 8,
  UInt256: 32,
  Int256: 32,
  "DateTime('UTC')": 4,
} as const

/** Bytes that the default of a type takes in RowBinary; all of them are zero. */
const DEFAULT_BYTES = {
  ...FIXED_BYTES,
  String: 1,
  'LowCardinality(String)': 1,
  "Enum8('pair' = 1, 'token' = 2)": 1,
  "Enum8('symbol' = 1, 'name' = 2, 'word' = 3)": 1,
} as const

type Decimal = 'Decimal(76, 18)' | 'Decimal(76, 40)'
type Enumeration = "Enum8('buy' = 1, 'sell' = 2)" | "Enum8('usd' = 1, 'native' = 2)"

/** As `DESCRIBE TABLE` prints it. */
export type ColumnType =
  | keyof typeof DEFAULT_BYTES
  | `Nullable(${keyof typeof DEFAULT_BYTES | Decimal | Enumeration})`

/** How a field is written as a cell. */
export const CELL = {
  constant: 0,
  id: 1,
  idOrNull: 2,
  text: 3,
  textOrNull: 4,
  byte: 5,
  byteOrNull: 6,
  codeOrNull: 7,
  word: 8,
  u32: 9,
  u64: 10,
  time: 11,
  u32OrNull: 12,
  u64OrNull: 13,
  timeOrNull: 14,
  u256: 15,
  u256OrNull: 16,
  fixedOrNull: 17,
  i256: 18,
  numberWord: 19,
  number16: 20,
  number32: 21,
  numberOrNull: 22,
} as const

/** Undefined is NULL, or the default of a column that is not nullable. */
export type Cell = string | number | bigint | boolean | undefined

/** Prefix byte of a nullable cell that is NULL; 0 otherwise. */
export const NULL = 1

/** The encoded default of a column. */
export function defaultOf(type: ColumnType): Uint8Array {
  return type in DEFAULT_BYTES
    ? Buffer.alloc(DEFAULT_BYTES[type as keyof typeof DEFAULT_BYTES])
    : Uint8Array.of(NULL)
}
