import { join } from 'node:path'
import { Counter, Gauge, Histogram } from 'prom-client'
import type { EndpointMetrics } from '../chain/evm/endpoint-asker.ts'
import { EvmFacts } from '../chain/evm/facts.ts'
import { createEvmRpc } from '../chain/evm/rpc.ts'
import { createEvmSource } from '../chain/evm/source.ts'
import { Reader } from '../chain/reader.ts'
import { ReaderIndex } from '../chain/reader-index.ts'
import { DexRegistry } from '../dex/registry.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { decodeEnvelope } from '../domain/wire/envelope-codec.ts'
import type { Common } from '../lib/common.ts'
import { Progress } from '../lib/progress.ts'
import { retry } from '../lib/retry.ts'
import { openStateStore } from '../store/lmdb/state-store.ts'
import { type ChainRun, startPerChain } from './per-chain.ts'
import { Appender } from './reader/appender.ts'
import type { StartRole } from './role.ts'

/** Names the layout of the index; another number means it is rebuilt from the log by deleting it. */
const INDEX_FORMAT = 'reader-1'

export const startReader: StartRole = (config, common) => {
  const metrics = createMetrics(common)
  return startPerChain(config, common, (run) =>
    readChain(run, join(config.data_dir, 'reader', run.chain), metrics),
  )
}

async function readChain(
  { chain, config, logs, common, onCaughtUp }: ChainRun,
  dir: string,
  metrics: ReaderMetrics,
): Promise<void> {
  const { logger } = common
  const { signal } = common.shutdown
  const log = await logs.open('BLOCKS', chain)
  const store = openStateStore({ dir, format: INDEX_FORMAT })
  common.shutdown.onClose(`reader index of ${chain}`, () => store.close())
  const index = new ReaderIndex(store)

  // The fence stands before the index follows: whatever another reader appends after it makes ours fail.
  const publisher = await log.openPublisher()
  // A reader that died between publishing and committing finds the rest of its own words in the log.
  const end = await log.lastSequence()
  if (end > (store.position?.seq ?? 0)) {
    for await (const { body, position } of log.read({ after: store.position, signal })) {
      index.apply(decodeEnvelope(body))
      store.commit(index.pending(), position)
      index.committed()
      if (position.seq >= end) break
    }
  }
  logger.info({ tip: index.tip?.number, log_seq: publisher.last.seq }, 'Reader starts')

  const rpc = createEvmRpc({
    urls: config.rpc_urls,
    chainId: config.chain_id,
    logger,
    signal,
    metrics: rpcMetrics(metrics, chain),
  })
  await expectChainId(rpc.chainId, config.chain_id, chain, common)
  const progress = new Progress(`${chain}: blocks`, logger)
  common.shutdown.onClose('progress', () => progress.end())
  const facts = new EvmFacts(rpc, new DexRegistry(config.dexes))
  const appender = new Appender(publisher, index, store)
  await new Reader({
    chain,
    source: createEvmSource(rpc, {
      finalityDepth: config.finality_depth,
      receiptsRoot: config.receipts_root,
    }),
    index,
    gather: (block, transactions, known) => facts.gather(block, transactions, known),
    append: async (envelope) => {
      await appender.append(envelope)
      metrics.appended.inc({ chain, kind: envelope.kind })
    },
    flush: () => appender.flush(),
    startBlock: config.start_block,
    readAheadBlocks: config.read_ahead_blocks,
    pollMs: config.poll_ms,
    logger,
    signal,
    onBlock: ({ number, head }) => progress.update(number, head),
    onProgress: ({ tip, lagBlocks }) => {
      if (tip !== undefined) metrics.tip.set({ chain }, tip.number)
      metrics.lag.set({ chain }, lagBlocks)
      if (lagBlocks === 0) onCaughtUp()
    },
  }).run()
}

/** A URL of the wrong chain would fill the log with another chain's blocks. */
async function expectChainId(
  ask: () => Promise<number>,
  expected: number,
  chain: string,
  common: Common,
): Promise<void> {
  const actual = await retry(ask, {
    signal: common.shutdown.signal,
    isRetryable: (error) => error instanceof ChaintapeError && error.retryable,
    onRetry: (error, attempt) => common.logger.warn({ err: error, attempt }, 'Waiting for the node'),
  })
  if (actual !== expected) {
    throw new ChaintapeError(
      'config_invalid',
      `chains.${chain}: the node serves chain ${actual}, not ${expected}`,
    )
  }
}

function rpcMetrics(metrics: ReaderMetrics, chain: string): EndpointMetrics {
  return {
    answered: (endpoint, outcome, seconds) => {
      metrics.rpcRequests.inc({ chain, endpoint, outcome })
      if (seconds !== undefined) metrics.rpcSeconds.observe({ chain, endpoint }, seconds)
    },
    up: (endpoint, isUp) => metrics.rpcUp.set({ chain, endpoint }, isUp ? 1 : 0),
  }
}

type ReaderMetrics = ReturnType<typeof createMetrics>

function createMetrics({ metrics }: Common) {
  const registers = [metrics]
  return {
    appended: new Counter({
      name: 'chaintape_reader_envelopes_total',
      help: 'Envelopes appended to BLOCKS',
      labelNames: ['chain', 'kind'],
      registers,
    }),
    tip: new Gauge({
      name: 'chaintape_reader_tip_block',
      help: 'Newest block in BLOCKS',
      labelNames: ['chain'],
      registers,
    }),
    lag: new Gauge({
      name: 'chaintape_reader_lag_blocks',
      help: "Blocks between the node's head and the newest block in BLOCKS",
      labelNames: ['chain'],
      registers,
    }),
    rpcRequests: new Counter({
      name: 'chaintape_reader_rpc_requests_total',
      help: 'Requests to nodes by outcome; invalid and lagging are found out later and counted in addition',
      labelNames: ['chain', 'endpoint', 'outcome'],
      registers,
    }),
    rpcSeconds: new Histogram({
      name: 'chaintape_reader_rpc_seconds',
      help: 'Time until a node answered or failed to',
      labelNames: ['chain', 'endpoint'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    rpcUp: new Gauge({
      name: 'chaintape_reader_rpc_endpoint_up',
      help: '1 while the endpoint is trusted with requests, 0 while it is paused',
      labelNames: ['chain', 'endpoint'],
      registers,
    }),
  }
}
