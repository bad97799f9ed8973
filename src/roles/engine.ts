import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PoisonedMessage } from '../domain/quarantine.ts'
import { Engine } from '../engine/engine.ts'
import { Progress } from '../lib/progress.ts'
import type { ChainLog, LogMessage } from '../log/chain-log.ts'
import { TailLost } from '../log/tail-lost.ts'
import { openOutbox } from '../store/lmdb/outbox.ts'
import { openStateStore, type StateStore } from '../store/lmdb/state-store.ts'
import { decodeChangeSet, decodeChangeSetHead } from '../wire/change-codec.ts'
import { ChainFold, isAhead } from './engine/chain-fold.ts'
import { follow } from './engine/follow.ts'
import { lead } from './engine/lead.ts'
import { createEngineMetrics, type EngineMetrics } from './engine/metrics.ts'
import { shownExplanation } from './engine/shown-explanation.ts'
import { engineSettings } from './engine-settings.ts'
import { lockFolder } from './lock-folder.ts'
import { type ChainRun, startPerChain } from './per-chain.ts'
import type { StartRole } from './role.ts'
import { watchLag } from './watch-lag.ts'

/** Version of the state layout. State of another version has to be deleted, and is rebuilt from the log. */
export const STATE_FORMAT = 'engine-9'
/** Available blocks are folded without a pause, so the loop yields this often to process acknowledgements. */
const MAX_TURN_MS = 5
/** A progress bar on the terminal would overwrite the reader's. */
const LOG_ONLY = { write: () => undefined }

export const startEngine: StartRole = async (config, common) => {
  const metrics = createEngineMetrics(common)
  const engines = new Map<string, Engine>()
  const running = await startPerChain('engine', config, common, (run) => {
    const dir = join(config.data_dir, 'engine', run.chain)
    const onOpen = (engine: Engine): void => {
      engines.set(run.chain, engine)
      run.common.shutdown.onClose('explanations', () => void engines.delete(run.chain))
    }
    return runChain(run, dir, config.engine.takeover_ms, metrics, onOpen)
  })
  return { ...running, answer: (path) => answerExplain(path, engines) }
}

/** `/explain/<chain>/<token>`: how the token's price was derived, as of the last folded block. */
function answerExplain(path: string, engines: ReadonlyMap<string, Engine>): object | undefined {
  const [, chain = '', token = ''] = /^\/explain\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  const explanation = engines.get(chain)?.explain(token)
  return explanation === undefined ? undefined : shownExplanation(explanation)
}

async function runChain(
  run: ChainRun,
  dir: string,
  takeoverMs: number,
  metrics: EngineMetrics,
  onOpen: (engine: Engine) => void,
): Promise<void> {
  const { chain, config, logs, common } = run
  const { logger, shutdown } = common
  const lock = lockFolder(dir)
  shutdown.onClose(`lock on the engine state of ${chain}`, () => lock.release())
  const store = openStateStore({ dir, format: STATE_FORMAT })
  shutdown.onClose(`engine state of ${chain}`, () => store.close())
  const outbox = openOutbox(join(dir, 'outbox'))
  shutdown.onClose(`engine outbox of ${chain}`, () => outbox.close())
  const blocks = await logs.open('BLOCKS', chain)
  const changes = await logs.open('CHANGES', chain, outbox)
  watchLag(
    run,
    async () => {
      metrics.logBytes.set({ chain, log: 'BLOCKS' }, await blocks.bytesAfter(0))
      metrics.logBytes.set({ chain, log: 'CHANGES' }, await changes.bytesAfter(0))
      return blocks.lastSequence()
    },
    () => store.position?.sequence ?? 0,
  )
  for (;;) {
    const engine = new Engine(engineSettings(chain, config), store)
    onOpen(engine)
    try {
      return await foldChain({ run, engine, store, blocks, changes, takeoverMs, metrics })
    } catch (error) {
      if (!(error instanceof TailLost)) throw error
      // The state is useless without the change sets that led to it; folding BLOCKS again yields identical ones.
      logger.error({ err: error, code: error.code }, 'CHANGES tail lost; folding BLOCKS again')
      store.clear()
    }
  }
}

type FoldParts = {
  readonly run: ChainRun
  readonly engine: Engine
  readonly store: StateStore
  readonly blocks: ChainLog
  readonly changes: ChainLog
  readonly takeoverMs: number
  readonly metrics: EngineMetrics
}

/**
 * Publish, then commit: work lost in between is folded again, yields identical sets, and these are recognized as
 * published. So each change set is in CHANGES exactly once, whichever engine published it.
 */
async function foldChain({ run: { chain, common, onCaughtUp }, ...parts }: FoldParts): Promise<void> {
  const { engine, store, blocks, changes, takeoverMs, metrics } = parts
  const { logger, shutdown } = common
  if (store.position !== undefined) blocks.expectEpoch(store.position)
  const newest = await restoredLastSet(changes, store)
  const end = await blocks.lastSequence()
  const progress = new Progress(`${chain}: messages`, logger, LOG_ONLY)
  const onConfirmed = (seq: number): void => {
    if (seq <= end) progress.update(seq, end)
    if (seq >= end) onCaughtUp()
  }
  onConfirmed(store.position?.sequence ?? 0)
  const fold = new ChainFold({ engine, store, newest, onConfirmed })
  logger.info(
    { tip: engine.tip?.number, blocks_seq: store.position?.sequence, changes_seq: newest?.position.sequence },
    'Engine starting',
  )

  const failed = new AbortController()
  const signal = AbortSignal.any([shutdown.signal, failed.signal])
  signal.addEventListener('abort', () => fold.wake(), { once: true })
  const failTogether = async (work: Promise<void>): Promise<void> => {
    try {
      await work
    } catch (error) {
      failed.abort(error)
    }
  }
  const started: ChainEngine = { chain, blocks, changes, fold, takeoverMs, logger, signal, metrics }
  const work = [foldBlocks(started, store.position), takeTurns(started)].map(failTogether)
  try {
    // Both have to stop before the state may be closed.
    await Promise.all(work)
    failed.signal.throwIfAborted()
    fold.close()
  } finally {
    fold.abandon()
    await Promise.allSettled(work)
  }
}

/** The last set of CHANGES, after restoring sets that the state covers and CHANGES has lost. */
async function restoredLastSet(changes: ChainLog, store: StateStore): Promise<LogMessage | undefined> {
  const found = await lastSet(changes)
  if (!isAhead(store, found)) return found
  const { last } = await changes.openPublisher()
  const restored = await lastSet(changes)
  if (!isAhead(store, restored)) return restored
  if (await changes.holds(last)) throw new TailLost('CHANGES', store.position?.sequence ?? 0)
  return await restoredLastSet(changes, store)
}

type ChainEngine = {
  readonly chain: string
  readonly blocks: ChainLog
  readonly changes: ChainLog
  readonly fold: ChainFold
  readonly takeoverMs: number
  readonly logger: ChainRun['common']['logger']
  readonly signal: AbortSignal
  readonly metrics: EngineMetrics
}

async function foldBlocks(
  { chain, blocks, fold, signal, metrics }: ChainEngine,
  after: Parameters<ChainLog['read']>[0]['after'],
): Promise<void> {
  let turnSinceMs = performance.now()
  let tip = 0
  for await (const message of blocks.read({ after, signal, withQuarantined: true })) {
    while (fold.isFull && !signal.aborted) await fold.changed()
    if (signal.aborted) return
    const { cause, seq, head } = decodeChangeSetHead(foldMessage(chain, fold, message))
    if (cause === 'undo') metrics.reorgDepth.set({ chain }, tip - head.number)
    tip = head.number
    metrics.applied.inc({ chain, cause })
    metrics.seq.set({ chain }, seq)
    metrics.tip.set({ chain }, head.number)
    if (performance.now() - turnSinceMs < MAX_TURN_MS) continue
    await nextTurn()
    turnSinceMs = performance.now()
  }
}

function foldMessage(chain: string, fold: ChainFold, message: LogMessage): Uint8Array {
  const { body, position, isQuarantined } = message
  if (isQuarantined) return fold.skip(body, position)
  try {
    return fold.fold(body, position)
  } catch (error) {
    const place = { chain, log: 'BLOCKS', sequence: position.sequence } as const
    throw fold.hasFailed ? new PoisonedMessage(place, error) : error
  }
}

/** The last set that an engine published. A quarantined one counts, unless it cannot be decoded. */
async function lastSet(changes: ChainLog): Promise<LogMessage | undefined> {
  const last = await changes.lastMessage({ withQuarantined: true })
  if (!last?.isQuarantined) return last
  try {
    decodeChangeSet(last.body)
    return last
  } catch {
    return changes.lastMessage()
  }
}

/** Alternates between standby and leader until the signal aborts. */
async function takeTurns(engine: ChainEngine): Promise<void> {
  const { chain, fold, logger, signal, metrics } = engine
  for (let isReplaced = false; !signal.aborted; isReplaced = true) {
    metrics.leads.set({ chain }, 0)
    logger.info({ reason: isReplaced ? 'replaced' : 'started' }, 'Engine is standby')
    const taken = await follow(engine, isReplaced)
    if (taken === undefined) return
    metrics.leads.set({ chain }, 1)
    if (taken.reason === 'stalled') metrics.takeovers.inc({ chain })
    const waitedMs = Math.round(fold.waitedMs)
    logger.info(
      { reason: taken.reason, blocks_seq: fold.ahead[0]?.seq, waited_ms: waitedMs },
      'Engine is leader',
    )
    await lead(fold, taken.publisher, signal)
  }
}
