import { askAccounts } from '../../chain/evm/facts/accounts.ts'
import { EvmFacts } from '../../chain/evm/facts/facts.ts'
import { TransferHistory } from '../../chain/evm/facts/transfer-history.ts'
import { evmInspector } from '../../chain/evm/inspect/inspector.ts'
import { Multicall } from '../../chain/evm/rpc/multicall.ts'
import { watchNewHeads } from '../../chain/evm/rpc/new-heads.ts'
import { createEvmRpc } from '../../chain/evm/rpc/rpc.ts'
import { createEvmSource } from '../../chain/evm/source.ts'
import type { EvmChainConfig } from '../../config/schema.ts'
import { DexRegistry } from '../../dex/registry.ts'
import { createInspections, expectNetwork, type FamilyParts, type FamilyRun, rpcOptions } from './family.ts'

export async function openEvmChain(run: FamilyRun<EvmChainConfig>): Promise<FamilyParts> {
  const { chain, config, settings, index, doorbell, metrics, logger, signal } = run
  const rpc = createEvmRpc({ ...rpcOptions(run), chainId: config.chain_id })
  await expectNetwork(run, 'chain', config.chain_id, rpc.chainId)
  watchNewHeads({
    urls: config.ws_urls ?? [],
    logger,
    signal,
    onHead: () => doorbell.ring(),
    onUp: (endpoint, isUp) => metrics.newHeadsUp.set({ chain, endpoint }, isUp ? 1 : 0),
  })
  const { gas, answer_bytes: answerBytes } = config.calls
  const wrappedNative = wrappedNativeOf(config)
  const registry = new DexRegistry(settings.dexes)
  const asker = new Multicall(rpc, { gas, answerBytes })
  const facts = new EvmFacts(asker, registry, config.native, wrappedNative, config.lockers)
  const history = new TransferHistory({
    nodes: rpc,
    queue: index.histories,
    hashAt: (number) => index.hashAt(number),
    wrappedNative,
    logger,
    signal,
  })
  const inspect = evmInspector(rpc, {
    poolsOf: (token) => index.inspections.poolsOf(token),
    trialIn: (factory) => registry.deploymentOf(factory, index.tip?.number ?? 0)?.is.trial,
  })
  const inspections = createInspections(run, inspect)
  return {
    source: createEvmSource(rpc, {
      finalityDepth: config.finality_depth,
      receiptsRoot: config.receipts_root,
    }),
    gather: (...block) => facts.gather(...block),
    askAhead: (...block) => facts.askAhead(...block),
    background: [history, inspections],
    inspections,
    askAccounts: (addresses) => askAccounts(rpc, addresses),
  }
}

function wrappedNativeOf({ quote_assets }: EvmChainConfig): ReadonlySet<string> {
  return new Set(quote_assets.filter(({ kind }) => kind === 'native').map(({ address }) => address))
}
