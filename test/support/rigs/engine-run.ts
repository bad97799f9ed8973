import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ChangeSet } from '../../../src/domain/change.ts'
import type { Envelope } from '../../../src/domain/envelope.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import type { CommittedState, Writes } from '../../../src/state/journaled-state.ts'
import { openStateStore } from '../../../src/store/lmdb/state-store.ts'
import { decodeChangeSet, encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import { entriesAfter, MemoryState } from './memory-state.ts'

export type EngineStore = CommittedState & {
  write(writes: Writes, seq: number): void
  entries(): Iterable<readonly [string, Uint8Array]>
  close(): Promise<void>
}

export function memoryStore(): EngineStore {
  const state = new MemoryState()
  return {
    get: (key) => state.get(key),
    hashSecret: state.hashSecret,
    write: (writes) => state.write(writes),
    entries: () => state.entries(),
    close: async () => undefined,
  }
}

export function diskStore(dir: string, format = 'engine-test'): EngineStore {
  const store = openStateStore({ dir, format })
  return {
    get: (key) => store.get(key),
    hashSecret: store.hashSecret,
    write: (writes, seq) => store.commit(writes, { epoch: 'test', sequence: seq, link: 0 }),
    entries: () => store.entries(),
    close: () => store.close(),
  }
}

/** For tests in terms of envelopes and changes: the engine itself takes and returns messages. */
export function applyEnvelope(engine: Pick<Engine, 'apply'>, envelope: Envelope, seq: number): ChangeSet {
  const bytes = engine.apply(encodeEnvelope(envelope), seq)
  const set = decodeChangeSet(bytes)
  // What the parts of the engine append one by one is what the codec would write of the whole.
  assert.ok(Buffer.compare(bytes, encodeChangeSet(set)) === 0, `set ${seq} is not as its codec writes it`)
  return set
}

/** An engine over a store, and all it said. Its sequence counts the envelopes it applied. */
export class EngineRun {
  readonly engine: Engine
  readonly store: EngineStore
  readonly sets: ChangeSet[] = []
  #committedSets = 0

  constructor(settings: EngineSettings, store: EngineStore = memoryStore()) {
    this.engine = new Engine(settings, store)
    this.store = store
  }

  apply(envelope: Envelope): ChangeSet {
    const set = applyEnvelope(this.engine, envelope, this.sets.length + 1)
    this.sets.push(set)
    return set
  }

  commit(): void {
    this.store.write(this.engine.pending(), this.sets.length)
    this.engine.committed()
    this.#committedSets = this.sets.length
  }

  /** As after a crash: all since the last commit is forgotten, and will be applied again. */
  abandon(): number {
    this.engine.abandon()
    this.sets.length = this.#committedSets
    return this.#committedSets
  }

  bytes(): string[] {
    return this.sets.map((set) => Buffer.from(encodeChangeSet(set)).toString('hex'))
  }

  /** Everything that the store would hold after a commit. */
  stateHash(): string {
    const hash = createHash('sha256')
    for (const [key, value] of entriesAfter(this.store.entries(), this.engine.pending()))
      hash.update(`${key.length}:${key}${value.length}:`).update(value)
    return hash.digest('hex')
  }
}
