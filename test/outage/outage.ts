import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceName } from '../../src/sandbox/servers/stack.ts'
import { API_KEY, type RoleName } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { WsClient } from '../support/rigs/ws-client.ts'
import type { Answer } from './load.ts'
import type { Needs } from './operations.ts'
import { type OutageWorld, ROLES } from './world.ts'

export type Server = Exclude<ServiceName, 'anvil'>
/** Dead: killed, and started again with what it had on disk. Hung: it takes connections and requests, and stands still. */
export type Manner = 'dead' | 'hung'
export type Outage = Readonly<Partial<Record<Server, Manner>>>
type Period = { readonly fromMs: number; readonly toMs: number }

const UNAVAILABLE: readonly string[] = ['store_unavailable', 'metering_unavailable']
/** Later a hung server is noticed, and the machine may be busy. */
const NOTICED_MS = 55_000

export function nameOf(outage: Outage): string {
  return Object.entries(outage)
    .map(([server, manner]) => `${server} ${manner}`)
    .join(', ')
}

/** Takes servers away under load, looks at what is answered meanwhile, and waits until all is well again. */
export class Outages {
  /** From when a server was taken away until everything had caught up. */
  readonly #disturbed: Period[] = []
  readonly #world: OutageWorld
  readonly #watcher: WsClient

  constructor(world: OutageWorld, watcher: WsClient) {
    this.#world = world
    this.#watcher = watcher
  }

  async run(outage: Outage, seconds: number): Promise<string> {
    const { load, stack } = this.#world
    const fromMs = performance.now()
    const servers = Object.entries(outage) as [Server, Manner][]
    for (const [server, how] of servers) await stack.kill(server, how === 'dead' ? 'SIGKILL' : 'SIGSTOP')
    const downMs = performance.now()
    const pushesBefore = this.#watcher.messages.length
    const over = sleep(seconds * 1_000)
    const latecomer = isLong(seconds) ? this.#world.spawnGateway() : undefined
    let [endMs, pushes] = [downMs, 0]
    try {
      await Promise.all([this.#expectNoticed(outage, seconds), this.#expectSockets(outage, seconds), over])
    } catch (error) {
      // A process left running would keep the suite from ending.
      await latecomer?.kill('SIGKILL')
      throw error
    } finally {
      await over
      endMs = performance.now()
      pushes = this.#watcher.messages.length - pushesBefore
      for (const [server, how] of servers) {
        if (how === 'dead') await stack.restart(server)
        else await stack.kill(server, 'SIGCONT')
      }
    }
    const restoredMs = performance.now()
    await this.#world.caughtUp()
    await latecomer?.ready()
    await latecomer?.kill('SIGTERM')
    this.#disturbed.push({ fromMs, toMs: performance.now() })

    const during = load.answers.filter(
      ({ askedAtMs, answeredAtMs }) => askedAtMs >= downMs && answeredAtMs <= endMs,
    )
    this.#expectDefined(outage, during)
    if (outage.nats === undefined) assert.ok(pushes > 0, 'nothing was pushed meanwhile')
    const caughtUp = ((performance.now() - restoredMs) / 1_000).toFixed(1)
    return `${tally(during)}; ${pushes} pushes; all caught up ${caughtUp} s after`
  }

  /** Everything in Redis is gone, from one moment to the next. */
  async flushAll(flush: () => Promise<unknown>): Promise<string> {
    const fromMs = performance.now()
    await flush()
    await sleep(100)
    await this.#world.caughtUp()
    const toMs = performance.now()
    this.#disturbed.push({ fromMs, toMs })
    const { answers } = this.#world.load
    const during = answers.filter((answer) => overlaps(answer, { fromMs, toMs }))
    return `${tally(during)}; all caught up after ${((toMs - fromMs) / 1_000).toFixed(1)} s`
  }

  /** Outside of all outages nothing fails; within and around them nothing but what is documented. */
  expectNoOtherFailure(): void {
    const failures = this.#world.load.answers.filter(({ status }) => status !== 200)
    const undefinedOnes = failures.filter(
      (answer) => !isUnavailable(answer) || !this.#disturbed.some((period) => overlaps(answer, period)),
    )
    assert.deepEqual(undefinedOnes.slice(0, 10).map(inWords), [], `${undefinedOnes.length} answers`)
  }

  #expectDefined(outage: Outage, answers: readonly Answer[]): void {
    const wrong = answers.filter((answer) => {
      const { needs } = answer.operation
      if (canAnswer(needs, outage)) return answer.status !== 200
      // A gateway caches responses until a change invalidates them: those may still be served.
      const isFound = needs === 'search' && outage.clickhouse === undefined
      const mayBeKept = needs === 'hot' || needs === 'holders' || isFound
      return !isUnavailable(answer) && !(mayBeKept && answer.status === 200)
    })
    assert.deepEqual(wrong.slice(0, 5).map(inWords), [], `${wrong.length} answers are not as defined`)
    const fresh = answers.filter(({ block }) => block !== undefined)
    const [first, last] = [fresh[0], fresh.at(-1)]
    assert.ok(first !== undefined && last !== undefined, 'nothing was answered')
    const blocks = (last.block ?? 0) - (first.block ?? 0)
    if (outage.nats === undefined) assert.ok(blocks > 0, 'answers do not follow the chain')
    else {
      const elapsedMs = last.answeredAtMs - first.answeredAtMs
      assert.ok(last.lagMs - first.lagMs >= elapsedMs / 2, 'answers do not say how old they are')
    }
  }

  /** What the operator sees. */
  async #expectNoticed(outage: Outage, seconds: number): Promise<void> {
    const withinMs = Math.min(NOTICED_MS, seconds * 1_000)
    if (outage.nats !== undefined) {
      const isCutOff = async (role: RoleName): Promise<true | undefined> =>
        (await this.#world.metric(role, 'chaintape_nats_connected')) === 0 ? true : undefined
      for (const role of ROLES) await waitFor(`${role} to miss NATS`, () => isCutOff(role), withinMs)
      return
    }
    // A hung server is waited for longer than a short outage lasts.
    if (!isDead(outage) && !isLong(seconds)) return
    const { text } = await waitFor(
      'the writer to say that it cannot work',
      async () => {
        const readiness = await this.#world.readiness('writer')
        return readiness.status === 503 ? readiness : undefined
      },
      withinMs,
    )
    assert.match(text, /unavailable|timed out/)
  }

  /** The socket that was open stays open; a new one opens, and is served if what it needs is there. */
  async #expectSockets(outage: Outage, seconds: number): Promise<void> {
    const { gatewayUrl, scenario } = this.#world
    const client = await WsClient.connect(gatewayUrl, API_KEY)
    try {
      const asked = client.subscribe(['tx', scenario.tokenPair, 'local'])
      if (hasDocuments(outage)) await asked
      // Hung servers are waited for longer than a short outage lasts.
      else if (isDead(outage) || isLong(seconds)) await assert.rejects(asked, /-32603/)
      else await asked.catch(() => undefined)
    } finally {
      client.close()
    }
    assert.ok(this.#watcher.isOpen, 'a socket was closed')
  }
}

/** Long enough that what hangs is given up, and that a process can be started in it. */
function isLong(seconds: number): boolean {
  return seconds >= 20
}

function canAnswer(needs: Needs, outage: Outage): boolean {
  const { nats, redis, clickhouse } = outage
  switch (needs) {
    case 'memory':
      return true
    case 'hot':
      return hasDocuments(outage)
    case 'history':
    case 'holders':
    case 'search':
      return clickhouse === undefined
    case 'usage':
      return redis === undefined && nats === undefined
  }
}

/** Either store has them. */
function hasDocuments({ redis, clickhouse }: Outage): boolean {
  return redis === undefined || clickhouse === undefined
}

function isDead(outage: Outage): boolean {
  return Object.values(outage).every((manner) => manner === 'dead')
}

function isUnavailable({ status, code = '' }: Answer): boolean {
  return status === 500 && UNAVAILABLE.includes(code)
}

function overlaps({ askedAtMs, answeredAtMs }: Answer, { fromMs, toMs }: Period): boolean {
  return askedAtMs <= toMs && answeredAtMs >= fromMs
}

function inWords({ operation, status, code, askedAtMs, answeredAtMs }: Answer): string {
  return `${operation.path}: ${status} ${code ?? ''} after ${Math.round(answeredAtMs - askedAtMs)} ms`
}

/** How many answers of each kind there are. */
function tally(answers: readonly Answer[]): string {
  const counts = new Map<string, number>()
  for (const { operation, status, code } of answers) {
    const kind = `${operation.needs} ${code ?? status}`
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ')
}
