import type { Inspection, TransferFee } from '../../../domain/inspection.ts'
import type { Mint } from '../facts/mint-account.ts'
import type { SolanaNode } from '../rpc.ts'
import { readCpmmPool } from '../simulate/cpmm-pool.ts'
import { canBeStopped, simulateTransfers } from '../simulate/holder-transfers.ts'
import { type Holder, isWallet, richest, walletsHolding } from '../simulate/holders.ts'
import type { MintRef } from '../simulate/token-instructions.ts'
import { simulateTrade } from '../simulate/trade.ts'
import { hookAccounts } from '../simulate/transfer-hook.ts'

export type SimulationRequest = {
  readonly mint: Mint & MintRef
  readonly fee: TransferFee | undefined
  /** Pools of a program in which a trade can be simulated, best first. */
  readonly pools: readonly { readonly address: string; readonly factory: string }[]
  readonly seed: string
  readonly minSlot: number | undefined
}

export type Simulations = Pick<Inspection, 'trial' | 'holderTransfers'>

const MAX_POOLS = 3

/** Whether there is anything to simulate. */
export function isWorthSimulating({ mint, pools }: Pick<SimulationRequest, 'mint' | 'pools'>): boolean {
  return pools.length > 0 || canBeStopped(mint)
}

/** Simulates transfers by holders, and a trade in one of the pools. */
export async function simulate(node: SolanaNode, request: SimulationRequest): Promise<Simulations> {
  const { mint, minSlot } = request
  const holders = await walletsHolding(node, mint.address, minSlot)
  const hook = canBeStopped(mint) ? await hookAccounts(node, mint, mint.address, minSlot) : undefined
  const holderTransfers =
    hook === undefined ? undefined : await simulateTransfers(node, { ...request, holders, hook })
  const trial = await tryPools(node, request, holders)
  return { trial, ...(holderTransfers !== undefined && { holderTransfers }) }
}

async function tryPools(
  node: SolanaNode,
  request: SimulationRequest,
  holders: readonly Holder[],
): Promise<Inspection['trial']> {
  let first: Inspection['trial'] = 'no_pair'
  for (const { address, factory } of request.pools.slice(0, MAX_POOLS)) {
    const trial = await tryPool(node, request, { address, factory, holders })
    if (typeof trial === 'object' && trial.buy.works) return trial
    // A failed trial is worth more than none.
    if (typeof first === 'string' && (first === 'no_pair' || typeof trial === 'object')) first = trial
  }
  return first
}

async function tryPool(
  node: SolanaNode,
  request: SimulationRequest,
  { address, factory, holders }: { address: string; factory: string; holders: readonly Holder[] },
): Promise<Inspection['trial']> {
  const { minSlot } = request
  const [account] = await node.accounts([address], minSlot)
  const pool = account === undefined ? undefined : readCpmmPool(address, factory, account)
  if (pool === undefined) return 'no_pair'
  const [creator] = await node.accounts([pool.creator], minSlot)
  const lamports = isWallet(creator) ? (creator?.lamports ?? 0n) : 0n
  const payer = richest([...holders, { owner: pool.creator, lamports }])
  return payer === undefined ? 'no_funds' : simulateTrade(node, { ...request, pool, payer })
}
