/**
 * The records of the interface document and of the decisions beside it, copied by hand: a field's name, what it
 * is, and when it is there. Nothing here is taken from the program.
 */

/** `decimal` and `percent` are text: plain decimals, percent points with at most two digits after the point. */
export type Kind =
  | 'text'
  | 'decimal'
  | 'percent'
  | 'address'
  | 'id'
  | 'hash'
  | 'integer'
  | 'count'
  | 'time'
  | 'number'
  | 'boolean'
  | { readonly is: string | number | boolean | null }
  | { readonly oneOf: readonly number[] }

/** Listed by the document: always there, `""` or 0 when not known. */
export const LISTED = 'listed'
/** Ours: there when known, otherwise left out. */
export const OURS = 'ours'
/** May be absent even if known: optional in the document, or present only where it applies. */
export const OPTIONAL = 'optional'

export type Presence = typeof LISTED | typeof OURS | typeof OPTIONAL

export type Row = readonly [name: string, kind: Kind, presence: Presence]

export type Shape =
  | {
      readonly rows: readonly Row[]
      readonly inner?: Readonly<Record<string, Shape>>
      /** Present only on request, or once there is something to show. */
      readonly onRequest?: Readonly<Record<string, Shape>>
    }
  | { readonly arrayOf: Shape; readonly max?: number }
  | { readonly mapOf: Shape }
  | { readonly kind: Kind }

/** Beside the fields of an answer: the names of those that are not known. */
export const UNKNOWN: Readonly<Record<string, Shape>> = { unknown: { arrayOf: { kind: 'text' } } }

/** The rows of each window, whose name stands for the w in a field's. */
export function ofWindows(rows: readonly Row[], windows: readonly string[]): Row[] {
  return windows.flatMap((window) =>
    rows.map(([name, kind, presence]): Row => [name.replace(/_w(?=_|$)/, `_${window}`), kind, presence]),
  )
}
