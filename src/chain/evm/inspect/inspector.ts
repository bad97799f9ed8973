import type { Protocol } from '../../../dex/protocol.ts'
import type { Inspection } from '../../../domain/inspection.ts'
import type { KnownPool } from '../../inspection-queue.ts'
import type { Header } from '../../source.ts'
import type { EvmNodes } from '../rpc/rpc.ts'
import { inspectToken } from './inspect-token.ts'
import type { TrialPair } from './trade-trial.ts'

export type EvmInspectorParts = {
  readonly poolsOf: (token: string) => readonly KnownPool[]
  /** How to simulate a trade in pools of this factory; undefined if unsupported. */
  readonly trialIn: (factory: string) => Protocol['trial']
}

/** Inspects contracts of EVM chains, with a simulated trade in one of the token's pools. */
export function evmInspector(
  nodes: Pick<EvmNodes, 'verified'>,
  { poolsOf, trialIn }: EvmInspectorParts,
): (token: string, block: Header) => Promise<Inspection> {
  return (token, block) => {
    const pairs = poolsOf(token).flatMap(({ address, factory, quote }): TrialPair[] => {
      const kind = trialIn(factory)
      return kind === undefined || kind === 'cpmm' ? [] : [{ address, kind, quote }]
    })
    // V2 first: tokens with a transfer tax cannot be sold in other pools at all.
    pairs.sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0))
    return inspectToken(nodes, { token, block, pairs })
  }
}
