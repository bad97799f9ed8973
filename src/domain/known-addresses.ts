/** Source of mints and destination of burns. In place of a token address, it means the native coin. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** Burn addresses without a known private key. Their balances still count toward the total supply. */
export const DEAD_ADDRESSES: ReadonlySet<string> = new Set([
  '0x000000000000000000000000000000000000dead',
  '0x0000000000000000000000000000000000000001',
  '0xdead000000000000000042069420694206942069',
])
