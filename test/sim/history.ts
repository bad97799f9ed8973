import { Random } from '../fuzz/random.ts'
import { SimChain } from './sim-chain.ts'
import type { LineTrouble } from './sim-connection.ts'
import { CALM, SimNode } from './sim-node.ts'
import type { SimSettings } from './sim-reader.ts'
import { SimStream } from './sim-stream.ts'
import { Supervisor } from './supervisor.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** Some histories are calm in one way and rough in another: each kind of trouble is drawn by itself. */
function share(random: Random, most: number): number {
  return random.chance(0.4) ? 0 : random.next() * most
}

/** Everything that happens in one simulation: the chain, its nodes, the log and the readers, by one seed. */
export class History {
  readonly chain: SimChain
  readonly node: SimNode
  readonly stream: SimStream
  readonly supervisor: Supervisor
  readonly #clock: VirtualClock
  readonly #random: Random
  readonly #line: LineTrouble
  readonly #notes: string[] = []
  #isOver = false

  constructor(clock: VirtualClock, seed: number) {
    const random = new Random(seed)
    this.#clock = clock
    this.#random = random
    this.chain = new SimChain(random, random.pick([0, 1, 100, 990]))
    this.node = new SimNode(clock, random, this.chain, random.pick([2, 20, 200]))
    this.node.trouble = {
      failing: share(random, 0.1),
      behind: share(random, 0.3),
      gap: share(random, 0.05),
      forgetful: random.chance(0.3),
    }
    this.stream = new SimStream({
      looksAtIdFirst: random.chance(0.5),
      remembersRefused: random.chance(0.3),
      isReplicated: random.chance(0.5),
    })
    this.#line = { lostRequest: share(random, 0.015), lostAnswer: share(random, 0.015) }
    const settings: SimSettings = {
      startBlock: this.chain.first,
      readAheadBlocks: random.pick([1, 2, 4, 16, 40]),
      pollMs: random.pick([200, 700, 3_000]),
      // Small enough, sometimes, that a message takes several frames.
      maxFrameBytes: random.pick([200, 100_000, 100_000]),
      hasDoorbell: random.chance(0.5),
      lineLatencyMs: random.pick([2, 10, 100]),
      takeoverMs: random.pick([300, 2_000, 10_000]),
      outboxFrames: random.pick([3, 50, 100_000, 100_000]),
      // What a dead reader sent last may still come in.
      lastWordsMs: 500,
    }
    const { node, stream } = this
    const parts = { clock, random, node, stream, line: this.#line, settings }
    this.supervisor = new Supervisor(parts, (what) => this.note(what))
    const backlog = random.chance(0.05) ? 1_200 : random.chance(0.15) ? 400 : 60
    this.chain.mine(random.below(backlog))
    this.note(`start with blocks up to ${this.chain.tip.number}, ${JSON.stringify(settings)}`)
    this.supervisor.start()
    if (random.chance(0.3)) this.note(this.supervisor.startAnother())
    this.#clock.after(0, () => this.#next(random.between(5, 45)))
  }

  /** What happened, with the moment it did. */
  get lines(): readonly string[] {
    return this.#notes
  }

  get isOver(): boolean {
    return this.#isOver
  }

  note(what: string): void {
    this.#notes.push(`${String(this.#clock.now).padStart(8)} ms  ${what}`)
  }

  /** A last fork, to as many blocks as there were, if that much may still be replaced. */
  replaceTip(): boolean {
    const most = Math.min(this.chain.undoable(), 3)
    if (most === 0 || this.#random.chance(0.5)) return false
    const depth = this.#random.between(1, most)
    this.chain.fork(depth, depth)
    this.note(`fork: ${depth} blocks replaced by ${depth}`)
    return true
  }

  #next(left: number): void {
    if (left === 0) {
      this.#calmDown()
      return
    }
    this.note(this.#happening())
    if (this.#random.chance(0.7)) this.supervisor.ring()
    const isPatient = this.#random.chance(0.4)
    this.#clock.after(this.#pause(), () => {
      if (isPatient) this.#onceAtHead(30, () => this.#next(left - 1))
      else this.#next(left - 1)
    })
  }

  /** What happens to a reader that has caught up is different from what happens to one on its way. */
  #onceAtHead(looks: number, then: () => void): void {
    const isThere = this.supervisor.lastTip.tip?.hash === this.chain.tip.hash
    if (isThere || looks === 0) then()
    else this.#clock.after(400, () => this.#onceAtHead(looks - 1, then))
  }

  /** Often two things fall together. */
  #pause(): number {
    const most = this.#random.pick([0, 5, 50, 1_000, 5_000, 15_000])
    return this.#random.below(most + 1)
  }

  #happening(): string {
    const { chain, node, supervisor } = this
    const random = this.#random
    const roll = random.below(100)
    if (roll < 22) return this.#mine(random.between(1, 4))
    if (roll < 27) return this.#mine(random.between(5, 70))
    if (roll < 45) return this.#fork()
    if (roll < 53)
      return chain.returnToFormer() ? `back to ${chain.tip.number} of a former branch` : 'nothing'
    if (roll < 65) return this.#finalise()
    if (roll < 70) {
      const [from, ms] = [chain.tip.number - random.below(20), random.below(5_000)]
      const to = from + random.below(20)
      node.lose(from, to, ms)
      return `blocks ${from} to ${to} are missing for ${ms} ms`
    }
    if (roll < 74) {
      const ms = random.below(8_000)
      node.goDown(ms)
      return `the node is down for ${ms} ms`
    }
    if (roll < 77) return supervisor.breakLine(random.below(20_000))
    if (roll < 82) return this.#loseTail()
    if (roll < 86) return supervisor.killNow()
    if (roll < 94) return supervisor.killAtWrite(random.below(random.pick([3, 40, 300])))
    if (roll < 97) return supervisor.stop()
    // One of two readers is a standby.
    return supervisor.startAnother()
  }

  /** Often with everything else on the same machine. */
  #loseTail(): string {
    const random = this.#random
    const count = random.between(1, random.pick([2, 5, 40, 1_000]))
    this.stream.loseTail(count)
    const killed = random.chance(0.5) ? `, and ${this.supervisor.killNow()}` : ''
    return `the log loses ${count} frames and holds ${this.stream.frames.length}${killed}`
  }

  #mine(count: number): string {
    this.chain.mine(count)
    return `mined up to ${this.chain.tip.number}`
  }

  #fork(): string {
    const random = this.#random
    const undoable = this.chain.undoable()
    if (undoable === 0) return this.#mine(1)
    const most = random.pick([1, 3, 3, 16, 64, undoable])
    const depth = random.between(1, Math.min(undoable, most))
    // Mostly the branch that wins is the longer one; one that is not yet has to wait until it is.
    const count = random.chance(0.7) ? depth + random.below(4) : random.below(depth + 1)
    this.chain.fork(depth, count)
    return `fork: ${depth} blocks replaced by ${count}, up to ${this.chain.tip.number}`
  }

  #finalise(): string {
    const { chain } = this
    chain.finalise(chain.tip.number - this.#random.below(this.#random.pick([2, 10, 70])))
    return `final up to ${chain.final}`
  }

  /** From here on all goes well, and the chain that won is longer than any before it: so the log must follow. */
  #calmDown(): void {
    this.node.trouble = { ...CALM }
    this.#line.lostRequest = 0
    this.#line.lostAnswer = 0
    this.supervisor.calmDown()
    this.chain.mine(this.chain.highest + 1 - this.chain.tip.number)
    if (this.#random.chance(0.5)) this.note(this.#finalise())
    this.note(`calm from here on, with blocks up to ${this.chain.tip.number}`)
    this.#isOver = true
  }
}
