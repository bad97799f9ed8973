/** Nobody's: tokens are made from it and burned to it. Where a token's address is expected, it stands for the native coin. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** Nobody has their keys, and burning is what they are used for. What they hold is still part of the supply. */
export const DEAD_ADDRESSES: ReadonlySet<string> = new Set([
  '0x000000000000000000000000000000000000dead',
  '0x0000000000000000000000000000000000000001',
  '0xdead000000000000000042069420694206942069',
])
