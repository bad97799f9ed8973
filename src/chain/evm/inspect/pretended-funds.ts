import { encodeAbiParameters, encodePacked, type Hex, keccak256, toHex } from 'viem'

/** Enough to buy a thousandth of any pool, and not so much that balances overflow. */
const FUNDS_RAW = 1n << 112n
export const FUNDS = toHex(FUNDS_RAW)
const FUNDS_WORD = toHex(FUNDS_RAW, { size: 32 })
/**
 * Storage slots where contracts keep their balances: in order of declaration, or after the gaps of upgradeable ones.
 */
const MAPPING_SLOTS = [...Array.from({ length: 21 }, (_, slot) => BigInt(slot)), 51n, 101n]
/** Storage layout of OpenZeppelin's upgradeable ERC-20 since version 5. */
const NAMESPACE = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n
const VYPER_SLOTS = 11
const SOLADY_SEED = 0x87a211a2n

/**
 * State overrides that give an account a token balance: in every slot where the contract may look for it. All but one
 * of them are never read.
 */
export function pretendedFunds(holder: Hex): Record<Hex, Hex> {
  const slots = [
    ...[...MAPPING_SLOTS, NAMESPACE].map((slot) =>
      keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [holder, slot])),
    ),
    ...Array.from({ length: VYPER_SLOTS }, (_, slot) =>
      keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'address' }], [BigInt(slot), holder])),
    ),
    keccak256(encodePacked(['address', 'uint96'], [holder, SOLADY_SEED])),
  ]
  return Object.fromEntries(slots.map((slot) => [slot, FUNDS_WORD]))
}
