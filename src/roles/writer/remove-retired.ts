import { setTimeout as sleep } from 'node:timers/promises'
import { storedName } from '../../domain/generation.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Logs } from '../../log/connect.ts'
import type { Generations } from '../../log/generations.ts'
import type { HistoryStore } from '../../store/clickhouse/history-store.ts'
import type { HotStore } from '../../store/redis/hot-store.ts'

export type RemoveRetiredParts = {
  readonly chain: string
  readonly logs: Pick<Logs, 'removeChanges'>
  readonly generations: Pick<Generations, 'of' | 'change'>
  readonly history: Pick<HistoryStore, 'remove'>
  readonly hot: Promise<Pick<HotStore, 'remove'>>
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly report: (about: string, problem: string | undefined) => void
}

const LOOK_EVERY_MS = 1_000
/** Engines and writers stop at the end of the grace, and finish their batches. */
const AFTER_GRACE_MS = 5_000

/** Removes a generation after its grace, then its entry. Each step may be repeated, also by several writers at once. */
export async function removeRetired(parts: RemoveRetiredParts): Promise<void> {
  const { chain, logger, signal, report } = parts
  const about = 'removal of a generation'
  while (!signal.aborted) {
    try {
      await removeIfDue(parts)
      report(about, undefined)
    } catch (error) {
      if (signal.aborted) return
      logger.error({ err: error }, 'Generation could not be removed; retrying')
      report(about, `${chain}: ${about} fails: ${(error as Error).message}`)
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function removeIfDue(parts: RemoveRetiredParts): Promise<void> {
  const { chain, logs, generations, history, hot, logger } = parts
  const { retiring } = generations.of(chain)
  if (retiring === undefined || Date.now() < retiring.until * 1_000 + AFTER_GRACE_MS) return
  const stored = storedName(chain, retiring)
  logger.info({ generation: stored }, 'Removing generation')
  await (await hot).remove(stored)
  await history.remove(stored)
  // It may be the stream of this generation or of an earlier one.
  await logs.removeChanges(chain, { number: retiring.number + 2 })
  await generations.change(chain, (now) => {
    if (now.retiring?.number !== retiring.number) return undefined
    const { retiring: _, ...rest } = now
    return rest
  })
  logger.info({ generation: stored }, 'Generation removed')
}
