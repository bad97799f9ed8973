import assert from 'node:assert/strict'
import type { ChangeSet } from '../../../src/domain/change.ts'
import { ChaintapeError, type ErrorCode } from '../../../src/domain/errors.ts'
import type { Deferral } from '../../../src/engine/deferred-documents.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { Explanation } from '../../../src/engine/price/explain.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { decodeChangeSet } from '../../../src/wire/change-codec.ts'
import { encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import type { Interruption, Occurrence } from '../builders/market-script.ts'
import { memoryStore } from './engine-run.ts'

export type Message = Extract<Occurrence, { type: 'message' }>

type Logged = { readonly message: Message; readonly bytes: Uint8Array }

/** An engine that commits, restarts and crashes at any moment. What it applies again must give the same bytes. */
export class InterruptedFold {
  /** All that it published, by sequence from 1 on. */
  readonly sets: ChangeSet[] = []
  /** The errors of rejected messages. */
  readonly codes: ErrorCode[] = []
  readonly #settings: EngineSettings
  readonly #deferral: Deferral | undefined
  readonly #store = memoryStore()
  readonly #log: Logged[] = []
  #engine: Engine
  #committed = 0

  constructor(settings: EngineSettings, deferral?: Deferral) {
    this.#settings = settings
    this.#deferral = deferral
    this.#engine = this.#open()
  }

  /** The messages of CHANGES behind `sets`. */
  get messages(): readonly Uint8Array[] {
    return this.#log.map(({ bytes }) => bytes)
  }

  explain(token: string): Explanation | undefined {
    return this.#engine.explain(token)
  }

  meet(occurrence: Occurrence): void {
    if (occurrence.type === 'message') this.take(occurrence)
    else this.interrupt(occurrence.how)
  }

  take(message: Message): void {
    const bytes = this.#applyIfValid(message)
    if (bytes !== undefined && message.fate !== 'reject') {
      this.#log.push({ message, bytes })
      this.sets.push(decodeChangeSet(bytes))
      return
    }
    this.interrupt('abandon')
    // A reader's own message that the engine refuses is quarantined by the operator.
    if (message.fate === 'apply') this.take({ ...message, fate: 'skip' })
  }

  interrupt(how: Interruption): void {
    if (how === 'commit' || how === 'restart') {
      this.#store.write(this.#engine.pending(), this.#log.length)
      this.#engine.committed()
      this.#committed = this.#log.length
    }
    if (how === 'abandon') this.#engine.abandon()
    if (how === 'restart' || how === 'crash') this.#engine = this.#open()
    for (const [at, { message, bytes }] of this.#log.entries()) {
      if (at < this.#committed) continue
      const again = this.#apply(message, at + 1)
      assert.ok(Buffer.compare(again, bytes) === 0, `message ${at + 1} replayed gives the same set`)
    }
  }

  #applyIfValid(message: Message): Uint8Array | undefined {
    try {
      return this.#apply(message, this.#log.length + 1)
    } catch (error) {
      if (!(error instanceof ChaintapeError)) throw error
      this.codes.push(error.code)
      return undefined
    }
  }

  #apply({ envelope, fate }: Message, seq: number): Uint8Array {
    const whole = encodeEnvelope(envelope)
    const bytes = fate === 'unreadable' ? whole.subarray(0, -1) : whole
    const isSkipped = fate === 'skip' || fate === 'unreadable'
    return isSkipped ? this.#engine.skip(bytes, seq) : this.#engine.apply(bytes, seq)
  }

  #open(): Engine {
    return new Engine(this.#settings, this.#store, {}, this.#deferral)
  }
}
