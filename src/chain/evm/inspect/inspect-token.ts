import { ChaintapeError } from '../../../domain/errors.ts'
import type { Inspection, TrialMethod } from '../../../domain/inspection.ts'
import type { EvmNodes } from '../rpc/rpc.ts'
import { askContract } from './contract-facts.ts'
import type { MarketPair } from './market.ts'
import { type TrialRequest, tryTrade } from './trade-trial.ts'

export type InspectionRequest = Omit<TrialRequest, 'pair'> & {
  /** Best first: the first one where a purchase succeeds counts. Addresses in lower case, as everywhere. */
  readonly pairs: readonly MarketPair[]
}

export type InspectionOptions = {
  /** Simulation by default, if a node supports it. */
  readonly method?: TrialMethod
  readonly maxPairs?: number
}

type Nodes = Pick<EvmNodes, 'verified'>

const MAX_PAIRS = 3
/** A call may still succeed, because it returns far less than a simulation. */
const SIMULATION_FAILURES: ReadonlySet<string> = new Set(['node_unavailable', 'node_answer_too_large'])

/**
 * Inspects a token's contract in the state after a block. Fails with `node_unavailable` if no node has that state any
 * more; never answers for another state.
 */
export async function inspectToken(
  nodes: Nodes,
  request: InspectionRequest,
  options: InspectionOptions = {},
): Promise<Inspection> {
  const { token, block } = request
  const pools = request.pairs.flatMap(({ address, manager }) => manager ?? address)
  const { isContract, ...facts } = await nodes.verified((node) => askContract(node, token, block.hash, pools))
  return {
    token,
    block: { number: block.number, hash: block.hash },
    creator: undefined,
    ...facts,
    trial: isContract ? await tryPairs(nodes, request, options) : 'no_contract',
  }
}

async function tryPairs(
  nodes: Nodes,
  { token, block, pairs }: InspectionRequest,
  { method = 'simulate', maxPairs = MAX_PAIRS }: InspectionOptions,
): Promise<Inspection['trial']> {
  let best: Inspection['trial'] = 'no_pair'
  for (const pair of pairs.slice(0, maxPairs)) {
    const trial = await tryPair(nodes, { token, block, pair }, method)
    if (typeof trial === 'object' && trial.sell !== undefined) return trial
    if (worthOf(trial) > worthOf(best)) best = trial
  }
  return best
}

/** A failed trial is worth more than none, and a purchase whose sale the pool prevented is worth more than no purchase. */
function worthOf(trial: Inspection['trial']): number {
  if (typeof trial === 'string') return trial === 'no_pair' ? 0 : 1
  return trial.buy.works ? 3 : 2
}

async function tryPair(
  nodes: Nodes,
  request: TrialRequest,
  method: TrialMethod,
): Promise<Inspection['trial']> {
  if (method === 'simulate') {
    try {
      const trial = await nodes.verified((node) => tryTrade(node, request, 'simulate'))
      if (trial !== 'refused') return trial
    } catch (error) {
      // If all nodes are down, rather than unable to simulate, the next request fails too.
      if (!(error instanceof ChaintapeError && SIMULATION_FAILURES.has(error.code))) throw error
    }
  }
  return nodes.verified((node) => tryTrade(node, request, 'call'))
}
