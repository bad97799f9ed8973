import type { PairKlinesQuery } from './generated/operations.ts'

export type Interval = NonNullable<PairKlinesQuery['interval']>

/** The parts of a token-id or pair-id, `<address>-<chain>`. */
export type IdParts = { readonly address: string; readonly chain: string }

/** Splits at the last hyphen. Addresses of EVM chains become lower case, as the gateway returns them. */
export function splitId(id: string): IdParts {
  const at = id.lastIndexOf('-')
  if (at <= 0 || at === id.length - 1) throw new TypeError(`not an id of the form <address>-<chain>: ${id}`)
  return { address: normalAddress(id.slice(0, at)), chain: id.slice(at + 1) }
}

/** Addresses of other chains are case-sensitive. */
export function normalAddress(address: string): string {
  return /^0x[0-9a-f]+$/i.test(address) ? address.toLowerCase() : address
}
