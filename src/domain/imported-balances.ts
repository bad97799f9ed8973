import { ZERO_ADDRESS } from './known-addresses.ts'

/** Holders in one import: they enter the log in one block. */
export const MAX_IMPORTED_HOLDERS = 10_000

/**
 * The first transfer of a history that begins with a list of balances, which an operator imported: it is unknown. No
 * block has this time, and the zero address signs no transaction.
 */
export const IMPORTED_FIRST = { time: 0, sender: ZERO_ADDRESS } as const

/** Whether some balances were imported, so that the first transfer and older burns are unknown. */
export function isImported(first: { readonly time: number; readonly creator: string } | undefined): boolean {
  return first?.time === IMPORTED_FIRST.time && first.creator === IMPORTED_FIRST.sender
}
