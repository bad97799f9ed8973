/** Source of mints and destination of burns. In place of a token address, it means the native coin. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** Burn addresses without a known private key. Their balances still count toward the total supply. */
export const DEAD_ADDRESSES: ReadonlySet<string> = new Set([
  '0x000000000000000000000000000000000000dead',
  '0x0000000000000000000000000000000000000001',
  '0xdead000000000000000042069420694206942069',
])

/** Owners without a private key on Solana: the incinerator and the system program. */
const SOLANA_DEAD_ADDRESSES: ReadonlySet<string> = new Set([
  '1nc1nerator11111111111111111111111111111111',
  '11111111111111111111111111111111',
])

export function isBurnAddress(holder: string): boolean {
  return DEAD_ADDRESSES.has(holder) || SOLANA_DEAD_ADDRESSES.has(holder)
}
