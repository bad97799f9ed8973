/** Sums over balance changes of one token. */
export type MoveSums = {
  /** Net change per address, negative for a loss. Without the zero address. */
  readonly gains: Map<string, bigint>
  /** Minted, minus burned. */
  issuedRaw: bigint
  /** Burned, or sent to the zero address. */
  burnedRaw: bigint
  /** Minted to the zero address: part of the supply, but out of reach for ever. */
  mintedToZeroRaw: bigint
  /** The least that an address held before these changes, where they report absolute balances. */
  floors?: Map<string, bigint>
  /** A change was reported without its owner or beyond the limits of amounts. */
  isIncomplete?: boolean
}

export function noMoves(): MoveSums {
  return { gains: new Map(), issuedRaw: 0n, burnedRaw: 0n, mintedToZeroRaw: 0n }
}
