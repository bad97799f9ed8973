import assert from 'node:assert/strict'
import type { LogPosition } from '../../../src/domain/log-position.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { ChainFold, type FoldedSet } from '../../../src/roles/engine/chain-fold.ts'
import type { StateStore } from '../../../src/store/lmdb/state-store.ts'
import { HandClock } from '../../support/builders/hand-clock.ts'
import { Killed, type Logs, lastOf } from './engine-process.ts'
import { CHAIN } from './sim-market.ts'
import type { Trouble } from './trouble.ts'

/**
 * The role's own part that decides what is published and when it commits, with the log and the clock in our hands:
 * it folds ahead, sets are on their way while more are folded, and acknowledgements come when they come. At times
 * another engine, which never fails, publishes too: the first one gets the place.
 */
export class ChainFoldProcess {
  readonly #fold: ChainFold
  readonly #logs: Logs
  readonly #trouble: Trouble
  readonly #clock = new HandClock()
  /** The next message to fold, counted from 0. */
  #next: number
  /** While it leads: of `fold.ahead`, so many are in the log and not acknowledged. */
  #lead: { sent: number } | undefined

  constructor(
    settings: EngineSettings,
    store: StateStore,
    logs: Logs,
    trouble: Trouble,
    note: (what: string) => void,
  ) {
    const { changes } = logs
    const newest = lastOf(changes)
    const engine = new Engine(settings, store)
    const frail = { commit: withTrouble(store, trouble), position: store.position }
    this.#fold = new ChainFold({ engine, store: frail, newest, onConfirmed: () => undefined })
    this.#logs = logs
    this.#trouble = trouble
    this.#next = store.position?.sequence ?? 0
    note(`folds ahead after ${this.#next}, with ${changes.length} published`)
  }

  /** Up to the end of the log, all of it committed. */
  run(): void {
    this.#clock.during(() => {
      while (this.#next < this.#logs.blocks.length || this.#fold.ahead.length > 0) this.#step()
      this.#fold.close()
    })
  }

  #step(): void {
    const { blocks, changes, others } = this.#logs
    const possible = [() => this.#clock.advance(this.#trouble.pick([1, 300, 2_500]))]
    if (this.#next < this.#trouble.blocksEnd(blocks.length) && !this.#fold.isFull)
      possible.push(() => this.#foldNext())
    possible.push(...(this.#lead === undefined ? this.#following() : this.#leading(this.#lead)))
    if (this.#trouble.hasRival && changes.length < others.length)
      possible.push(() => changes.push(others[changes.length] as Uint8Array))
    this.#trouble.pick(possible)()
  }

  get #confirmed(): number {
    return this.#fold.confirmedAt?.sequence ?? 0
  }

  /** A standby compares what the log holds, and may take over at its end. */
  #following(): (() => void)[] {
    const { changes } = this.#logs
    const confirmed = this.#confirmed
    if (this.#fold.ahead.length === 0) return []
    if (confirmed < changes.length)
      return [() => this.#fold.confirm(at(confirmed + 1), changes[confirmed] as Uint8Array)]
    return [() => (this.#lead = { sent: 0 })]
  }

  /** The leader publishes what is ahead, one set after the other, and gets acknowledgements later. */
  #leading(lead: { sent: number }): (() => void)[] {
    const steps: (() => void)[] = []
    const next = this.#fold.ahead[lead.sent]
    if (next !== undefined) steps.push(() => this.#send(lead, next))
    if (lead.sent > 0) {
      steps.push(() => {
        lead.sent -= 1
        this.#fold.confirm(at(this.#confirmed + 1))
      })
    }
    return steps
  }

  #foldNext(): void {
    if (this.#trouble.at('fold') !== undefined) throw new Killed(`before fold of ${this.#next + 1}`)
    const seq = this.#next + 1
    const bytes = Buffer.from(this.#fold.fold(this.#logs.blocks[this.#next] as Uint8Array, at(seq)))
    const published = this.#logs.changes[this.#next]
    // It compares the newest by itself; the others must be the same as well.
    assert.ok(
      published === undefined || bytes.equals(published),
      `message ${seq} folds to what was published`,
    )
    this.#next += 1
  }

  #send(lead: { sent: number }, { seq, bytes }: FoldedSet): void {
    const { changes } = this.#logs
    const mishap = this.#trouble.at('publish')
    if (mishap === 'killedBefore') throw new Killed(`before set ${seq} was published`)
    // The log takes a message only behind the one that its writer knows: a rival was first.
    if (changes.length > this.#confirmed + lead.sent) {
      this.#lead = undefined
      return
    }
    changes.push(bytes)
    lead.sent += 1
    if (mishap !== undefined) throw new Killed(`after set ${seq} was published`)
  }
}

/** A commit that fails ends the role as a kill does; what counts is what the store then holds. */
function withTrouble(store: StateStore, trouble: Trouble): StateStore['commit'] {
  return (writes, position) => {
    const mishap = trouble.at('commit')
    if (mishap !== undefined && mishap !== 'killedAfter')
      throw new Killed(`before commit of ${position.sequence}`)
    store.commit(writes, position)
    if (mishap === 'killedAfter') throw new Killed(`after ${position.sequence} was committed`)
  }
}

/** Positions in both logs: each of our messages takes one frame. */
function at(seq: number): LogPosition {
  return { epoch: CHAIN, sequence: seq, link: 0 }
}
