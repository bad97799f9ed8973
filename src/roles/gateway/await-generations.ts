import { setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../../domain/errors.ts'
import { decodeGenerations } from '../../domain/generation.ts'
import type { Logger } from '../../lib/logger.ts'
import { retryUntilAvailable, type Waiting } from '../../lib/waiting.ts'
import type { Generations } from '../../log/generations.ts'
import type { HistoryReader } from '../../store/clickhouse/read/history-reader.ts'

type AwaitGenerationsParts = {
  readonly generations: Pick<Generations, 'of' | 'stored'>
  readonly history: Pick<HistoryReader, 'generations'>
  /** For NATS, which may be between two leaders. */
  readonly waiting: Waiting
  readonly logger: Logger
  readonly signal: AbortSignal
}

const LOOK_MS = 250

/** Waits for entries that NATS has lost: ClickHouse has copies, and a writer restores them. */
export async function awaitGenerations(
  chains: readonly string[],
  parts: AwaitGenerationsParts,
): Promise<void> {
  await Promise.all(chains.map((chain) => awaitEntry(chain, parts)))
}

async function awaitEntry(
  chain: string,
  { generations, history, waiting, logger, signal }: AwaitGenerationsParts,
): Promise<void> {
  const stored = await retryUntilAvailable(() => generations.stored(chain), waiting, {
    signal,
    isRetryable: (error) => error instanceof ChaintapeError && error.retryable,
  })
  if (stored !== undefined) return
  const copy = await history.generations(chain).catch((error: unknown) => {
    // A gateway can start without ClickHouse.
    logger.debug({ err: error, chain }, 'Copy of GENERATIONS unreadable')
    return undefined
  })
  const number = copy === undefined ? 1 : decodeGenerations(Buffer.from(copy)).serving.number
  if (generations.of(chain).serving.number === number) return
  logger.warn({ chain, generation: number }, 'GENERATIONS was lost; waiting for a writer to restore it')
  while (!signal.aborted && generations.of(chain).serving.number === 1) await sleep(LOOK_MS)
}
