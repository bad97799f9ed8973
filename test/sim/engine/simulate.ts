import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChangeSet } from '../../../src/domain/change.ts'
import type { Envelope } from '../../../src/domain/envelope.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { TailLost } from '../../../src/log/tail-lost.ts'
import { openStateStore, type StateStore } from '../../../src/store/lmdb/state-store.ts'
import { decodeChangeSet, encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { encodeSettings } from '../../../src/wire/settings-codec.ts'
import { Random } from '../../fuzz/random.ts'
import { foldChangeSets } from '../../support/reference/change-tables.ts'
import { applyEnvelope } from '../../support/rigs/engine-run.ts'
import { BlockLog } from './block-log.ts'
import { ChainFoldProcess } from './chain-fold-process.ts'
import { asMessages, EngineProcess, Killed, type Logs } from './engine-process.ts'
import { memoryStore } from './memory-store.ts'
import { CHAIN, SimMarket } from './sim-market.ts'
import { Trouble } from './trouble.ts'

export type EngineOutcome = {
  readonly failure: unknown
  readonly lines: readonly string[]
  readonly messages: number
  readonly undone: number
  readonly trades: number
  readonly starts: number
}

type Start = (store: StateStore, note: (what: string) => void) => { run(): void }

/** So many seeds use the real store once: it is the slow one. */
const SEEDS_PER_DISK = 50

/** A random market on a chain that forks, and an engine that dies on the way. The same seed, the same story. */
export async function simulateEngine(seed: number): Promise<EngineOutcome> {
  const market = new SimMarket(new Random(seed))
  const log = new BlockLog(market, new Random(-1 - seed), new Random(seed ^ 0x5e77))
  const { envelopes } = log
  const lines = envelopes.map((envelope, at) => `${String(at + 1).padStart(4)}  ${textOf(envelope)}`)
  let failure: unknown
  let starts = 0
  let trades = 0
  try {
    const calm = new CalmRun(market.settings)
    for (const envelope of envelopes) calm.apply(envelope)
    trades = calm.sets.flatMap(({ changes }) => changes).filter(({ type }) => type === 'trade').length
    checkAgainstCanonical(calm, log, market.settings)
    const blocks = asMessages(envelopes)
    const others = calm.sets.map(encodeChangeSet)
    for (const [at, Process] of [EngineProcess, ChainFoldProcess].entries()) {
      const logs: Logs = { blocks, changes: [], others }
      const trouble = new Trouble(new Random(2 * seed + at))
      const start: Start = (store, note) => new Process(market.settings, store, logs, trouble, note)
      starts += await withStore(seed, async (open) => {
        const rough = await runThroughTrouble({
          open,
          start,
          logs,
          trouble,
          note: (what) => lines.push(what),
        })
        checkPublished(logs.changes, others)
        assert.equal(
          rough.state,
          calm.stateHash(),
          'the state is that of a run without trouble, byte for byte',
        )
        return rough.starts
      })
    }
  } catch (error) {
    failure = error
  }
  const undone = envelopes.filter(({ kind }) => kind === 'undo').length
  return { failure, lines, messages: envelopes.length, undone, trades, starts }
}

type Rough = {
  readonly open: () => StateStore
  readonly start: Start
  readonly logs: Logs
  readonly trouble: Trouble
  readonly note: (what: string) => void
}

/** Starts an engine again and again until one comes to the end of the log; meanwhile CHANGES may lose its tail. */
async function runThroughTrouble({ open, start, logs, trouble, note }: Rough): Promise<{
  starts: number
  state: string
}> {
  const { changes } = logs
  const outbox: Uint8Array[] = []
  for (let starts = 1; ; starts++) {
    const store = open()
    try {
      start(store, note).run()
      return { starts, state: hashOf(store.entries()) }
    } catch (error) {
      if (error instanceof TailLost) {
        // As the role does it.
        if (trouble.hasOutbox) changes.push(...outbox.slice(changes.length))
        else store.clear()
        note(trouble.hasOutbox ? `restores CHANGES up to ${changes.length}` : 'folds BLOCKS again')
        continue
      }
      if (!(error instanceof Killed)) throw error
      note(`killed ${error.message}`)
      outbox.splice(0, outbox.length, ...changes)
      changes.splice(Math.max(0, changes.length - trouble.lostTail()))
    } finally {
      await store.close()
    }
  }
}

/** One engine, a commit after each message, and nothing goes wrong. */
class CalmRun {
  readonly sets: ChangeSet[] = []
  readonly #engine: Engine
  readonly #store = memoryStore()
  /** The tables as they were after each block, by the settings of that block and all before it. */
  readonly #tablesAt = new Map<string, string>()
  /** A block, its ancestors and their settings, by hash. */
  readonly #lineages = new Map<string, string>()
  #settings = ''

  constructor(settings: EngineSettings) {
    this.#engine = new Engine(settings, this.#store)
  }

  apply(envelope: Envelope): void {
    const seq = this.sets.length + 1
    this.sets.push(applyEnvelope(this.#engine, envelope, seq))
    this.#store.commit(this.#engine.pending(), { epoch: CHAIN, sequence: seq, link: 0 })
    this.#engine.committed()
    if (envelope.kind === 'settings')
      this.#settings = createHash('sha1').update(encodeSettings(envelope.settings)).digest('hex')
    if (envelope.kind === 'block') {
      const { hash, parentHash } = envelope
      const parent = this.#lineages.get(parentHash) ?? parentHash
      this.#lineages.set(hash, createHash('sha1').update(`${parent}${this.#settings}${hash}`).digest('hex'))
      this.#checkTables(hash)
    }
    if (envelope.kind === 'undo') this.#checkTables(envelope.lastValid.hash)
  }

  /** All keys and bytes, what only an undo would need included. */
  stateHash(): string {
    return hashOf(this.#store.entries())
  }

  /** Keys that an undo of blocks up to this one would need. */
  keptFor(block: number): string[] {
    const keys = [...this.#store.entries()].map(([key]) => key)
    return keys.filter((key) => Number(/^(?:journal|emitted)\/(\d+)$/.exec(key)?.[1] ?? block + 1) <= block)
  }

  /** However a block is come to, forwards or back, on whatever detour: the tables are the same after it. */
  #checkTables(block: string): void {
    const tables = hashOf(
      [...this.#store.entries()].filter(([key]) => !/^(journal|emitted|floor|settings)\//.test(key)),
    )
    const lineage = this.#lineages.get(block) ?? block
    const before = this.#tablesAt.get(lineage)
    assert.equal(tables, before ?? tables, `the tables after block ${block} are what they were`)
    this.#tablesAt.set(lineage, tables)
  }
}

/**
 * A run that saw only the blocks that are left must end in the very same state: also the journals are equal, since
 * what a block found before it does not depend on detours. Sets differ in number and version; the tables of
 * a consumer that folds them do not.
 */
function checkAgainstCanonical(
  forked: CalmRun,
  { canonical, final }: BlockLog,
  settings: EngineSettings,
): void {
  const straight = new CalmRun(settings)
  for (const envelope of canonical) straight.apply(envelope)
  if (final !== undefined) straight.apply({ kind: 'final', chain: CHAIN, upTo: final })
  assert.deepEqual(
    foldChangeSets(forked.sets),
    foldChangeSets(straight.sets),
    'tables of the canonical chain',
  )
  assert.equal(forked.stateHash(), straight.stateHash(), 'the state is that of the canonical chain alone')
  assert.deepEqual(forked.keptFor(final?.number ?? 0), [], 'of what is final nothing is kept for an undo')
}

function checkPublished(changes: readonly Uint8Array[], calm: readonly Uint8Array[]): void {
  const seqs = changes.map((bytes) => decodeChangeSet(bytes).seq)
  const expected = calm.map((_, at) => at + 1)
  assert.deepEqual(seqs, expected, 'each set is published once, in order')
  for (const [at, bytes] of calm.entries()) {
    const isSame = Buffer.compare(bytes, changes[at] as Uint8Array) === 0
    assert.ok(isSame, `set ${at + 1} is that of a run without trouble`)
  }
}

async function withStore<T>(seed: number, run: (open: () => StateStore) => Promise<T>): Promise<T> {
  if (seed % SEEDS_PER_DISK !== 0) {
    const store = memoryStore()
    return await run(() => store)
  }
  const dir = mkdtempSync(join(tmpdir(), 'chaintape-sim-'))
  try {
    return await run(() => openStateStore({ dir, format: CHAIN }))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function hashOf(entries: Iterable<readonly [string, Uint8Array]>): string {
  const hash = createHash('sha256')
  for (const [key, value] of entries) hash.update(`${key.length}:${key}${value.length}:`).update(value)
  return hash.digest('hex')
}

function textOf(envelope: Envelope): string {
  switch (envelope.kind) {
    case 'block': {
      const logs = envelope.transactions.reduce((sum, transaction) => sum + transaction.logs.length, 0)
      return `block ${envelope.number} with ${logs} logs and ${envelope.facts.length} facts`
    }
    case 'undo':
      return `undo to ${envelope.lastValid.number}`
    case 'final':
      return `final up to ${envelope.upTo.number}`
    case 'settings':
      return `settings with ${envelope.settings.dexes.length} exchanges`
  }
}
