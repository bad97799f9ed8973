import { join } from 'node:path'
import { Counter, Gauge } from 'prom-client'
import { ChaintapeError } from '../domain/errors.ts'
import { decodeChangeSet, encodeChangeSet } from '../domain/wire/change-codec.ts'
import { decodeEnvelope } from '../domain/wire/envelope-codec.ts'
import { Engine } from '../engine/engine.ts'
import type { Common } from '../lib/common.ts'
import { openStateStore } from '../store/lmdb/state-store.ts'
import { createRegistry } from './dex-registry.ts'
import { type ChainRun, startPerChain } from './per-chain.ts'
import type { StartRole } from './role.ts'

/** Names the layout of the state; another number means it is rebuilt from the log by deleting it. */
const STATE_FORMAT = 'engine-2'

export const startEngine: StartRole = (config, common) => {
  const metrics = createMetrics(common)
  return startPerChain(config, common, (run) =>
    foldChain(run, join(config.data_dir, 'engine', run.chain), metrics),
  )
}

/**
 * Publish, then commit: what dies in between is folded again, comes out the same, and is recognised as
 * published. So a change set is in CHANGES exactly once, and never missing.
 */
async function foldChain(
  { chain, config, logs, common, onCaughtUp }: ChainRun,
  dir: string,
  metrics: EngineMetrics,
): Promise<void> {
  const { logger } = common
  const { signal } = common.shutdown
  const [blocks, changes] = await Promise.all([logs.open('BLOCKS', chain), logs.open('CHANGES', chain)])
  const store = openStateStore({ dir, format: STATE_FORMAT })
  common.shutdown.onClose(`engine state of ${chain}`, () => store.close())
  const registry = createRegistry(config)
  const engine = new Engine({ chain, registry, quoteAssets: config.quote_assets }, store)

  const publisher = await changes.openPublisher()
  const newest = await changes.lastMessage()
  const published = newest === undefined ? 0 : decodeChangeSet(newest.body).seq
  const end = await blocks.lastSequence()
  if (end <= (store.position?.seq ?? 0)) onCaughtUp()
  logger.info(
    { tip: engine.tip?.number, blocks_seq: store.position?.seq, published_seq: published },
    'Engine starts',
  )

  for await (const { body, position } of blocks.read({ after: store.position, signal })) {
    const set = engine.apply(decodeEnvelope(body), position.seq)
    const bytes = encodeChangeSet(set)
    if (set.seq > published) await publisher.publish(bytes)
    else if (set.seq === published) expectSame(bytes, newest?.body, set.seq)
    store.commit(engine.pending(), position)
    engine.committed()
    metrics.applied.inc({ chain, cause: set.cause })
    metrics.seq.set({ chain }, set.seq)
    metrics.tip.set({ chain }, set.head.number)
    if (position.seq >= end) onCaughtUp()
  }
}

/** Folding the same message twice must give the same bytes; if not, the state or the program is not what it was. */
function expectSame(bytes: Uint8Array, published: Uint8Array | undefined, seq: number): void {
  if (published !== undefined && Buffer.compare(bytes, published) === 0) return
  throw new ChaintapeError(
    'diverged',
    `message ${seq} of BLOCKS now folds to other changes than were published`,
  )
}

type EngineMetrics = ReturnType<typeof createMetrics>

function createMetrics({ metrics }: Common) {
  const registers = [metrics]
  return {
    applied: new Counter({
      name: 'chaintape_engine_messages_total',
      help: 'BLOCKS messages folded',
      labelNames: ['chain', 'cause'],
      registers,
    }),
    seq: new Gauge({
      name: 'chaintape_engine_blocks_seq',
      help: 'Sequence of the last BLOCKS message folded',
      labelNames: ['chain'],
      registers,
    }),
    tip: new Gauge({
      name: 'chaintape_engine_tip_block',
      help: 'Newest block folded',
      labelNames: ['chain'],
      registers,
    }),
  }
}
