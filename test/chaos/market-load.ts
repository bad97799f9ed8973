import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockRef, SandboxChain } from '../../src/sandbox/chain/sandbox-chain.ts'

type Fork = {
  readonly depth: number
  readonly meanwhile: () => Promise<void>
  readonly done: () => void
}

/** Trades without end, so many milliseconds from block to block, and forks when it is asked to. */
export class MarketLoad {
  /** The deepest fork so far, and how many there were. */
  readonly forks = { deepest: 0, count: 0, orphaned: 0 }
  readonly #chain: SandboxChain
  readonly #blockMs: number
  #isRunning = false
  #running: Promise<void> | undefined
  #fork: Fork | undefined
  #waiting: ((block: BlockRef) => void)[] = []

  constructor(chain: SandboxChain, blockMs: number) {
    this.#chain = chain
    this.#blockMs = blockMs
  }

  start(): void {
    this.#isRunning = true
    this.#running = this.#run()
    // Reported to all that wait for a block, and by stop().
    this.#running.catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    await this.#running
  }

  /** The first block that is mined from now on, and that no fork under way takes back. */
  async nextBlock(): Promise<BlockRef> {
    return await this.#orFailure(new Promise<BlockRef>((resolve) => this.#waiting.push(resolve)))
  }

  /** Mines so many blocks, and replaces them by one more. `meanwhile` runs before they are orphaned. */
  async fork(depth: number, meanwhile: () => Promise<void>): Promise<void> {
    if (this.#fork !== undefined) throw new Error('a fork is under way')
    await this.#orFailure(
      new Promise<true>((resolve) => {
        this.#fork = { depth, meanwhile, done: () => resolve(true) }
      }),
    )
  }

  async #orFailure<T>(awaited: Promise<T>): Promise<T> {
    const first = await Promise.race([awaited, this.#running])
    if (first === undefined) throw new Error('the market has stopped')
    return first as T
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      if (this.#fork !== undefined) await this.#forkNow(this.#fork)
      const startedMs = performance.now()
      await this.#step()
      const waiting = this.#waiting
      this.#waiting = []
      for (const resolve of waiting) resolve(this.#chain.head)
      await sleep(Math.max(0, startedMs + this.#blockMs - performance.now()))
    }
  }

  async #forkNow({ depth, meanwhile, done }: Fork): Promise<void> {
    const checkpoint = await this.#chain.checkpoint()
    for (let block = 0; block < depth; block++) await this.#step()
    await meanwhile()
    await this.#chain.restore(checkpoint)
    for (let block = 0; block < depth; block++) await this.#step()
    this.forks.count++
    this.forks.orphaned += depth
    this.forks.deepest = Math.max(this.forks.deepest, depth)
    this.#fork = undefined
    done()
  }

  /** Blocks of one second may have the same time, as on a fast chain. */
  async #step(): Promise<void> {
    await this.#chain.step(Math.max(Math.floor(Date.now() / 1_000), this.#chain.head.time))
  }
}
