import type { KnownPool } from '../../chain/inspection-queue.ts'
import { SolanaFacts } from '../../chain/solana/facts/facts.ts'
import { askNativeBalances } from '../../chain/solana/facts/native-balances.ts'
import { solanaInspector } from '../../chain/solana/inspect/inspector.ts'
import { createSolanaRpc } from '../../chain/solana/rpc.ts'
import { createSolanaSource } from '../../chain/solana/source.ts'
import type { LogsOf } from '../../chain/solana/yellowstone/decode-block.ts'
import { followByStream } from '../../chain/solana/yellowstone/live-source.ts'
import type { ChainSource } from '../../chain/source.ts'
import type { SolanaChainConfig } from '../../config/schema.ts'
import { DexRegistry } from '../../dex/registry.ts'
import { BALANCE_PROGRAMS } from '../../dex/solana/known-keys.ts'
import { knownPrograms } from '../../dex/solana/protocols.ts'
import { rawLogsOf } from '../../dex/solana/raw-logs.ts'
import { createInspections, expectNetwork, type FamilyParts, type FamilyRun, rpcOptions } from './family.ts'

export async function openSolanaChain(run: FamilyRun<SolanaChainConfig>): Promise<FamilyParts> {
  const { chain, config, settings, index, doorbell, metrics, logger, signal } = run
  const rpc = createSolanaRpc({ ...rpcOptions(run), genesisHash: config.genesis_hash })
  await expectNetwork(run, 'the cluster', config.genesis_hash, rpc.genesisHash)
  const programs = knownPrograms(settings.dexes)
  const registry = new DexRegistry(settings.dexes)
  const facts = new SolanaFacts(rpc, registry, config.native)
  const logsOf: LogsOf = (transaction, firstIndex) => rawLogsOf(transaction, programs, firstIndex)
  const followed = [...programs.keys(), ...BALANCE_PROGRAMS]
  const polled = createSolanaSource(rpc, {
    logsOf,
    unknownVersions: {
      programs: new Set(followed),
      onLeftOut: (slot, index) => {
        metrics.unreadTransactions.inc({ chain })
        logger.warn({ slot, index }, 'transaction of an unknown version left out; upgrade Chaintape')
      },
    },
  })
  const streams = config.grpc_urls ?? []
  const source: ChainSource =
    streams.length === 0
      ? polled
      : followByStream(polled, {
          endpoints: streams.map((url) => ({ url, token: config.grpc_token })),
          accounts: followed,
          logsOf,
          onBlock: () => doorbell.ring(),
          logger,
          signal,
          metrics: {
            up: (endpoint, isUp) => metrics.newHeadsUp.set({ chain, endpoint }, isUp ? 1 : 0),
            ended: (endpoint, how) => metrics.streamsEnded.inc({ chain, endpoint, how }),
          },
        })
  const canTrade = ({ factory }: KnownPool): boolean =>
    registry.deploymentOf(factory, index.tip?.number ?? 0)?.is.trial === 'cpmm'
  const inspect = solanaInspector(rpc, {
    poolsOf: (token) => index.inspections.poolsOf(token).filter(canTrade),
    isSimulating: config.simulate,
    logger,
  })
  const inspections = createInspections(run, inspect)
  return {
    source,
    gather: (...block) => facts.gather(...block),
    askAhead: (...block) => facts.askAhead(...block),
    background: [inspections],
    inspections,
    askAccounts: (addresses) => askNativeBalances(rpc, addresses),
  }
}
