import { type Hex, keccak256, toHex } from 'viem'
import { addressAt } from '../../../dex/evm/abi.ts'
import type { ProxyKind } from '../../../domain/inspection.ts'
import type { Multicall } from '../rpc/multicall.ts'
import type { EvmNode } from '../rpc/rpc.ts'
import { OP, readInstructions } from './bytecode.ts'

export type FoundProxy = {
  readonly kind: ProxyKind
  readonly implementation: string
  readonly admin: string | undefined
}

const IMPLEMENTATION = slotBefore('eip1967.proxy.implementation')
const ADMIN = slotBefore('eip1967.proxy.admin')
const BEACON = slotBefore('eip1967.proxy.beacon')
const PROXIABLE = keccak256(toHex('PROXIABLE'))
const ZEPPELIN = keccak256(toHex('org.zeppelinos.proxy.implementation'))
const ZEPPELIN_ADMIN = keccak256(toHex('org.zeppelinos.proxy.admin'))
const IMPLEMENTATION_OF_BEACON = '0x5c60da1b'
/** A minimal proxy's whole code; arguments may follow. */
const MINIMAL_BYTES = 64
const SHORTEST_VANITY_ADDRESS = 16
const ADDRESS_BYTES = 20
const ADDRESS_MASK = (1n << 160n) - 1n

/** The target of code that only delegates. */
export function minimalProxyTarget(code: Uint8Array): string | undefined {
  const instructions = readInstructions(code.subarray(0, MINIMAL_BYTES))
  const delegation = instructions.findIndex(({ op }) => op === OP.DELEGATECALL)
  if (delegation === -1) return undefined
  // Leading zeros of an address need not be pushed.
  const pushed = instructions
    .slice(0, delegation)
    .filter(({ op }) => op >= OP.PUSH0 + SHORTEST_VANITY_ADDRESS && op <= OP.PUSH0 + ADDRESS_BYTES)
  const [only] = pushed
  return only?.pushed === undefined || pushed.length > 1 ? undefined : toAddress(only.pushed)
}

/** The implementation that a contract delegates to, if it follows one of the proxy standards. */
export async function findProxy(
  node: EvmNode,
  asker: Multicall,
  token: string,
  code: Uint8Array,
  blockHash: string,
): Promise<FoundProxy | undefined> {
  const minimal = minimalProxyTarget(code)
  if (minimal !== undefined) return { kind: 'eip1167', implementation: minimal, admin: undefined }
  const slots = [IMPLEMENTATION, ADMIN, BEACON, PROXIABLE, ZEPPELIN, ZEPPELIN_ADMIN]
  const stored = await Promise.all(slots.map((slot) => node.storage(token, slot, blockHash)))
  const [implementation, admin, beacon, proxiable, zeppelin, zeppelinAdmin] = stored.map(toAddress)
  if (implementation !== undefined) return { kind: 'eip1967', implementation, admin }
  if (beacon !== undefined) {
    const [answer] = await asker.ask([{ to: beacon, data: IMPLEMENTATION_OF_BEACON }], blockHash)
    const target = addressAt(answer, 0)
    if (target !== undefined) return { kind: 'beacon', implementation: target, admin: beacon }
  }
  if (zeppelin !== undefined) return { kind: 'zeppelin', implementation: zeppelin, admin: zeppelinAdmin }
  if (proxiable !== undefined) return { kind: 'eip1822', implementation: proxiable, admin: undefined }
  return undefined
}

/** The address in a word; undefined if there is none. */
export function toAddress(word: bigint): string | undefined {
  if (word === 0n || word > ADDRESS_MASK) return undefined
  return toHex(word, { size: ADDRESS_BYTES })
}

/** One less than a hash, so that it has no known preimage. */
function slotBefore(name: string): Hex {
  return toHex(BigInt(keccak256(toHex(name))) - 1n, { size: 32 })
}
