import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startWorld, type World } from '../contract/world.ts'
import { Random } from './random.ts'
import { type Answered, type SocketBox, sendFramed, sendRaw } from './rest-connection.ts'
import { type Case, makeCase } from './rest-requests.ts'

/**
 * Hostile requests to a running gateway over a real market. It may refuse what it likes, but it never fails (5xx), never
 * hangs up on a whole request, never takes long, and goes on.
 */

const CONNECTIONS = 6
/** Requests sent at once on a connection. */
const DEPTH = 16
const MAX_MS = 100
/** Under load any request is late now and then: those that are get asked again, alone, and are as slow as at their best. */
const LATE_MS = 50
const TRIES = 20
const PAUSE_MS = 250

type Numbered = { readonly index: number; readonly made: Case }

export async function fuzzAll(cases: number, seed: number): Promise<string> {
  const world = await startWorld({ beans: 5 })
  try {
    // The market stands still: the machine is the gateway's.
    for (const role of ['reader', 'engine', 'writer'] as const)
      await world.pipeline.role(role).kill('SIGTERM')
    const port = Number(new URL(world.url).port)
    const run = { statuses: new Map<number, number>(), suspects: [] as number[], slowestMs: 0 }
    const started = performance.now()
    let next = 0
    const work = async (): Promise<void> => {
      const box: SocketBox = { socket: undefined }
      while (next < cases) {
        const first = next
        next = Math.min(cases, next + DEPTH)
        const batch = Array.from({ length: next - first }, (_, offset) =>
          numbered(first + offset, seed, world),
        )
        await runBatch(port, batch, box, run)
      }
      box.socket?.destroy()
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
    const seconds = (performance.now() - started) / 1_000
    const slowest = await confirmSuspects(port, seed, world, run.suspects)
    checkStillWell(world)
    const totals = [...run.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
    return [
      `${Math.round(cases / seconds)} a second; ${totals.join(', ')};`,
      `slowest ${Math.max(run.slowestMs, slowest).toFixed(0)} ms, ${run.suspects.length} late ones asked again alone`,
    ].join(' ')
  } finally {
    await world.stop()
  }
}

/** Each case has dice of its own, so that the one that fails can be thrown again alone. */
function numbered(index: number, seed: number, world: World): Numbered {
  return { index, made: makeCase(new Random(seed + index), world) }
}

type Run = { readonly statuses: Map<number, number>; readonly suspects: number[]; slowestMs: number }

async function runBatch(port: number, batch: readonly Numbered[], box: SocketBox, run: Run): Promise<void> {
  const note = (index: number, answers: readonly Answered[]): void => {
    for (const answer of answers) {
      checkAnswer(index, answer)
      run.statuses.set(answer.status, (run.statuses.get(answer.status) ?? 0) + 1)
      if (answer.ms > LATE_MS) run.suspects.push(index)
      else run.slowestMs = Math.max(run.slowestMs, answer.ms)
    }
  }
  for (const { index, made } of batch) {
    if (made.kind === 'raw') note(index, await sendRaw(port, made.bytes).catch(failAt(index)))
  }
  const framed = batch.filter(({ made }) => made.kind === 'framed')
  const answers = await sendFramed(
    port,
    framed.map(({ made }) => made),
    box,
  ).catch(failAt(framed[0]?.index ?? 0))
  for (const [place, { index }] of framed.entries()) note(index, answers.slice(place, place + 1))
}

/** It refuses in the one form that there is for that, and does not fail. */
export function checkAnswer(index: number, { status, type, body }: Answered): void {
  if (status >= 500) throw new CaseFailure(index, `answered ${status}: ${body.slice(0, 500)}`)
  if (status < 400 || body === '') return
  if (!type.startsWith('application/problem+json'))
    throw new CaseFailure(index, `${status} is returned as ${type}`)
  const { code, status: stated } = JSON.parse(body) as { code?: unknown; status?: unknown }
  if (typeof code !== 'string' || stated !== status) throw new CaseFailure(index, `no problem: ${body}`)
}

/** The slowest of them, each at its best. */
async function confirmSuspects(
  port: number,
  seed: number,
  world: World,
  suspects: number[],
): Promise<number> {
  let slowest = 0
  for (const index of new Set(suspects)) {
    let best = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < TRIES && best > (attempt < 3 ? LATE_MS : MAX_MS); attempt++) {
      const { made } = numbered(index, seed, world)
      const answers =
        made.kind === 'raw'
          ? await sendRaw(port, made.bytes)
          : await sendFramed(port, [made], { socket: undefined })
      best = Math.min(best, Math.max(0, ...answers.map(({ ms }) => ms)))
      if (best > LATE_MS) await sleep(PAUSE_MS)
    }
    if (best > MAX_MS) throw new CaseFailure(index, `took ${best.toFixed(0)} ms at its best of ${TRIES}`)
    slowest = Math.max(slowest, best)
  }
  return slowest
}

export function checkStillWell({ pipeline }: World): void {
  if (pipeline.role('gateway').exitCode !== null) throw new Error('the gateway has ended')
  const log = readFileSync(join(pipeline.dir, 'gateway.log'), 'utf8').split('\n')
  const errors = log.filter((line) => /"level":(50|60)|^\s+at /.test(line))
  if (errors.length > 0) throw new Error(`the gateway logged: ${errors.slice(0, 5).join('\n')}`)
}

/** Which case it was. */
export class CaseFailure extends Error {
  readonly index: number

  constructor(index: number, message: string, options?: ErrorOptions) {
    super(`case ${index}: ${message}`, options)
    this.name = 'CaseFailure'
    this.index = index
  }
}

function failAt(index: number): (error: unknown) => never {
  return (error) => {
    throw new CaseFailure(index, error instanceof Error ? error.message : String(error), { cause: error })
  }
}
