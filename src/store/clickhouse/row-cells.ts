import { FIXED_BYTES, NULL } from './cells.ts'

/** A row in RowBinary, one slice of bytes per column. */
export type CellRow = readonly Buffer[]

const DECIMAL = /^Decimal\(76, (\d+)\)$/
const NULLABLE = 'Nullable('

/** Splits rows in RowBinary. Equal values have equal bytes, so cells are compared without decoding them. */
export function* cellRows(bytes: Buffer, types: readonly string[]): Generator<CellRow, void, undefined> {
  let at = 0
  while (at < bytes.length) {
    const row: Buffer[] = []
    for (const type of types) {
      const end = cellEnd(bytes, at, type)
      row.push(bytes.subarray(at, end))
      at = end
    }
    if (at > bytes.length) throw new RangeError('a row in RowBinary is cut off')
    yield row
  }
}

function cellEnd(bytes: Buffer, at: number, type: string): number {
  if (type.startsWith(NULLABLE)) {
    return bytes[at] === NULL ? at + 1 : cellEnd(bytes, at + 1, type.slice(NULLABLE.length, -1))
  }
  if (isText(type)) {
    const { size, start } = textAt(bytes, at)
    return start + size
  }
  if (type.startsWith('Enum8(')) return at + 1
  if (DECIMAL.test(type)) return at + 32
  const size = FIXED_BYTES[type as keyof typeof FIXED_BYTES] as number | undefined
  if (size === undefined) throw new Error(`cells of type ${type} are not read`)
  return at + size
}

/** A cell for people, as ClickHouse prints it; times are Unix seconds. */
export function cellText(cell: Buffer, type: string): string {
  if (type.startsWith(NULLABLE)) {
    return cell[0] === NULL ? 'NULL' : cellText(cell.subarray(1), type.slice(NULLABLE.length, -1))
  }
  if (isText(type)) return cell.toString('utf8', textAt(cell, 0).start)
  if (type.startsWith('Enum8('))
    return new RegExp(`'(\\w+)' = ${cell[0]}\\b`).exec(type)?.[1] ?? String(cell[0])
  const value = unsigned(cell)
  const digits = DECIMAL.exec(type)?.[1]
  if (digits === undefined) return String(type === 'Int256' ? BigInt.asIntN(256, value) : value)
  const text = String(value).padStart(Number(digits) + 1, '0')
  return `${text.slice(0, -Number(digits))}.${text.slice(-Number(digits))}`
}

function isText(type: string): boolean {
  return type === 'String' || type === 'LowCardinality(String)'
}

function textAt(bytes: Buffer, at: number): { readonly size: number; readonly start: number } {
  let size = 0
  for (let start = at, shift = 0; start < bytes.length; shift += 7) {
    const byte = bytes[start++] as number
    size += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) return { size, start }
  }
  throw new RangeError('a text in RowBinary is cut off')
}

function unsigned(cell: Buffer): bigint {
  let value = 0n
  for (let i = cell.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(cell[i] as number)
  return value
}
