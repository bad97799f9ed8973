import { readKey } from '../borsh-key.ts'
import type { ByteCursor } from '../byte-cursor.ts'

/** Reserves of a curve. Virtual ones make the price; real ones are what it holds for sale and has raised. */
export type CurveState = {
  readonly virtualToken: bigint
  readonly virtualQuote: bigint
  readonly realToken: bigint
  readonly realQuote: bigint
}

const SHAREHOLDER_BYTES = 34

/** Events grow at their end, so absent fields are undefined. */

export const tradeEvent = {
  discriminator: 'bddb7fd34ee661ee',
  /**
   * mint, sol_amount, token_amount, is_buy, user, timestamp, virtual_sol_reserves, virtual_token_reserves,
   * real_sol_reserves, real_token_reserves; then fees, volume, names and, since 2026, the quote asset.
   */
  read(cursor: ByteCursor) {
    const mint = readKey(cursor)
    const solAmount = cursor.u64()
    const tokenAmount = cursor.u64()
    const isBuy = cursor.bool()
    cursor.skip(32 + 8)
    const virtualSol = cursor.u64()
    const virtualToken = cursor.u64()
    const realSol = cursor.u64()
    const realToken = cursor.u64()
    if (!cursor.isValid) return undefined
    const sol: CurveState = { virtualToken, virtualQuote: virtualSol, realToken, realQuote: realSol }
    const tail = quoteTail(cursor)
    const quote: CurveState | undefined = tail && {
      virtualToken,
      virtualQuote: tail.virtualQuote,
      realToken,
      realQuote: tail.realQuote,
    }
    return { mint, solAmount, tokenAmount, isBuy, sol, quote, quoteAmount: tail?.quoteAmount }
  },
} as const

function quoteTail(cursor: ByteCursor) {
  // fee_recipient, fee (rate, amount), creator, creator_fee (rate, amount)
  cursor.skip(32 + 16 + 32 + 16)
  // track_volume, unclaimed, claimed, volume, last_update
  cursor.skip(1 + 32)
  cursor.skipText()
  // mayhem_mode, cashback (rate, amount), buyback (rate, amount)
  cursor.skip(1 + 32)
  cursor.skip(cursor.u32() * SHAREHOLDER_BYTES)
  cursor.skip(32)
  const quoteAmount = cursor.u64()
  const virtualQuote = cursor.u64()
  const realQuote = cursor.u64()
  return cursor.isValid ? { quoteAmount, virtualQuote, realQuote } : undefined
}

export const createEvent = {
  discriminator: '1b72a94ddeeb6376',
  /**
   * name, symbol, uri, mint, bonding_curve, user; then creator, timestamp, virtual_token_reserves,
   * virtual_sol_reserves, real_token_reserves, token_total_supply; token_program, is_mayhem_mode;
   * is_cashback_enabled; quote_mint, virtual_quote_reserves.
   */
  read(cursor: ByteCursor) {
    for (let texts = 0; texts < 3; texts++) cursor.skipText()
    const mint = readKey(cursor)
    const curve = readKey(cursor)
    cursor.skip(32)
    if (!cursor.isValid) return undefined
    cursor.skip(32 + 8)
    const virtualToken = cursor.u64()
    const virtualSol = cursor.u64()
    const realToken = cursor.u64()
    const hasState = cursor.isValid
    cursor.skip(8 + 32 + 1 + 1)
    const quoteMint = readKey(cursor)
    const virtualQuote = cursor.u64()
    const isTail = cursor.isValid
    const state: CurveState | undefined = hasState
      ? { virtualToken, virtualQuote: isTail ? virtualQuote : virtualSol, realToken, realQuote: 0n }
      : undefined
    return { mint, curve, quoteMint: isTail ? quoteMint : undefined, state }
  },
} as const

/** What a curve has raised when its last token is sold: the product of the virtual reserves is constant. */
export function goalOf(state: CurveState): bigint | undefined {
  const { virtualToken, virtualQuote, realToken, realQuote } = state
  const lastToken = virtualToken - realToken
  if (lastToken <= 0n || virtualQuote <= 0n) return undefined
  const goal = realQuote + (virtualToken * virtualQuote) / lastToken - virtualQuote
  return goal > 0n ? goal : undefined
}
