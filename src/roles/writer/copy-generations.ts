import { setTimeout as sleep } from 'node:timers/promises'
import { type ChainGenerations, decodeGenerations, encodeGenerations } from '../../domain/generation.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Generations } from '../../log/generations.ts'
import type { HistoryStore } from '../../store/clickhouse/history-store.ts'

export type CopyGenerationsParts = {
  readonly chain: string
  readonly generations: Pick<Generations, 'of' | 'stored' | 'change'>
  readonly history: Pick<HistoryStore, 'generations' | 'saveGenerations'>
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly report: (about: string, problem: string | undefined) => void
}

const LOOK_EVERY_MS = 2_000

/** Copies the chain's entry to ClickHouse whenever it changes, and restores it if NATS has lost it. */
export async function copyGenerations(parts: CopyGenerationsParts): Promise<void> {
  const { chain, logger, signal, report } = parts
  const about = 'copy of GENERATIONS'
  let copied: string | undefined
  while (!signal.aborted) {
    try {
      copied ??= (await parts.history.generations(chain)) ?? ''
      copied = await copyOrRestore(parts, copied)
      report(about, undefined)
    } catch (error) {
      if (signal.aborted) return
      logger.error({ err: error }, 'Copy of GENERATIONS failed; retrying')
      report(about, `${chain}: ${about} fails: ${(error as Error).message}`)
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function copyOrRestore(
  { chain, generations, history, logger }: CopyGenerationsParts,
  copied: string,
): Promise<string> {
  const stored = await generations.stored(chain)
  if (stored === undefined) {
    if (copied === '') return copied
    const entry = decodeGenerations(Buffer.from(copied))
    await generations.change(chain, (_, isStored) => (isStored ? undefined : entry))
    logger.warn({ generation: entry.serving.number }, 'GENERATIONS was lost; restored from ClickHouse')
    return copied
  }
  const text = textOf(stored)
  if (text !== copied) await history.saveGenerations(chain, text)
  return text
}

function textOf(entry: ChainGenerations): string {
  return Buffer.from(encodeGenerations(entry)).toString()
}
