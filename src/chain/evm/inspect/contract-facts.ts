import { hexToBytes, keccak256, toHex } from 'viem'
import { addressAt } from '../../../dex/evm/abi.ts'
import { type Findings, findingsBy, type Inspection, MAX_FINDINGS } from '../../../domain/inspection.ts'
import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import { Multicall } from '../rpc/multicall.ts'
import type { EvmNode } from '../rpc/rpc.ts'
import { type CodeFindings, findInCode, type GuardedFunction, mergeFindings } from './code-findings.ts'
import { KNOWN_FUNCTIONS, TRANSFER } from './known-functions.ts'
import { findProxy, toAddress } from './proxy.ts'

export type ContractFacts = Pick<Inspection, 'codeHash' | 'owner' | 'proxy' | 'findings'> & {
  readonly isContract: boolean
}

const OWNER_GETTERS = ['0x8da5cb5b', '0x893d20e8'] // owner(), getOwner()
/** Enough for a getter; a hostile one gets no more. */
const CALL_LIMITS = { gas: 200_000, answerBytes: 64 }
const ADDRESS_MASK = (1n << 160n) - 1n

/**
 * Facts from a token's code and storage. `known` are addresses that code legitimately compares callers with: the
 * token's pools.
 */
export async function askContract(
  node: EvmNode,
  token: string,
  blockHash: string,
  known: readonly string[],
): Promise<ContractFacts> {
  const code = await node.code(token, blockHash)
  const codeHash = keccak256(code)
  if (code === '0x') {
    const findings = findingsBy(() => [])
    return { isContract: false, codeHash, owner: undefined, proxy: undefined, findings }
  }
  const asker = new Multicall(node, CALL_LIMITS)
  const own = findInCode(hexToBytes(code))
  const owner = await askOwner(asker, token, blockHash)
  const found = own.delegates ? await findProxy(node, asker, token, hexToBytes(code), blockHash) : undefined
  const otherCode = found === undefined ? undefined : await node.code(found.implementation, blockHash)
  const codes =
    otherCode === undefined ? [own] : [own, findInCode(hexToBytes(otherCode), ' of the implementation')]
  // The address that may replace the implementation is reported separately.
  const knownOwners = found?.admin === undefined ? known : [...known, found.admin]
  const hidden = await hiddenOwner(node, asker, { token, owner, blockHash, known: knownOwners }, codes)
  const isProxy = found !== undefined || (own.delegates && !own.selectors.includes(TRANSFER))
  return {
    isContract: true,
    codeHash,
    owner,
    proxy: isProxy
      ? {
          kind: found?.kind ?? 'unknown',
          implementation: found?.implementation,
          implementationCodeHash: otherCode === undefined ? undefined : keccak256(otherCode),
          admin: found?.admin,
        }
      : undefined,
    findings: mergeFindings([...codes.map(({ findings }) => findings), hidden]),
  }
}

async function askOwner(asker: Multicall, token: string, blockHash: string): Promise<string | undefined> {
  const answers = await asker.ask(
    OWNER_GETTERS.map((data) => ({ to: token, data })),
    blockHash,
  )
  for (const answer of answers) {
    const owner = addressAt(answer, 0)
    if (owner !== undefined) return owner
  }
  return undefined
}

type Subject = {
  readonly token: string
  readonly owner: string | undefined
  readonly blockHash: string
  readonly known: readonly string[]
}

/**
 * A privileged address in the code that no getter returns: neither the owner, nor a minter or pauser that can be looked
 * up.
 */
async function hiddenOwner(
  node: EvmNode,
  asker: Multicall,
  subject: Subject,
  codes: readonly CodeFindings[],
): Promise<Findings> {
  const { token, owner, blockHash, known } = subject
  const evidence: string[] = []
  if (owner === ZERO_ADDRESS && codes.some(({ hasRoles }) => hasRoles))
    evidence.push('roles can be granted although the owner is the zero address')
  const guarded = codes.flatMap((code) => code.guarded)
  const holders = await resolveGuards(node, token, guarded, blockHash)
  const strangers = [...holders].filter(
    ([address]) => address !== owner && address !== token && !known.includes(address),
  )
  if (strangers.length > 0) {
    const getters = [...new Set(codes.flatMap(({ selectors }) => selectors))]
    const calls = getters.map((data) => ({ to: token, data }))
    const named = new Set((await asker.ask(calls, blockHash)).map((answer) => addressAt(answer, 0)))
    for (const [address, selector] of strangers) {
      const name = KNOWN_FUNCTIONS.get(selector)?.signature ?? 'a function'
      if (!named.has(address)) evidence.push(`${selector} ${name} is for ${address}`)
    }
  }
  return findingsBy((flag) => (flag === 'hiddenOwner' ? evidence.slice(0, MAX_FINDINGS) : []))
}

/** Addresses that callers are compared with, each with the first function that does so. */
async function resolveGuards(
  node: EvmNode,
  token: string,
  guarded: readonly GuardedFunction[],
  blockHash: string,
): Promise<Map<string, string>> {
  const slots = new Set(guarded.flatMap(({ by }) => (typeof by === 'object' ? [by.slot] : [])))
  const words = new Map(
    await Promise.all(
      [...slots].map(
        async (slot) => [slot, await node.storage(token, toHex(slot, { size: 32 }), blockHash)] as const,
      ),
    ),
  )
  const holders = new Map<string, string>()
  for (const { selector, by } of guarded) {
    const word = typeof by === 'object' ? ((words.get(by.slot) ?? 0n) >> BigInt(by.shift)) & ADDRESS_MASK : by
    const address = toAddress(word)
    if (address !== undefined && !holders.has(address)) holders.set(address, selector)
  }
  return holders
}
