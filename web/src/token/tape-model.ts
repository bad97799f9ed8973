/** What the tape shows of a swap. */
export type TapeSwap = {
  readonly id: string
  readonly time: number
  readonly tx_swap_type: number
  readonly amount_usd: string
  readonly target_token: string
  readonly from_address: string
  readonly from_amount: string
  readonly from_price_usd: string
  readonly to_amount: string
  readonly to_price_usd: string
  readonly wallet_address: string
  readonly transaction: string
}

export type TapeRow = { readonly swap: TapeSwap; readonly isRetracted: boolean }

export const TAPE_ROWS = 120

/** Newest first. A row that is not touched stays the same object, so that its element stays, too. */
export type TapeRows = readonly TapeRow[]

export function tapeOf(newestFirst: readonly TapeSwap[]): TapeRows {
  return newestFirst.slice(0, TAPE_ROWS).map((swap) => ({ swap, isRetracted: false }))
}

export function withSwap(rows: TapeRows, swap: TapeSwap): TapeRows {
  return [{ swap, isRetracted: false }, ...rows].slice(0, TAPE_ROWS)
}

/** Retracted swaps stay visible, struck through. Another block may bring one with the same id later. */
export function withRetraction(rows: TapeRows, ids: readonly string[]): TapeRows {
  const retracted = new Set(ids)
  return rows.map((row) => (retracted.has(row.swap.id) ? { ...row, isRetracted: true } : row))
}

export type TapeSide = 'buy' | 'sell' | 'unknown'

export function sideOf({ tx_swap_type: type }: TapeSwap): TapeSide {
  return type === 0 ? 'buy' : type === 1 ? 'sell' : 'unknown'
}

/** Amount and price of the target token, whichever side it is on. */
export function targetOf(swap: TapeSwap): { readonly amount: string; readonly price: string } {
  return swap.from_address === swap.target_token
    ? { amount: swap.from_amount, price: swap.from_price_usd }
    : { amount: swap.to_amount, price: swap.to_price_usd }
}
