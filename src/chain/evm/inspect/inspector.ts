import type { PoolKey } from '../../../dex/protocol.ts'
import type { Deployed } from '../../../dex/registry.ts'
import type { Inspection } from '../../../domain/inspection.ts'
import type { KnownPool } from '../../inspection-queue.ts'
import type { Header } from '../../source.ts'
import type { EvmNodes } from '../rpc/rpc.ts'
import { inspectToken } from './inspect-token.ts'
import type { MarketKind, MarketPair } from './market.ts'

export type EvmInspectorParts = {
  readonly poolsOf: (token: string) => readonly KnownPool[]
  readonly deploymentOf: (factory: string) => Deployed | undefined
  /** The key of a pool in a vault, if it is known. */
  readonly keyOf: (pool: string) => PoolKey | undefined
}

/**
 * In this order: tokens with a transfer tax cannot be sold in concentrated pools at all, and hooks of pools in vaults may
 * prevent a trade that says nothing about the token.
 */
const ORDER: readonly MarketKind[] = ['v2', 'solidly', 'v3', 'algebra', 'vault', 'curve']

/** Inspects contracts of EVM chains, with a simulated trade in one of the token's pools. */
export function evmInspector(
  nodes: Pick<EvmNodes, 'verified'>,
  { poolsOf, deploymentOf, keyOf }: EvmInspectorParts,
): (token: string, block: Header) => Promise<Inspection> {
  const pairOf = ({ address, factory, quote }: KnownPool, token: string): MarketPair | undefined => {
    const deployment = deploymentOf(factory)
    const kind = deployment?.is.trial
    if (deployment === undefined || kind === undefined || kind === 'cpmm') return undefined
    if (kind !== 'vault' && kind !== 'curve') return { address, kind, quote }
    const { readMarket, readCurve } = deployment.is
    const pair = { address, quote, manager: factory }
    if (kind === 'curve') return readCurve && { ...pair, kind, read: () => readCurve(token, deployment) }
    return readMarket && { ...pair, kind, read: () => readMarket(address, deployment, keyOf(address)) }
  }
  return (token, block) => {
    const pairs = poolsOf(token).flatMap((pool) => pairOf(pool, token) ?? [])
    pairs.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    return inspectToken(nodes, { token, block, pairs })
  }
}
