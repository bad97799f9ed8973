import { BASE58_BYTES, readBase58 } from './base58.ts'

/** The address format of a chain. It decides which addresses are well-formed and whether case matters. */
export type ChainFamily = 'evm' | 'solana'

export type ChainAddress = { readonly address: string; readonly chain: string }

export type IdProblem = 'malformed_id' | 'unknown_chain'

const CHAIN_NAME = /^[a-z][a-z0-9_]{0,31}$/
const EVM_TOKEN = /^0x[0-9a-f]{40}$/
// A Uniswap V4 style pool has no contract of its own; its 32-byte id replaces the address.
const EVM_PAIR = /^0x([0-9a-f]{40}|[0-9a-f]{64})$/
const scratch = new Uint8Array(BASE58_BYTES)

export function isChainName(name: string): boolean {
  return CHAIN_NAME.test(name)
}

/** Normalizes an address: EVM to lower case, Solana unchanged. Undefined if malformed. */
export function normaliseAddress(
  family: ChainFamily,
  kind: 'token' | 'pair',
  address: string,
): string | undefined {
  switch (family) {
    case 'evm': {
      const lower = address.toLowerCase()
      return (kind === 'token' ? EVM_TOKEN : EVM_PAIR).test(lower) ? lower : undefined
    }
    case 'solana':
      return readBase58(address, scratch, 0) ? address : undefined
    default:
      return never(family)
  }
}

/** Parses `<address>-<chain>`, split at the last hyphen. */
export function parseChainAddress(
  id: string,
  kind: 'token' | 'pair',
  familyOf: (chain: string) => ChainFamily | undefined,
): ChainAddress | IdProblem {
  const hyphen = id.lastIndexOf('-')
  if (hyphen < 1) return 'malformed_id'
  const chain = id.slice(hyphen + 1)
  if (!isChainName(chain)) return 'malformed_id'
  const family = familyOf(chain)
  if (family === undefined) return 'unknown_chain'
  const address = normaliseAddress(family, kind, id.slice(0, hyphen))
  return address === undefined ? 'malformed_id' : { address, chain }
}

export function formatChainAddress(address: string, chain: string): string {
  return `${address}-${chain}`
}

/** Ends a switch over a closed union: a new member becomes a type error here, and throws at run time. */
export function never(value: never): never {
  throw new Error(`unexpected value: ${String(value)}`)
}
