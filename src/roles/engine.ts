import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChainConfig } from '../config/schema.ts'
import { type FoldedChain, storedName } from '../domain/generation.ts'
import { pow10, VALUE_DIGITS, type Value } from '../domain/money.ts'
import { PoisonedMessage } from '../domain/quarantine.ts'
import { Engine } from '../engine/engine.ts'
import type { Logger } from '../lib/logger.ts'
import { Progress } from '../lib/progress.ts'
import type { ChainLog, LogMessage } from '../log/chain-log.ts'
import { connectLogs, type Logs } from '../log/connect.ts'
import { quarantineDetails } from '../log/quarantine.ts'
import { TailLost } from '../log/tail-lost.ts'
import { type BlockArchive, openBlockArchive } from '../store/clickhouse/block-archive.ts'
import { convertOlderFiles } from '../store/lmdb/open-file.ts'
import { openOutbox } from '../store/lmdb/outbox.ts'
import type { StateFolder } from '../store/lmdb/snapshots.ts'
import type { StateStore } from '../store/lmdb/state-store.ts'
import { decodeChangeSet, decodeChangeSetHead } from '../wire/change-codec.ts'
import {
  decodeLiquidityQuestion,
  encodeLiquidityAnswer,
  LIQUIDITY_TOPIC,
} from '../wire/liquidity-question.ts'
import { ChainFold, isAhead } from './engine/chain-fold.ts'
import { follow } from './engine/follow.ts'
import { mustKnowStates, removeFormerStates } from './engine/former-states.ts'
import { lead } from './engine/lead.ts'
import { createEngineMetrics, type EngineMetrics } from './engine/metrics.ts'
import { explainedToken, shownExplanation } from './engine/shown-explanation.ts'
import { initialSettings } from './generation-settings.ts'
import { lockFolder } from './lock-folder.ts'
import { type GenerationRun, supervisePerGeneration } from './per-generation.ts'
import { readGeneration } from './read-generation.ts'
import type { StartRole } from './role.ts'
import { keepSnapshots, openState, stateFolder } from './state-snapshots.ts'
import { watchLag } from './watch-lag.ts'

/** Version of the state layout. */
export const STATE_FORMAT = 'engine-9'
/** Released versions whose records this one reads too. */
export const EARLIER_STATE_FORMATS: readonly string[] = []
/** Available blocks are folded without a pause, so the loop yields this often to process acknowledgements. */
const MAX_TURN_MS = 5
/** A progress bar on the terminal would overwrite the reader's. */
const LOG_ONLY = { write: () => undefined }

export const startEngine: StartRole = async (config, common) => {
  const metrics = createEngineMetrics(common)
  const engines = new Map<string, Engine>()
  const archive = openBlockArchive(config.clickhouse)
  common.shutdown.onClose('archive', () => archive.close())
  const logs = await connectLogs(config.nats, common)
  common.shutdown.onClose('log', () => logs.close())
  const generations = await logs.generations()
  const quarantine = await logs.quarantine()
  const removeStates = (): void => removeFormerStates(config, generations, common.logger)
  removeStates()
  const supervisor = await supervisePerGeneration({
    ...{ role: 'engine', config, logs, common },
    onGone: removeStates,
    run: (run) => {
      mustKnowStates(config, run, generations)
      const folder = stateFolder(config, 'engine', run.stored, STATE_FORMAT, EARLIER_STATE_FORMATS)
      const onOpen = (engine: Engine): void => {
        engines.set(run.stored, engine)
        run.common.shutdown.onClose('explanations', () => void engines.delete(run.stored))
      }
      keepSnapshots(folder, config.snapshots.every_seconds, run.common)
      const chainConfig = config.chains[run.chain] as ChainConfig
      const { takeover_ms: takeoverMs } = config.engine
      return runChain(run, { config: chainConfig, logs, folder, archive, takeoverMs, metrics, onOpen })
    },
  })
  const servedEngine = (chain: string): Engine | undefined =>
    engines.get(storedName(chain, generations.of(chain).serving))
  for (const chain of Object.keys(config.chains)) {
    const answering = logs.respond(`${LIQUIDITY_TOPIC}.${chain}`, async (question) => {
      const engine = servedEngine(chain)
      return encodeLiquidityAnswer(
        decodeLiquidityQuestion(question).map((address) => wholeDollars(engine?.liquidityOf(address))),
      )
    })
    common.shutdown.onClose('answers about liquidity', () => answering.stop())
  }
  return {
    readiness: () => supervisor.readiness(),
    details: () => [...supervisor.details(), ...quarantineDetails(quarantine)],
    done: supervisor.done,
    answer: (path) => {
      const asked = explainedToken(path, config.chains)
      if (asked === undefined) return undefined
      const explanation = servedEngine(asked.chain)?.explain(asked.token)
      return explanation && shownExplanation(explanation)
    },
  }
}

function wholeDollars(value: Value | undefined): bigint | undefined {
  return value === undefined ? undefined : value / pow10(VALUE_DIGITS)
}

type RunParts = {
  readonly config: ChainConfig
  readonly logs: Logs
  readonly folder: StateFolder
  readonly archive: BlockArchive
  readonly takeoverMs: number
  readonly metrics: EngineMetrics
  readonly onOpen: (engine: Engine) => void
}

async function runChain(run: GenerationRun, parts: RunParts): Promise<void> {
  const { config, logs, folder, archive, takeoverMs, metrics, onOpen } = parts
  const { dir } = folder
  const { chain, generation, stored, label, common } = run
  const { logger, shutdown } = common
  const lock = lockFolder(dir)
  shutdown.onClose(`lock on the engine state of ${stored}`, () => lock.release())
  await convertOlderFiles(dir, logger, shutdown.signal)
  const blocks = await logs.open('BLOCKS', chain)
  const store = await openState(folder, blocks, common)
  shutdown.onClose(`engine state of ${stored}`, () => store.close())
  const outbox = openOutbox(join(dir, 'outbox'))
  shutdown.onClose(`engine outbox of ${stored}`, () => outbox.close())
  const changes = await logs.openChanges(chain, generation, outbox)
  watchLag(
    run,
    async () => {
      metrics.logBytes.set({ chain: label(), log: 'BLOCKS' }, await blocks.bytesAfter(0))
      metrics.logBytes.set({ chain: label(), log: 'CHANGES' }, await changes.bytesAfter(0))
      return blocks.lastSequence()
    },
    () => store.position?.sequence ?? 0,
  )
  const initial = await initialSettings(run, config, blocks, archive)
  for (;;) {
    const engine = new Engine(initial, store, generation)
    onOpen(engine)
    try {
      return await foldChain({ run, engine, store, blocks, archive, changes, takeoverMs, metrics })
    } catch (error) {
      if (!(error instanceof TailLost)) throw error
      // The state is useless without the change sets that led to it; folding BLOCKS again yields identical ones.
      logger.error({ err: error, code: error.code }, 'CHANGES tail lost; folding BLOCKS again')
      store.clear()
    }
  }
}

type FoldParts = {
  readonly run: GenerationRun
  readonly engine: Engine
  readonly store: StateStore
  readonly blocks: ChainLog
  readonly archive: BlockArchive
  readonly changes: ChainLog
  readonly takeoverMs: number
  readonly metrics: EngineMetrics
}

/**
 * Publish, then commit: work lost in between is folded again, yields identical sets, and these are recognized as
 * published. So each change set is in CHANGES exactly once, whichever engine published it.
 */
async function foldChain({ run, ...parts }: FoldParts): Promise<void> {
  const { chain, generation, stored, label, common, onCaughtUp } = run
  const { engine, store, blocks, archive, changes, takeoverMs, metrics } = parts
  const { logger, shutdown } = common
  if (store.position !== undefined) blocks.expectEpoch(store.position)
  const newest = await restoredLastSet(changes, store)
  const end = await blocks.lastSequence()
  const progress = new Progress(`${stored}: messages`, logger, LOG_ONLY)
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
  const started: ChainEngine = {
    ...{ chain, generation, label, blocks, archive, changes, fold, takeoverMs, logger, signal, metrics },
  }
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

type ChainEngine = FoldedChain & {
  readonly label: () => string
  readonly blocks: ChainLog
  readonly archive: BlockArchive
  readonly changes: ChainLog
  readonly fold: ChainFold
  readonly takeoverMs: number
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly metrics: EngineMetrics
}

async function foldBlocks(
  { chain, generation, label, blocks: log, archive, fold, logger, signal, metrics }: ChainEngine,
  after: Parameters<ChainLog['read']>[0]['after'],
): Promise<void> {
  let turnSinceMs = performance.now()
  let tip = 0
  for await (const message of readGeneration(
    { chain, generation, log, archive, logger },
    { after, signal },
  )) {
    while (fold.isFull && !signal.aborted) await fold.changed()
    if (signal.aborted) return
    const { cause, seq, head } = decodeChangeSetHead(foldMessage(chain, fold, message))
    if (cause === 'undo') metrics.reorgDepth.set({ chain: label() }, tip - head.number)
    tip = head.number
    metrics.applied.inc({ chain: label(), cause })
    metrics.seq.set({ chain: label() }, seq)
    metrics.tip.set({ chain: label() }, head.number)
    if (performance.now() - turnSinceMs < MAX_TURN_MS) continue
    await nextTurn()
    turnSinceMs = performance.now()
  }
}

function foldMessage(chain: string, fold: ChainFold, message: LogMessage): Uint8Array {
  const { body, position, announcedAt, isQuarantined } = message
  if (isQuarantined) return fold.skip(body, position)
  try {
    return fold.fold(body, position, announcedAt)
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
  const { label, fold, logger, signal, metrics } = engine
  for (let isReplaced = false; !signal.aborted; isReplaced = true) {
    metrics.leads.set({ chain: label() }, 0)
    logger.info({ reason: isReplaced ? 'replaced' : 'started' }, 'Engine is standby')
    const taken = await follow(engine, isReplaced)
    if (taken === undefined) return
    metrics.leads.set({ chain: label() }, 1)
    if (taken.reason === 'stalled') metrics.takeovers.inc({ chain: label() })
    const waitedMs = Math.round(fold.waitedMs)
    logger.info(
      { reason: taken.reason, blocks_seq: fold.ahead[0]?.seq, waited_ms: waitedMs },
      'Engine is leader',
    )
    await lead(fold, taken.publisher, signal)
  }
}
