import { setImmediate as turn } from 'node:timers/promises'
import { startWorld, type World } from '../contract/world.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { WsClient } from '../support/rigs/ws-client.ts'
import { Random } from './random.ts'
import { CaseFailure, checkAnswer, checkStillWell } from './rest.ts'
import { sendRaw } from './rest-connection.ts'
import { RawConnection, type Tally } from './ws-connection.ts'
import { startTrading, tradeBlock } from './ws-market.ts'
import type { WsTarget } from './ws-messages.ts'
import { casesOf, makePlan, type Plan } from './ws-plan.ts'
import { startProbe } from './ws-probe.ts'
import { type Rules, readRules } from './ws-rules.ts'
import { Visits } from './ws-visits.ts'

/**
 * Hostile clients of a running gateway, while the market trades and forks. Each case is something that is sent; those of
 * one client belong together and are made from the dice of the first. Whatever they do: each request gets one response,
 * every message has a documented form, an honest client among them is served in time, and in the end nothing of them
 * remains.
 */

const CLIENTS = 24
/** Pings of the honest client: under load some are late, so the clients of that moment are replayed alone. */
const LATE_MS = 100
const TRIES = 10
/** On a busy machine many are late: the clients of the latest ones are enough. */
const MAX_SUSPECTS = 100
/** A socket that the client does not end in due form is given up by the gateway after 30 s. */
const LEFT_MS = 45_000

type Run = {
  readonly port: number
  readonly seed: number
  readonly world: World
  readonly target: WsTarget
  readonly rules: Rules
  readonly tally: Tally
}

export async function fuzzAll(cases: number, seed: number): Promise<string> {
  const world = await startWorld({ beans: 5 })
  try {
    const trading = await startTrading(world)
    const counts = new Map<string, number>()
    let slowestMs = 0
    const tally: Tally = {
      count: (what) => counts.set(what, (counts.get(what) ?? 0) + 1),
      took: (ms) => {
        slowestMs = Math.max(slowestMs, ms)
      },
    }
    const port = Number(new URL(world.url).port)
    const target = { names: world.names, keys: world.keys, cursors: trading.cursors }
    const run: Run = { port, seed, world, target, rules: await readRules(world.url), tally }
    const { seconds, probed, suspects } = await runAll(run, cases).finally(trading.stop)
    const confirmedMs = await confirmSuspects(run, suspects)
    await checkNothingLeft(world)
    await checkStillServes(world)
    checkStillWell(world)
    const totals = [...counts]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([what, count]) => `${what}: ${count}`)
    return [
      `${Math.round(cases / seconds)} a second; ${totals.join(', ')}; slowest answer ${slowestMs.toFixed(0)} ms;`,
      `${probed.pings} pings of an honest client, the slowest ${probed.worstMs.toFixed(0)} ms (its own clock ${probed.lagMs.toFixed(0)} ms late);`,
      `${suspects.length} clients were there when one was late, alone with them ${confirmedMs.toFixed(0)} ms`,
    ].join(' ')
  } finally {
    await world.stop()
  }
}

async function runAll(run: Run, cases: number) {
  const { seed, world, target } = run
  const visits = new Visits()
  let failure: CaseFailure | undefined
  // If the gateway itself has ended, any connected client may be the cause.
  const noteFailure = (index: number, error: Error): void => {
    const seeds = visits.present.map((each) => seed + each).join(', ')
    failure ??= new CaseFailure(index, `${error.message}; the seeds of all who were there: ${seeds}`, {
      cause: error,
    })
  }
  const probe = await startProbe(
    { url: world.url, apiKey: world.keys.flood, lateMs: LATE_MS },
    {
      late: (ms) => visits.noteLate(ms),
      failed: (error) => noteFailure(visits.eldest, error),
    },
  )
  const started = performance.now()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < cases && failure === undefined) {
      const index = next
      const plan = makePlan(new Random(seed + index), target)
      next += casesOf(plan)
      visits.begin(index)
      await runPlan(run, plan, index).catch((error: Error) => noteFailure(index, error))
      visits.end(index)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, work))
  const seconds = (performance.now() - started) / 1_000
  if (failure !== undefined) throw failure
  return { seconds, probed: await probe.stop(), suspects: visits.suspects(MAX_SUSPECTS) }
}

async function runPlan(run: Run, plan: Plan, index: number): Promise<void> {
  if (plan.kind === 'session') return runSession(run, plan)
  for (const answer of await sendRaw(run.port, plan.door)) {
    checkAnswer(index, answer)
    run.tally.count(`refused with ${answer.status}`)
  }
}

async function runSession(run: Run, plan: Plan & { kind: 'session' }): Promise<void> {
  const connection = new RawConnection(run.port, run.rules, run.tally)
  try {
    for (const code of plan.goodbyes) connection.allow(code)
    connection.write(plan.door)
    await connection.answered()
    if (connection.status !== 101) {
      if (plan.mayBeRefused && connection.status === 400) return
      throw new Error(`not let in: ${connection.status}`)
    }
    await talk(connection, plan)
    await leave(connection, plan)
  } finally {
    connection.reset()
  }
}

async function talk(connection: RawConnection, { steps, depth, waits }: Plan & { kind: 'session' }) {
  for (const [at, step] of steps.entries()) {
    if (connection.isEnded || connection.goodbye !== undefined) return
    connection.await(step)
    const { bytes, cut } = step
    connection.write(bytes.subarray(0, cut))
    if (cut !== undefined) {
      await turn()
      connection.write(bytes.subarray(cut))
    }
    if (step.mustEnd) await connection.ended()
    // The first may be the key: what comes before it is known is a stranger's.
    else if (at === 0 || at % depth === depth - 1) await connection.settled()
  }
  if (waits) await connection.settled()
}

async function leave(connection: RawConnection, { ending }: Plan & { kind: 'session' }): Promise<void> {
  if (ending.kind === 'goodbye') connection.allow(ending.code)
  const wasThere = !connection.isEnded && connection.goodbye === undefined
  connection.write(ending.bytes)
  if (ending.kind === 'goodbye') {
    await connection.ended()
    if (wasThere && connection.goodbye === undefined) throw new Error('it hung up without a goodbye')
  } else if (ending.kind === 'end') {
    connection.end()
    await connection.ended()
  } else connection.reset()
  connection.check()
}

/** How long the honest client waits at its best for the gateway, when only this one is there besides: the worst of all. */
async function confirmSuspects(run: Run, suspects: readonly number[]): Promise<number> {
  let worst = 0
  for (const index of suspects) {
    let best = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < TRIES && best > LATE_MS; attempt++) {
      const probe = await startProbe(
        { url: run.world.url, apiKey: run.world.keys.flood, lateMs: LATE_MS },
        { late: () => undefined, failed: () => undefined },
      )
      await runPlan(run, makePlan(new Random(run.seed + index), run.target), index).catch((error: Error) => {
        throw new CaseFailure(index, error.message, { cause: error })
      })
      const { worstMs, lagMs } = await probe.stop()
      best = Math.min(best, worstMs - lagMs)
    }
    if (best > LATE_MS)
      throw new CaseFailure(index, `made others wait ${best.toFixed(0)} ms at its best of ${TRIES}`)
    worst = Math.max(worst, best)
  }
  return worst
}

async function checkNothingLeft(world: World): Promise<void> {
  const { admin_port } = await world.pipeline.role('gateway').logged('Admin server listening')
  await waitFor(
    'the gateway to have no sockets and subscriptions left',
    async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${admin_port}/metrics`)).text()
      const left = ['sockets', 'subscriptions'].map((name) =>
        Number(new RegExp(`^chaintape_gateway_${name} (.*)$`, 'm').exec(metrics)?.[1]),
      )
      return left.every((count) => count === 0) ? true : undefined
    },
    LEFT_MS,
  )
}

async function checkStillServes(world: World): Promise<void> {
  const client = await WsClient.connect(world.url, world.keys.good)
  const ids = [
    await client.subscribe(['tx', world.names.pair, 'local']),
    await client.subscribe(['kline', world.names.pair, 'k1', 'local']),
  ]
  await tradeBlock(world)
  for (const id of ids) await waitFor('a push', () => client.pushes(id)[0])
  client.close()
  await checkNothingLeft(world)
}
