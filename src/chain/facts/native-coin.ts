import type { TokenFact } from '../../domain/envelope.ts'

/** The coin that pays fees. It has no contract. */
export type NativeCoin = { readonly name: string; readonly symbol: string; readonly decimals: number }

/** `address` represents the coin in pools. */
export function nativeFact(address: string, { name, symbol, decimals }: NativeCoin): TokenFact {
  return {
    type: 'token',
    address,
    nameRaw: Buffer.from(name),
    symbolRaw: Buffer.from(symbol),
    decimals,
    supplyRaw: undefined,
  }
}
