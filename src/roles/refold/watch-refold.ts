import { setTimeout as sleep } from 'node:timers/promises'
import { decodeFault } from '../../domain/chain-fault.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { type Generation, storedName } from '../../domain/generation.ts'
import type { Progress } from '../../lib/progress.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { Generations } from '../../log/generations.ts'
import type { LatestValues } from '../../log/latest-values.ts'
import type { HistoryStore } from '../../store/clickhouse/history-store.ts'
import type { HotStore } from '../../store/redis/hot-store.ts'

export type WatchParts = {
  readonly chain: string
  readonly building: Generation
  readonly generations: Pick<Generations, 'of'>
  readonly blocks: Pick<ChainLog, 'lastSequence'>
  readonly history: Pick<HistoryStore, 'marker'>
  readonly hot: Pick<HotStore, 'head'>
  readonly faults: Pick<LatestValues, 'read'>
  readonly progress: Pick<Progress, 'update' | 'end'>
  readonly note: (line: string) => void
  readonly signal: AbortSignal
}

const LOOK_EVERY_MS = 500
const FAULTS_EVERY_MS = 5_000
/** A store that needs longer for the newest block is still catching up. */
const MAX_LAG_MS = 5_000

/** Resolves once both stores hold the generation up to the end of BLOCKS a moment ago. False if the signal aborts first. */
export async function untilBuilt(parts: WatchParts): Promise<boolean> {
  const { blocks, progress, signal } = parts
  let target: { readonly end: number; readonly atMs: number } | undefined
  let faultsAtMs = performance.now()
  while (!signal.aborted) {
    mustBeBuilding(parts)
    target ??= { end: await blocks.lastSequence(), atMs: performance.now() }
    const written = await writtenUpTo(parts)
    const isReached = written >= target.end
    if (!isReached) progress.update(written, target.end)
    if (isReached && performance.now() - target.atMs < MAX_LAG_MS) {
      progress.end()
      return true
    }
    // Otherwise the end is looked at again: it has moved meanwhile.
    if (isReached || performance.now() - target.atMs >= MAX_LAG_MS) target = undefined
    if (performance.now() - faultsAtMs > FAULTS_EVERY_MS) {
      await noteFaults(parts)
      faultsAtMs = performance.now()
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
  progress.end()
  return false
}

function mustBeBuilding({ chain, building, generations }: WatchParts): void {
  if (generations.of(chain).building?.number === building.number) return
  throw new ChaintapeError('refold_refused', `the refold of ${chain} was canceled, or completed elsewhere`)
}

/** The sequence in BLOCKS up to which both stores have the generation. */
async function writtenUpTo({ chain, building, history, hot }: WatchParts): Promise<number> {
  const stored = storedName(chain, building)
  const [marker, head] = await Promise.all([history.marker(stored), hot.head(stored)])
  return Math.min(marker?.seq ?? 0, head?.seq ?? 0)
}

async function noteFaults({ chain, building, faults, note }: WatchParts): Promise<void> {
  const stored = storedName(chain, building)
  for (const { name, body } of await faults.read(`${stored}.>`)) {
    const fault = decodeFault(body)
    if (fault !== undefined) note(`${stored}: a role is stopped by ${fault.code}: ${name.split('.')[1]}`)
  }
}
