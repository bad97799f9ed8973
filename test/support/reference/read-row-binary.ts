import assert from 'node:assert/strict'
import { PRICE_DIGITS, VALUE_DIGITS } from '../../../src/domain/money.ts'
import type { TableRows } from '../../../src/store/clickhouse/rows.ts'

export type TextRow = Record<string, string | null>

/** What stands in the cells, as ClickHouse would print it; times are unix seconds. */
export function readRowBinary({ columns, types, count, chunks }: TableRows): TextRow[] {
  const r = new CellReader(Buffer.concat(chunks))
  const rows: TextRow[] = []
  while (!r.isAtEnd) {
    rows.push(Object.fromEntries(columns.map((column, at) => [column, r.cell(types[at] as string)])))
  }
  assert.equal(rows.length, count)
  return rows
}

class CellReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  cell(type: string): string | null {
    const nullable = /^Nullable\((.*)\)$/.exec(type)?.[1]
    if (nullable !== undefined) return this.#unsigned(1) === 1n ? null : this.cell(nullable)
    if (type === 'String' || type === 'LowCardinality(String)') return this.#text()
    const digits = /^Decimal\(76, (\d+)\)$/.exec(type)?.[1]
    if (digits !== undefined) return this.#decimal(Number(digits))
    if (type.startsWith('Enum8(')) {
      const code = this.#unsigned(1)
      const name = new RegExp(`'(\\w+)' = ${code}\\b`).exec(type)?.[1]
      assert.ok(name !== undefined, `${code} is not in ${type}`)
      return name
    }
    if (type === 'Bool') return this.#unsigned(1) === 1n ? 'true' : 'false'
    if (type === "DateTime('UTC')") return String(this.#unsigned(4))
    const bits = /^(U?)Int(\d+)$/.exec(type)
    assert.ok(bits !== null, `unknown type ${type}`)
    const value = this.#unsigned(Number(bits[2]) / 8)
    return String(bits[1] === '' ? BigInt.asIntN(Number(bits[2]), value) : value)
  }

  #decimal(digits: number): string {
    assert.ok(digits === PRICE_DIGITS || digits === VALUE_DIGITS)
    const value = BigInt.asIntN(256, this.#unsigned(32))
    assert.ok(value >= 0n && value < 10n ** 76n, `${value} is no Decimal(76)`)
    const text = String(value).padStart(digits + 1, '0')
    return `${text.slice(0, -digits)}.${text.slice(-digits)}`
  }

  #text(): string {
    let [size, shift] = [0, 0]
    for (;;) {
      const byte = Number(this.#unsigned(1))
      size |= (byte & 0x7f) << shift
      if (byte < 0x80) break
      shift += 7
    }
    this.#at += size
    return this.#bytes.toString('utf8', this.#at - size, this.#at)
  }

  #unsigned(size: number): bigint {
    assert.ok(this.#at + size <= this.#bytes.length, 'a row is cut off')
    let value = 0n
    for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(this.#bytes[this.#at + i] as number)
    this.#at += size
    return value
  }
}
