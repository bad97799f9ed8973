import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockEnvelope, Envelope } from '../../src/domain/envelope.ts'
import type { LogPublisher } from '../../src/log/publisher.ts'
import { encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { type Action, buildBlock, CHAIN } from '../support/arbitraries/market-arbitraries.ts'
import { eth, swap, sync, tokens, usd, world } from '../support/builders/example-market.ts'

const TICK_MS = 5
const MAX_UNDO_DEPTH = 5
const FINAL_LAG = 12

/** A market that appends to BLOCKS at a steady rate, whatever becomes of its consumers; it forks now and then. */
export class SteadyLoad {
  /** When each message was given to the log. */
  readonly sentAtMs: number[] = []
  readonly #publisher: LogPublisher
  readonly #roll: (sides: number) => number
  readonly #first: BlockEnvelope
  /** What may still be undone, and the block under it. */
  #branch: BlockEnvelope[]
  #forks = 0
  #isRunning = true
  #running: Promise<void> | undefined

  constructor(publisher: LogPublisher, roll: (sides: number) => number) {
    this.#publisher = publisher
    this.#roll = roll
    const every = world.pools.map((_, pool) => this.#reserves(pool))
    this.#first = buildBlock(world, [], { do: 'block', seconds: 1, actions: every }, 0)
    this.#branch = [this.#first]
  }

  start(messagesPerSecond: number): void {
    this.#running = this.#run(messagesPerSecond)
  }

  /** Once all that was sent is stored. */
  async stop(): Promise<void> {
    this.#isRunning = false
    await this.#running
  }

  async #run(messagesPerSecond: number): Promise<void> {
    const stored: Promise<unknown>[] = []
    const send = (envelope: Envelope): void => {
      this.sentAtMs.push(performance.now())
      stored.push(this.#publisher.publish(encodeEnvelope(envelope)))
    }
    send(this.#first)
    const startedAtMs = performance.now()
    while (this.#isRunning) {
      const due = ((performance.now() - startedAtMs) / 1_000) * messagesPerSecond
      while (this.sentAtMs.length < due) send(this.#next())
      await sleep(TICK_MS)
    }
    await Promise.all(stored)
  }

  #next(): Envelope {
    const [floor] = this.#branch
    const undoable = this.#branch.length - 1
    const chance = this.#roll(40)
    if (floor !== undefined && chance === 0 && undoable > 0) {
      this.#forks++
      const depth = Math.min(undoable, 1 + this.#roll(MAX_UNDO_DEPTH))
      this.#branch.splice(-depth)
      const { number, hash } = this.#branch.at(-1) ?? floor
      return { kind: 'undo', chain: CHAIN, lastValid: { number, hash } }
    }
    const upTo = this.#branch.at(-FINAL_LAG)
    if (upTo !== undefined && chance === 1) {
      this.#branch = this.#branch.slice(-FINAL_LAG)
      return { kind: 'final', chain: CHAIN, upTo: { number: upTo.number, hash: upTo.hash } }
    }
    const actions = Array.from({ length: 1 + this.#roll(3) }, () => this.#roll(world.pools.length)).flatMap(
      (pool) => [this.#reserves(pool), this.#trade(pool)],
    )
    // The first block has all facts, and is never undone.
    const before = [this.#first, this.#branch.at(-1) ?? this.#first]
    const seconds = this.#roll(3)
    const block = buildBlock(world, before, { do: 'block', seconds, actions }, this.#forks % 1_000)
    this.#branch.push(block)
    return block
  }

  #reserves(pool: number): Action {
    return sync(pool, this.#amount(pool, 0, 100_000), this.#amount(pool, 1, 100_000))
  }

  #trade(pool: number): Action {
    const [paid, got] = [this.#amount(pool, 0, 50), this.#amount(pool, 1, 50)]
    return this.#roll(2) === 0 ? swap(pool, paid, 0n, 0n, got) : swap(pool, 0n, got, paid, 0n)
  }

  #amount(pool: number, side: 0 | 1, most: number): bigint {
    const whole = BigInt(most + this.#roll(most))
    const { token0, token1 } = world.pools[pool] ?? {}
    const decimals = world.tokens.find(({ address }) => address === (side === 0 ? token0 : token1))?.decimals
    return decimals === 6 ? usd(whole) : decimals === 9 ? tokens(whole) : eth(whole)
  }
}
