import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../../domain/errors.ts'
import type { FoldedChain } from '../../domain/generation.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ChainLog, LogMessage } from '../../log/chain-log.ts'
import type { BlockArchive } from '../../store/clickhouse/block-archive.ts'
import type { StateStore } from '../../store/lmdb/state-store.ts'
import { type ChangeSetIndex, indexChangeSet } from '../../wire/change-index.ts'
import { isCommitDue } from '../engine/commit-policy.ts'
import { withSupplement } from '../read-generation.ts'

export type ArchiveFoldParts = FoldedChain & {
  readonly blocks: Pick<ChainLog, 'epoch' | 'isQuarantined'>
  readonly archive: Pick<BlockArchive, 'read' | 'lastSequence'>
  readonly engine: Engine
  readonly store: Pick<StateStore, 'position' | 'commit'>
  /** Sequence of the last message to fold. */
  readonly until: number
  /** Share of the time spent folding, at most; the rest is left to others. */
  readonly load: number
  readonly signal: AbortSignal
}

/** A message of the archive that is damaged, missing, or refused by the engine. */
export class ArchiveFault extends Error {
  readonly sequence: number

  constructor(sequence: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.sequence = sequence
  }
}

const TURN_MS = 10

/** Folds the archive from where a state ends, and yields the change sets. Throws `ArchiveFault`. */
export async function* foldArchive(parts: ArchiveFoldParts): AsyncGenerator<ChangeSetIndex, void, undefined> {
  const { chain, generation, blocks, archive, engine, store, until, load, signal } = parts
  let last: LogPosition | undefined = store.position
  let committedAtMs = performance.now()
  let turnAtMs = performance.now()
  const messages = withSupplement(
    { chain, generation, epoch: blocks.epoch, archive },
    last,
    readArchive(parts, last?.sequence ?? 0),
  )
  while (!signal.aborted && (last?.sequence ?? 0) < until) {
    const next = await messages.next().catch((error: unknown) => {
      // A store that is away says nothing about its contents.
      throw isDamage(error) ? new ArchiveFault((last?.sequence ?? 0) + 1, error) : error
    })
    if (next.done) return
    const { position } = next.value
    if (position.sequence > until) return
    yield foldMessage(engine, next.value)
    last = position
    if (isCommitDue(engine.uncommittedBytes, performance.now() - committedAtMs)) {
      store.commit(engine.pending(), position)
      engine.committed()
      committedAtMs = performance.now()
    }
    const workedMs = performance.now() - turnAtMs
    if (workedMs < TURN_MS) continue
    if (load < 1) await sleep((workedMs * (1 - load)) / load, undefined, { signal }).catch(() => undefined)
    else await nextTurn()
    turnAtMs = performance.now()
  }
}

async function* readArchive(
  { chain, blocks, archive }: ArchiveFoldParts,
  after: number,
): AsyncGenerator<LogMessage, void, undefined> {
  for await (const message of archive.read(chain, blocks.epoch, after))
    yield { ...message, isQuarantined: blocks.isQuarantined(message.position.sequence) }
}

function foldMessage(engine: Engine, { body, position, isQuarantined }: LogMessage): ChangeSetIndex {
  const { sequence } = position
  try {
    return indexChangeSet(isQuarantined ? engine.skip(body, sequence) : engine.apply(body, sequence))
  } catch (error) {
    throw new ArchiveFault(sequence, error)
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof ChaintapeError && error.code === 'log_damaged'
}
