import assert from 'node:assert/strict'
import type { Knowledge } from './faults.ts'
import type { Given } from './requests.ts'
import type { Names } from './world.ts'

/** What an input of an operation does: one row for each thing that the document or the decisions say. */
export type Behaviour = {
  readonly operation: string
  readonly name: string
  readonly given: Given
  readonly knowledge?: Knowledge
  /** `again` asks the same operation once more. */
  readonly check: (
    body: never,
    names: Names,
    again: (given: Given) => Promise<unknown>,
  ) => void | Promise<void>
}

export type TokenRow = Readonly<Record<string, string | number>>

export function isDescending(rows: readonly TokenRow[], field: string): void {
  // A token's volume is unknown until its first transfer is read; it is ranked by the part that is known.
  const values = rows.flatMap((row) => (row[field] === undefined ? [] : [Number(row[field])]))
  assert.ok(values.length > 1 && values.every((value) => value > 0), `${field}: ${values}`)
  assert.deepEqual(
    values,
    [...values].sort((a, b) => b - a),
  )
}

export function mixedCase(address: string): string {
  return `0x${address
    .slice(2)
    .split('')
    .map((digit, index) => (index % 2 === 0 ? digit.toUpperCase() : digit))
    .join('')}`
}
