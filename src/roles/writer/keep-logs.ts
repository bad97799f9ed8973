import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'
import { changesLogOf, type FoldedChain } from '../../domain/generation.ts'
import type { Logger } from '../../lib/logger.ts'
import { retry } from '../../lib/retry.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { Logs } from '../../log/connect.ts'
import type { LogTrimmer } from '../../log/log-trimmer.ts'
import type { BlockArchive } from '../../store/clickhouse/block-archive.ts'
import { BlockArchiver } from './block-archiver.ts'
import { type LogLimits, trimLog } from './trim-log.ts'

/** What both tasks below need. */
type KeepingParts = {
  readonly logs: Pick<Logs, 'openTrimmer'>
  readonly limits: Readonly<Record<'blocks' | 'changes', LogLimits>>
  readonly metrics: LogMetrics
  readonly logger: Logger
  readonly signal: AbortSignal
  /** What fails, or keeps a log from being trimmed; undefined once nothing does. */
  readonly report: (about: string, problem: string | undefined) => void
}

export type KeepBlocksParts = KeepingParts & {
  readonly chain: string
  readonly openBlocks: () => Promise<ChainLog>
  readonly archive: BlockArchive
  /** Runs `work` until ClickHouse answers. */
  readonly insist: <T>(work: () => Promise<T>) => Promise<T>
}

export type KeepChangesParts = KeepingParts & {
  readonly folded: FoldedChain
  /** Names the generation in metrics and problems. */
  readonly label: () => string
  /** The sequence up to which both stores have CHANGES. */
  readonly written: () => number
}

export type LogMetrics = {
  readonly archived: Gauge<'chain'>
  readonly heldBack: Gauge<'chain' | 'log'>
}

export function createLogMetrics(registry: Registry): LogMetrics {
  const registers = [registry]
  return {
    archived: new Gauge({
      name: 'chaintape_writer_archived_seq',
      help: 'Sequence in BLOCKS up to which it is archived',
      labelNames: ['chain'],
      registers,
    }),
    heldBack: new Gauge({
      name: 'chaintape_log_held_back_messages',
      help: 'Messages beyond the limits of the log that are not stored elsewhere yet',
      labelNames: ['chain', 'log'],
      registers,
    }),
  }
}

const MAX_TRIM_EVERY_MS = 30_000

/**
 * Archives BLOCKS, and drops from it what is older than configured and archived. A failure is reported and retried, and
 * does not stop the writer: a log that is too long is better than a store that is too old.
 */
export async function keepBlocks(parts: KeepBlocksParts): Promise<void> {
  const { chain, openBlocks, archive, insist, metrics, signal, report } = parts
  let archived = 0
  const archiveAll = async (): Promise<void> => {
    const log = await openBlocks()
    await new BlockArchiver({
      ...{ chain, log, archive, insist, signal },
      onArchived: (sequence) => {
        archived = sequence
        metrics.archived.set({ chain }, sequence)
        report('archive of BLOCKS', undefined)
      },
    }).run()
  }
  const trimmed: TrimmedLog = {
    ...{ label: () => chain, log: 'BLOCKS', durable: () => archived, missing: 'the archive' },
    ...{ trimmer: parts.logs.openTrimmer('BLOCKS', chain), limits: parts.limits.blocks },
  }
  await Promise.all([
    untilStopped(parts, chain, 'archive of BLOCKS', archiveAll),
    untilStopped(parts, chain, 'trim of the logs', () => keepTrimmed(parts, trimmed)),
  ])
}

/** The same for the CHANGES of a generation, which both stores must have. */
export async function keepChanges(parts: KeepChangesParts): Promise<void> {
  const { folded, label, written } = parts
  const { chain, generation } = folded
  const trimmed: TrimmedLog = {
    ...{ label, log: 'CHANGES', durable: written, missing: 'a store' },
    ...{ trimmer: parts.logs.openTrimmer(changesLogOf(generation), chain), limits: parts.limits.changes },
  }
  await untilStopped(parts, label(), 'trim of the logs', () => keepTrimmed(parts, trimmed))
}

type TrimmedLog = {
  readonly label: () => string
  readonly log: 'BLOCKS' | 'CHANGES'
  readonly trimmer: LogTrimmer
  readonly limits: LogLimits
  /** The sequence up to which it is stored elsewhere, and the name of that place. */
  readonly durable: () => number
  readonly missing: string
}

async function keepTrimmed(
  { metrics, logger, signal, report }: KeepingParts,
  { label, log, trimmer, limits, durable, missing }: TrimmedLog,
): Promise<void> {
  let isReported = false
  while (!signal.aborted) {
    const { heldBack, bytes } = await trimLog(trimmer, limits, durable())
    const chain = label()
    metrics.heldBack.set({ chain, log }, heldBack)
    if (heldBack > 0 && !isReported)
      logger.error({ log, bytes, held_back: heldBack }, 'Log exceeds its limits')
    isReported = heldBack > 0
    const reason = `${chain}: ${log} exceeds its limits by ${heldBack} messages, because ${missing} is behind`
    report(`trim of ${log}`, isReported ? reason : undefined)
    report('trim of the logs', undefined)
    await sleep(trimEveryMs(limits), undefined, { signal }).catch(() => undefined)
  }
}

async function untilStopped(
  { logger, signal, report }: KeepingParts,
  name: string,
  about: string,
  work: () => Promise<void>,
): Promise<void> {
  await retry(work, {
    signal,
    isRetryable: () => true,
    maxDelayMs: MAX_TRIM_EVERY_MS,
    onRetry: (error, attempt) => {
      logger.error({ err: error, attempt }, `${about} failed; retrying`)
      report(about, `${name}: ${about} fails: ${(error as Error).message}`)
    },
  }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}

/** Often enough that a log exceeds its age by little. */
function trimEveryMs({ max_age_seconds: age }: LogLimits): number {
  return age === 0 ? MAX_TRIM_EVERY_MS : Math.min(MAX_TRIM_EVERY_MS, age * 250)
}
