import { ChaintapeError } from '../domain/errors.ts'

/** Requests go to `<prefix>.liquidity.<chain>`. */
export const LIQUIDITY_TOPIC = 'liquidity'
export const MAX_LIQUIDITY_ADDRESSES = 500

const ADDRESS = /^0x[0-9a-f]{40}$/
const DOLLARS = /^(\d{1,60}|-)$/

/**
 * A reader's request to an engine for the liquidity of tokens and pools. The answer decides the order of background work
 * and enters no log. It is plain text, because it is never stored.
 */
export function encodeLiquidityQuestion(addresses: readonly string[]): string {
  return addresses.join(' ')
}

export function decodeLiquidityQuestion(text: string): string[] {
  const addresses = text === '' ? [] : text.split(' ')
  if (addresses.length > MAX_LIQUIDITY_ADDRESSES || !addresses.every((address) => ADDRESS.test(address)))
    throw new ChaintapeError('message_unreadable', 'not a question about liquidity')
  return addresses
}

/** Whole dollars, or undefined if unknown. */
export function encodeLiquidityAnswer(dollars: readonly (bigint | undefined)[]): string {
  return dollars.map((each) => (each === undefined ? '-' : String(each))).join(' ')
}

export function decodeLiquidityAnswer(text: string, count: number): (bigint | undefined)[] {
  const parts = text === '' ? [] : text.split(' ')
  if (parts.length !== count || !parts.every((part) => DOLLARS.test(part)))
    throw new ChaintapeError('message_unreadable', 'not an answer about liquidity')
  return parts.map((part) => (part === '-' ? undefined : BigInt(part)))
}
