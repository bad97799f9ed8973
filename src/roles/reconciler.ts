import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/schema.ts'
import { encodeReconciliation, type Reconciliation } from '../domain/reconciliation.ts'
import { type ChainRun, startPerChain } from './per-chain.ts'
import { createReconcileMetrics, type ReconcileMetrics } from './reconciler/metrics.ts'
import { type OpenedParts, openParts } from './reconciler/open-parts.ts'
import { type RunParts, reconcileChain, totalOf } from './reconciler/run.ts'
import type { StartRole } from './role.ts'

/** After a start, so that restarts neither skip runs nor add load while all roles catch up. */
const FIRST_DELAY_SECONDS = 300
/** Share of one core; the rest is left to the roles that clients wait for. */
const LOAD = 0.25
/** Bounds the time and disk that a run takes on a chain with many blocks. */
const MAX_MESSAGES = 20_000

/** Compares stored data with the archive and the nodes, a stretch of each chain every so often. It never changes data. */
export const startReconciler: StartRole = async (config, common) => {
  const metrics = createReconcileMetrics(common.metrics)
  let opening: Promise<OpenedParts> | undefined
  return startPerChain('reconciler', config, common, async (run) => {
    run.onCaughtUp()
    const open = async (): Promise<RunParts> => {
      opening ??= openParts(config, run.logs, common).catch((error: unknown) => {
        opening = undefined
        throw error
      })
      return (await opening).of(run.chain, run.chain, run.common)
    }
    await reconcileForever(run, config.reconciler, open, metrics)
  })
}

async function reconcileForever(
  { chain, logs, common: { logger, shutdown } }: ChainRun,
  { every_seconds: every, node_blocks: nodeBlocks }: Config['reconciler'],
  open: () => Promise<RunParts>,
  metrics: ReconcileMetrics,
): Promise<void> {
  if (every === 0) return
  const { signal } = shutdown
  const pause = (seconds: number): Promise<void> =>
    sleep(seconds * 1_000, undefined, { signal }).catch(() => undefined)
  await pause(Math.min(every, FIRST_DELAY_SECONDS))
  const generations = await logs.generations()
  let parts: RunParts | undefined
  while (!signal.aborted) {
    const seed = randomBytes(4).toString('hex')
    const startedAt = performance.now()
    try {
      if (parts?.generation.number !== generations.of(chain).serving.number) parts = await open()
      const bounds = { orFromStart: false, maxMessages: MAX_MESSAGES, load: LOAD }
      const found = await reconcileChain(parts, { ...bounds, nodeBlocks, seed })
      if (signal.aborted) return
      report(chain, found, { seed, seconds: (performance.now() - startedAt) / 1_000 }, logger, metrics)
      await (await logs.openLatest('RECONCILIATIONS')).put(chain, encodeReconciliation(found))
    } catch (error) {
      if (signal.aborted) return
      // Not a fault of the chain: the roles that need an unavailable store report it.
      metrics.failures.inc({ chain })
      logger.error({ err: error, seed }, 'Reconciliation failed; retrying at the next turn')
    }
    await pause(every)
  }
}

function report(
  chain: string,
  found: Reconciliation,
  { seed, seconds }: { readonly seed: string; readonly seconds: number },
  logger: ChainRun['common']['logger'],
  metrics: ReconcileMetrics,
): void {
  const { at, blocks, nodeBlocks, rows, documents, skipped, differences, examples } = found
  metrics.lastRun.set({ chain }, at)
  metrics.compared.inc({ chain, what: 'row' }, rows)
  metrics.compared.inc({ chain, what: 'document' }, documents)
  metrics.compared.inc({ chain, what: 'block' }, nodeBlocks)
  for (const [kind, count] of Object.entries(differences)) metrics.differences.inc({ chain, kind }, count)
  for (const example of examples) logger.error({ ...example }, 'Stored data differs')
  const counts = { rows, documents, skipped, node_blocks: nodeBlocks, differences: totalOf(found) }
  const place = { from: blocks?.from, to: blocks?.to }
  logger.info({ ...place, ...counts, seed, seconds: Math.round(seconds) }, 'Reconciled')
}
