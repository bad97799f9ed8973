import assert from 'node:assert/strict'
import type { ChangeSet } from '../../../src/domain/change.ts'
import type { Envelope } from '../../../src/domain/envelope.ts'
import { ChaintapeError, type ErrorCode } from '../../../src/domain/errors.ts'
import type { Deferral } from '../../../src/engine/deferred-documents.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import type { CommittedState, Writes } from '../../../src/state/journaled-state.ts'
import { decodeChangeSet, encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { decodeEnvelope, encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import type { Interruption, Occurrence } from '../builders/market-script.ts'
import { type EngineStore, memoryStore } from '../rigs/engine-run.ts'
import { Engine as Oracle } from './oracle/engine/engine.ts'

/** An engine as the log sees it: messages of BLOCKS in, messages of CHANGES out. */
type Fold = {
  apply(message: Uint8Array, seq: number): Uint8Array
  /** A quarantined message, which may be unreadable. */
  skip(message: Uint8Array, seq: number): Uint8Array
  explain(token: string): unknown
  pending(): Writes
  committed(): void
  abandon(): void
}

type Open = (settings: EngineSettings, committed: CommittedState) => Fold

type Compare = (actual: Uint8Array, expected: Uint8Array, name: string) => void

type RecordFold = Omit<Fold, 'apply' | 'skip'> & {
  apply(envelope: Envelope, seq: number): ChangeSet
  skip(envelope: Envelope | undefined, seq: number): ChangeSet
}

/** The only place that knows how each engine is called. */
const openEngine =
  (deferral?: Deferral): Open =>
  (settings, committed) =>
    new Engine(settings, committed, deferral)
const openOracle: Open = (settings, committed) => overRecords(new Oracle(settings, committed))

/** An engine whose interface is envelopes and change sets. */
function overRecords(engine: RecordFold): Fold {
  return {
    apply: (message, seq) => encodeChangeSet(engine.apply(decodeEnvelope(message), seq)),
    skip: (message, seq) => encodeChangeSet(engine.skip(decodeIfReadable(message), seq)),
    explain: (token) => engine.explain(token),
    pending: () => engine.pending(),
    committed: () => engine.committed(),
    abandon: () => engine.abandon(),
  }
}

function decodeIfReadable(message: Uint8Array): Envelope | undefined {
  try {
    return decodeEnvelope(message)
  } catch {
    return undefined
  }
}

type Message = Extract<Occurrence, { type: 'message' }>
type Outcome = { readonly bytes: Uint8Array } | { readonly code: ErrorCode }

export type PairedOptions = {
  /** What the engine may publish for each set of the oracle; the same by default. */
  readonly compare?: Compare
  readonly deferral?: Deferral
}

/** The engine and the oracle over stores of their own; every difference between the two is an assertion error. */
export class PairedFold {
  /** What the oracle published, what the engine did, and the errors both threw. */
  readonly sets: ChangeSet[] = []
  readonly published: ChangeSet[] = []
  readonly codes: ErrorCode[] = []
  readonly #engine: Side
  readonly #oracle: Side
  readonly #log: { readonly message: Message; readonly bytes: Uint8Array }[] = []
  readonly #compare: Compare
  #committed = 0

  constructor(settings: EngineSettings, { compare = expectSame, deferral }: PairedOptions = {}) {
    this.#compare = compare
    this.#engine = new Side(openEngine(deferral), settings)
    this.#oracle = new Side(openOracle, settings)
  }

  take(message: Message): void {
    const { expected, actual } = this.#apply(message, this.#log.length + 1)
    if ('bytes' in expected && 'bytes' in actual && message.fate !== 'reject') {
      this.#log.push({ message, bytes: actual.bytes })
      this.sets.push(decodeChangeSet(expected.bytes))
      this.published.push(decodeChangeSet(actual.bytes))
      return
    }
    if ('code' in expected) this.codes.push(expected.code)
    this.interrupt('abandon')
    // A reader's own message that the engine refuses is quarantined by the operator.
    if (message.fate === 'apply') this.take({ ...message, fate: 'skip' })
  }

  interrupt(how: Interruption): void {
    for (const side of [this.#engine, this.#oracle]) side.interrupt(how, this.#log.length)
    if (how === 'commit' || how === 'restart') this.#committed = this.#log.length
    for (const [at, { message, bytes }] of this.#log.entries()) {
      if (at < this.#committed) continue
      const { actual } = this.#apply(message, at + 1)
      assert.ok(
        'bytes' in actual && isEqual(actual.bytes, bytes),
        `message ${at + 1} replayed gives the same set`,
      )
    }
  }

  compareExplanations(tokens: readonly string[]): void {
    for (const token of tokens) {
      const expected = this.#oracle.fold.explain(token)
      assert.deepEqual(this.#engine.fold.explain(token), expected, `explanation of ${token}`)
    }
  }

  #apply(message: Message, seq: number): { expected: Outcome; actual: Outcome } {
    const whole = encodeEnvelope(message.envelope)
    const bytes = message.fate === 'unreadable' ? whole.subarray(0, -1) : whole
    const expected = this.#oracle.apply(message, bytes, seq)
    const actual = this.#engine.apply(message, bytes, seq)
    const name = `message ${seq} (${message.envelope.kind}, ${message.fate})`
    if ('bytes' in expected && 'bytes' in actual) this.#compare(actual.bytes, expected.bytes, name)
    else assert.deepEqual(actual, expected, name)
    return { expected, actual }
  }
}

function expectSame(actual: Uint8Array, expected: Uint8Array, name: string): void {
  if (!isEqual(actual, expected)) assert.deepEqual(decodeChangeSet(actual), decodeChangeSet(expected), name)
}

class Side {
  fold: Fold
  readonly #open: Open
  readonly #settings: EngineSettings
  readonly #store: EngineStore = memoryStore()

  constructor(open: Open, settings: EngineSettings) {
    this.#open = open
    this.#settings = settings
    this.fold = open(settings, this.#store)
  }

  apply({ fate }: Message, bytes: Uint8Array, seq: number): Outcome {
    try {
      const isSkipped = fate === 'skip' || fate === 'unreadable'
      return { bytes: isSkipped ? this.fold.skip(bytes, seq) : this.fold.apply(bytes, seq) }
    } catch (error) {
      if (!(error instanceof ChaintapeError)) throw error
      return { code: error.code }
    }
  }

  interrupt(how: Interruption, seq: number): void {
    if (how === 'commit' || how === 'restart') {
      this.#store.write(this.fold.pending(), seq)
      this.fold.committed()
    }
    if (how === 'abandon') this.fold.abandon()
    if (how === 'restart' || how === 'crash') this.fold = this.#open(this.#settings, this.#store)
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
