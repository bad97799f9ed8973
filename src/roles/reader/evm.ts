import { askAccounts } from '../../chain/evm/facts/accounts.ts'
import { CreationScan } from '../../chain/evm/facts/creation-scan.ts'
import { EvmFacts } from '../../chain/evm/facts/facts.ts'
import { LookUps } from '../../chain/evm/facts/look-ups.ts'
import { PastLaunches } from '../../chain/evm/facts/past-launches.ts'
import { TransferHistory } from '../../chain/evm/facts/transfer-history.ts'
import { evmInspector } from '../../chain/evm/inspect/inspector.ts'
import { Multicall } from '../../chain/evm/rpc/multicall.ts'
import { watchNewHeads } from '../../chain/evm/rpc/new-heads.ts'
import { createEvmRpc, type EvmNodes } from '../../chain/evm/rpc/rpc.ts'
import { createEvmSource } from '../../chain/evm/source.ts'
import { HistoryOrder } from '../../chain/history-order.ts'
import type { EvmChainConfig } from '../../config/schema.ts'
import { DexRegistry } from '../../dex/registry.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { PoolIndex } from '../../store/lmdb/pool-index.ts'
import { createInspections, expectNetwork, type FamilyParts, type FamilyRun, rpcOptions } from './family.ts'

const ADDRESS_LETTERS = 42
/** Concurrent requests for the code of ids that clients ask for. */
const MAX_SEEKING = 64

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
  const pools = run.openPools()
  const lookUps = new LookUps({ pools, registry, quoteAssets: settings.quoteAssets })
  const launches = new PastLaunches({ launchOf: (token) => pools.launchOf(token), nodes: rpc, logger })
  const { native, lockers } = config
  const facts = new EvmFacts(asker, registry, native, wrappedNative, lockers, lookUps, launches)
  if (config.scan_pools) scanCreations(run, rpc.background, pools, registry, lookUps)
  const order = new HistoryOrder(index.histories)
  const history = new TransferHistory({
    nodes: rpc.background,
    histories: index.histories,
    order,
    hashAt: (number) => index.hashAt(number),
    wrappedNative,
    logger,
    signal,
  })
  const inspect = evmInspector(rpc.background, {
    poolsOf: (token) => index.inspections.poolsOf(token),
    keyOf: (pool) => index.inspections.keyOf(pool),
    deploymentOf: (factory) => registry.deploymentOf(factory, index.tip?.number ?? 0),
  })
  const inspections = createInspections(run, inspect)
  let seeking = 0
  return {
    source: createEvmSource(rpc, {
      finalityDepth: config.finality_depth,
      receiptsRoot: config.receipts_root,
    }),
    gather: (...block) => facts.gather(...block),
    askAhead: (...block) => facts.askAhead(...block),
    background: [history, inspections, lookUps],
    inspections,
    lookUps: {
      want: (id) => lookUps.want(id),
      seek: async (id) => {
        if (lookUps.isListed(id)) return 'pending'
        if (lookUps.isAbsent(id, index.tip?.number ?? 0) || id.length !== ADDRESS_LETTERS) return 'none'
        if (seeking >= MAX_SEEKING)
          throw new ChaintapeError('node_unavailable', 'too many look-ups wait for a node')
        seeking++
        const hasCode = rpc.background.verified((node) => node.hasCode(id)).finally(() => seeking--)
        return (await hasCode) ? 'pending' : 'none'
      },
    },
    histories: {
      want: (address) => history.want(address),
      rank: (addresses) => order.rank(addresses),
      isUnserved: (address) => history.isUnserved(address),
      unservedCount: () => history.unservedCount,
      hold: (address) => history.hold(address),
      import: (from, fact) => history.import(from, fact),
    },
    askAccounts: (addresses) => askAccounts(rpc, addresses),
  }
}

/** In the background, from where an earlier process stopped. */
function scanCreations(
  { chain, index, metrics, logger, signal }: FamilyRun<EvmChainConfig>,
  nodes: EvmNodes,
  pools: PoolIndex,
  registry: DexRegistry,
  lookUps: LookUps,
): void {
  const onProgress = ({ blocksLeft }: { blocksLeft: number }): void => {
    metrics.scanBlocksLeft.set({ chain }, blocksLeft)
    metrics.indexedPools.set({ chain }, pools.size)
    metrics.waitingLookUps.set({ chain }, lookUps.waiting)
    lookUps.wantQuoteAssets()
  }
  const scan = new CreationScan({
    ...{ nodes, index: pools, registry, logger, signal, onProgress },
    upTo: () => index.floor?.number,
  })
  void scan.run().then(
    () => {
      if (signal.aborted) return
      onProgress({ blocksLeft: 0 })
      logger.info({ pools: pools.size }, 'Creation events scanned')
    },
    // Pools that do not trade stay unknown; everything else works without them.
    (error: unknown) => logger.error({ err: error }, 'Scan of creation events stopped'),
  )
}

function wrappedNativeOf({ quote_assets }: EvmChainConfig): ReadonlySet<string> {
  return new Set(quote_assets.filter(({ kind }) => kind === 'native').map(({ address }) => address))
}
