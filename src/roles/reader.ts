import { join } from 'node:path'
import { Counter, Gauge } from 'prom-client'
import { EvmFacts } from '../chain/evm/facts.ts'
import { createEvmRpc } from '../chain/evm/rpc.ts'
import { createEvmSource } from '../chain/evm/source.ts'
import { Reader } from '../chain/reader.ts'
import { ReaderIndex } from '../chain/reader-index.ts'
import { DexRegistry } from '../dex/registry.ts'
import type { Envelope } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { decodeEnvelope, encodeEnvelope } from '../domain/wire/envelope-codec.ts'
import type { Common } from '../lib/common.ts'
import { retry } from '../lib/retry.ts'
import { openStateStore } from '../store/lmdb/state-store.ts'
import { type ChainRun, startPerChain } from './per-chain.ts'
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

  const rpc = createEvmRpc(config.rpc_urls)
  await expectChainId(rpc.chainId, config.chain_id, chain, common)
  const facts = new EvmFacts(rpc, new DexRegistry(config.dexes))
  const append = async (envelope: Envelope): Promise<void> => {
    const position = await publisher.publish(encodeEnvelope(envelope))
    index.apply(envelope)
    store.commit(index.pending(), position)
    index.committed()
    metrics.appended.inc({ chain, kind: envelope.kind })
  }
  await new Reader({
    chain,
    source: createEvmSource(rpc, { finalityDepth: config.finality_depth }),
    index,
    gather: (hash, transactions, known) => facts.gather(hash, transactions, known),
    append,
    startBlock: config.start_block,
    pollMs: config.poll_ms,
    logger,
    signal,
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
  }
}
