import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainLog, LogMessage } from '../../src/log/chain-log.ts'
import { readAll } from '../support/rigs/log-reading.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import type { StandbyEngine } from './standby-engine.ts'
import type { SteadyLoad } from './steady-load.ts'

/** A standby that is further behind has to catch up before it can take over. It is waited for, but not on a machine that is too slow. */
const MAX_BEHIND_SECONDS = 0.25
const CATCH_UP_MS = 10_000

export type LeaderLost = {
  readonly how: 'SIGKILL' | 'SIGSTOP'
  readonly victim: string
  readonly successor: string
  readonly atMs: number
}
/** A leader that stood still while another took its place, and what it made of that. */
export type Return = { readonly engine: string; readonly wasReplaced: boolean }

export type StormParts = {
  readonly engines: readonly StandbyEngine[]
  readonly blocks: ChainLog
  readonly changes: ChainLog
  readonly events: number
  readonly load: SteadyLoad
  readonly messagesPerSecond: number
  readonly roll: (sides: number) => number
}

/** Takes the leader away again and again while BLOCKS grows steadily, then lets all of them come to rest. */
export class Storm {
  readonly lost: LeaderLost[] = []
  readonly returns: Return[] = []
  /** When each message of CHANGES came. */
  readonly cameAtMs: number[] = []
  endedAtMs = 0
  blocks: LogMessage[] = []
  changes: LogMessage[] = []
  readonly #parts: StormParts
  readonly #resuming: Promise<void>[] = []

  constructor(parts: StormParts) {
    this.#parts = parts
  }

  async run(): Promise<void> {
    const { changes } = this.#parts
    const watching = new AbortController()
    const watched = this.#watch(watching.signal)
    try {
      await this.#rage()
      // Time to say something twice, and to commit.
      await sleep(1_000)
      this.changes = await readAll(changes)
    } finally {
      watching.abort()
      await watched
    }
  }

  async #rage(): Promise<void> {
    const { engines, blocks, events, load, messagesPerSecond } = this.#parts
    for (const engine of engines) engine.spawn()
    load.start(messagesPerSecond)
    try {
      for (let event = 0; event < events; event++) await this.#loseLeader()
      await Promise.all(this.#resuming)
      await Promise.all(engines.map((engine) => engine.ready()))
    } finally {
      this.endedAtMs = performance.now()
      await load.stop()
    }
    this.blocks = await readAll(blocks)
    await waitFor('CHANGES to hold it all', () => {
      for (const { name, exitCode } of engines) assert.equal(exitCode, null, `${name} gave up`)
      return this.cameAtMs.length >= this.blocks.length ? true : undefined
    })
  }

  async #watch(signal: AbortSignal): Promise<void> {
    for await (const _ of this.#parts.changes.read({ after: undefined, signal })) {
      this.cameAtMs.push(performance.now())
    }
  }

  async #loseLeader(): Promise<void> {
    const { roll } = this.#parts
    const victim = await this.#leader()
    await sleep(200 + roll(600))
    const how = roll(2) === 0 ? 'SIGKILL' : 'SIGSTOP'
    const atMs = performance.now()
    const timesReplaced = victim.timesReplaced()
    if (how === 'SIGKILL') await victim.kill('SIGKILL')
    else victim.freeze()
    const successor = await waitFor('a successor', () => this.#whoLeads(victim))
    this.lost.push({ how, victim: victim.name, successor: successor.name, atMs })
    // Not before: a new process would be a successor too, and a leader that is back in time has none.
    if (how === 'SIGKILL') victim.spawn()
    else this.#resuming.push(this.#resume(victim, timesReplaced, 2_000 + roll(2_000)))
  }

  /** The one that leads, once another that has caught up stands by. */
  async #leader(): Promise<StandbyEngine> {
    const lateMs = performance.now() + CATCH_UP_MS
    const maxBehind = this.#parts.messagesPerSecond * MAX_BEHIND_SECONDS
    return waitFor('one engine to lead and one to stand by', async () => {
      const parts = await Promise.all(this.#parts.engines.map((engine) => engine.part()))
      const [leader, ...others] = this.#parts.engines.filter((_, at) => parts[at] === 'leads')
      if (leader === undefined || others.length > 0) return undefined
      const standbys = this.#parts.engines.filter((_, at) => parts[at] === 'follows')
      if (standbys.length > 0 && performance.now() > lateMs) return leader
      const [end = 0, ...folded] = await Promise.all([leader, ...standbys].map((engine) => engine.folded()))
      return folded.some((seq) => seq >= end - maxBehind) ? leader : undefined
    })
  }

  async #whoLeads(except: StandbyEngine): Promise<StandbyEngine | undefined> {
    for (const engine of this.#parts.engines) {
      if (engine !== except && (await engine.part()) === 'leads') return engine
    }
    return undefined
  }

  async #resume(engine: StandbyEngine, timesReplaced: number, afterMs: number): Promise<void> {
    await sleep(afterMs)
    engine.resume()
    const noticed = waitFor('it to notice', () => (engine.timesReplaced() > timesReplaced ? true : undefined))
    const wasReplaced = await noticed.catch(() => false)
    engine.rejoin()
    this.returns.push({ engine: engine.name, wasReplaced })
  }
}
