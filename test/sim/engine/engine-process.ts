import assert from 'node:assert/strict'
import type { Envelope } from '../../../src/domain/envelope.ts'
import { ChaintapeError } from '../../../src/domain/errors.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import type { LogMessage } from '../../../src/log/chain-log.ts'
import { TailLost } from '../../../src/log/tail-lost.ts'
import { isAhead } from '../../../src/roles/engine/chain-fold.ts'
import type { StateStore } from '../../../src/store/lmdb/state-store.ts'
import { decodeEnvelope, encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import { CHAIN } from './sim-market.ts'
import type { Place, Trouble } from './trouble.ts'

/** What outlives a process: both logs. Message n of a log stands at n - 1. */
export type Logs = {
  readonly blocks: readonly Uint8Array[]
  readonly changes: Uint8Array[]
  /** What an engine would publish to which nothing happens. */
  readonly others: readonly Uint8Array[]
}

/** CHANGES ends with these: its last message, as an engine finds it. */
export function lastOf(changes: readonly Uint8Array[]): LogMessage | undefined {
  const body = changes.at(-1)
  return body && { body, position: { epoch: CHAIN, sequence: changes.length, link: 0 } }
}

export class Killed extends Error {}

/** Hash of a block that never existed. */
const STRAY_HASH = `0x${'5a'.repeat(32)}`

/**
 * Follows BLOCKS as the engine's role does (`src/roles/engine.ts`): publish, then commit; and whatever CHANGES holds
 * already is compared with what the fold gives now. Dies as its trouble says.
 */
export class EngineProcess {
  readonly #engine: Engine
  readonly #store: StateStore
  readonly #logs: Logs
  readonly #trouble: Trouble
  readonly #note: (what: string) => void
  /** The next message to fold, counted from 0. */
  #next: number

  constructor(
    settings: EngineSettings,
    store: StateStore,
    logs: Logs,
    trouble: Trouble,
    note: (what: string) => void,
  ) {
    if (isAhead(store, lastOf(logs.changes))) throw new TailLost('CHANGES', store.position?.sequence ?? 0)
    this.#engine = new Engine(settings, store)
    this.#store = store
    this.#logs = logs
    this.#trouble = trouble
    this.#note = note
    this.#next = store.position?.sequence ?? 0
    note(`starts after ${this.#next}, with ${logs.changes.length} published`)
  }

  /** Up to the end of the log, all of it committed. */
  run(): void {
    const { blocks } = this.#logs
    let open = 0
    while (this.#next < blocks.length || open > 0) {
      if (this.#next === blocks.length || open === this.#trouble.batch) {
        this.#commit()
        open = 0
      } else if (this.#fold()) open += 1
      else open = 0
    }
  }

  /** False when what was folded since the last commit had to be given up. */
  #fold(): boolean {
    const mishap = this.#mishap('fold')
    if (mishap === 'strayMessage') {
      this.#refuse(this.#stray())
      return false
    }
    const seq = this.#next + 1
    const bytes = this.#engine.apply(this.#logs.blocks[this.#next] as Uint8Array, seq)
    const published = this.#logs.changes[this.#next]
    if (published === undefined) this.#publish(bytes, seq)
    else assert.equal(hex(bytes), hex(published), `message ${seq} folds to what was published before`)
    this.#next += 1
    return true
  }

  #publish(bytes: Uint8Array, seq: number): void {
    const mishap = this.#mishap('publish')
    assert.equal(this.#logs.changes.length, seq - 1, `set ${seq} is published after the one before it`)
    this.#logs.changes.push(bytes)
    if (mishap === 'killedAfter') throw new Killed(`after set ${seq} was published`)
  }

  #commit(): void {
    const mishap = this.#mishap('commit')
    if (mishap === 'refusedCommit') {
      this.#startOver('the store refused a commit')
      return
    }
    this.#store.commit(this.#engine.pending(), { epoch: CHAIN, sequence: this.#next, link: 0 })
    if (mishap === 'killedAfter') throw new Killed(`after ${this.#next} was committed`)
    this.#engine.committed()
  }

  /** Below its first block the engine knows no hash: there it can refuse a block, but not an undo. */
  #stray(): Envelope {
    const first = this.#logs.blocks.map((body) => decodeEnvelope(body)).find(({ kind }) => kind === 'block')
    assert.ok(first?.kind === 'block')
    const number = (this.#engine.tip?.number ?? first.number) - 1
    const ref = { number, hash: STRAY_HASH }
    if (this.#engine.tip === undefined || number >= first.number)
      return { kind: 'undo', chain: CHAIN, lastValid: ref }
    return { ...first, number: number + 2, hash: STRAY_HASH, parentHash: STRAY_HASH }
  }

  /** It may have begun to undo when it finds that this is not its chain. */
  #refuse(envelope: Envelope): void {
    const isRefusal = (error: unknown): boolean =>
      error instanceof ChaintapeError && /^(broken_link|fork_below_final)$/.test(error.code)
    assert.throws(() => this.#engine.apply(encodeEnvelope(envelope), this.#next + 1), isRefusal)
    this.#startOver('a stray message was refused')
  }

  #startOver(why: string): void {
    this.#engine.abandon()
    this.#next = this.#store.position?.sequence ?? 0
    this.#note(`${why}: folds again after ${this.#next}`)
  }

  #mishap(place: Place): ReturnType<Trouble['at']> {
    const mishap = this.#trouble.at(place)
    if (mishap === 'killedBefore') throw new Killed(`before ${place} of ${this.#next + 1}`)
    return mishap
  }
}

/** As log messages: what the engine folds went over the wire. */
export function asMessages(envelopes: readonly Envelope[]): Uint8Array[] {
  return envelopes.map(encodeEnvelope)
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
