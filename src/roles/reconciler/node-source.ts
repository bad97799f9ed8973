import { createEvmRpc } from '../../chain/evm/rpc/rpc.ts'
import { createEvmSource } from '../../chain/evm/source.ts'
import type { EndpointMetrics } from '../../chain/rpc/endpoint-reports.ts'
import { createSolanaRpc } from '../../chain/solana/rpc.ts'
import { createSolanaSource } from '../../chain/solana/source.ts'
import type { ChainSource } from '../../chain/source.ts'
import type { ChainConfig } from '../../config/schema.ts'
import { knownPrograms } from '../../dex/solana/protocols.ts'
import { rawLogsOf } from '../../dex/solana/raw-logs.ts'
import type { Logger } from '../../lib/logger.ts'

/** The reader's endpoints have these metrics already. */
const NO_METRICS: EndpointMetrics = { answered: () => undefined, up: () => undefined }

/** Reads old blocks as the reader does, with the same proofs. */
export function openNodeSource(config: ChainConfig, logger: Logger, signal: AbortSignal): ChainSource {
  const http = { timeoutMs: config.rpc_timeout_ms }
  // A process of its own, which cannot know what the reader has spent today.
  const limits = { perSecond: config.rpc_budget.per_second, perDay: config.rpc_budget.per_day }
  const budget = { limits, spentBefore: () => undefined, onSpent: () => undefined }
  const parts = { urls: config.rpc_urls, http, logger, signal, metrics: NO_METRICS, budget }
  if (config.family === 'evm') {
    const { chain_id: chainId, finality_depth: finalityDepth, receipts_root: receiptsRoot } = config
    return createEvmSource(createEvmRpc({ ...parts, chainId }), { finalityDepth, receiptsRoot })
  }
  const programs = knownPrograms(config.dexes)
  return createSolanaSource(createSolanaRpc({ ...parts, genesisHash: config.genesis_hash }), {
    logsOf: (transaction, firstIndex) => rawLogsOf(transaction, programs, firstIndex),
  })
}
