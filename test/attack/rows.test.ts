import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { API_KEY } from '../support/builders/test-key.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type Attack, faultsOf } from './attack.ts'
import type { AttackOrder, AttackReport } from './attacker-process.ts'
import { ATTACKS } from './attacks.ts'
import { Child } from './child.ts'
import { type Figures, metric, metricsOf } from './figures.ts'
import type { HonestReport } from './honest-process.ts'
import { AttackMarket } from './market.ts'
import { placeAttackers, placeBystander } from './priority.ts'
import { IS_SMOKE, MAX_RESIDENT_MB, maxP99Ms, ROWS } from './settings.ts'
import { AttackWorld } from './world.ts'

/** Each row alone, and then all of them at once, while honest clients ask and listen. */
const PAIRS = 20
const SETS_PER_SECOND = 10
const [ROW_SECONDS, ALL_SECONDS, CALM_SECONDS] = IS_SMOKE ? [1, 4, 2] : [7, 20, 8]
const SETTLE_SECONDS = IS_SMOKE ? 3 : 40
const SHARE = IS_SMOKE ? 0.2 : 1
const NEWCOMERS_AT_ONCE = 10

let world: AttackWorld
let honest: Child
let attackers: Child
const keys: string[] = []
let calm: Measured | undefined
let atFirst = { sockets: 0, subscriptions: 0 }

before(async () => {
  world = await AttackWorld.start(new AttackMarket(PAIRS))
  for (const index of ATTACKS.keys()) keys.push(await world.attackerKey(index))
  world.trade(SETS_PER_SECOND)
  const { port, market } = world
  honest = new Child('./honest-process.ts', {
    port,
    apiKey: API_KEY,
    pairs: market.pairs,
    tokens: market.tokens,
  })
  attackers = new Child('./attacker-process.ts')
  placeAttackers(attackers.pid)
  await honest.next()
  placeBystander(honest.pid)
  await world.settled(SETTLE_SECONDS)
})

after(async () => {
  honest?.stop()
  attackers?.stop()
  await world?.stop()
})

type Measured = Figures & { readonly honest: HonestReport }

/** What was measured of the gateway and of its honest clients while something was done. */
async function during(work: () => Promise<void>): Promise<Measured> {
  await honest.ask({ reach: world.market.number })
  const watch = await world.watch([honest.pid, process.pid, attackers.pid])
  await work()
  const report = await honest.ask<HonestReport>({ reach: world.market.number })
  return { ...(await watch.end()), honest: report }
}

function textOf(name: string, { honest: report, ...figures }: Measured): string {
  const { requests, pushes, newcomers, requestMs, pushMs } = report
  const loop = `loop p99 ${figures.loopP99Ms.toFixed(1)} ms (max ${figures.loopMaxMs.toFixed(0)})`
  const [clients, market, others] = figures.bystandersWaited.map(percent)
  const waited = `waited for a CPU: gateway ${percent(figures.waited)}, clients ${clients}, market ${market}, attackers ${others}`
  const memory = `memory +${figures.growthMb.toFixed(1)} MB (${figures.residentMb.toFixed(0)})`
  const times = `p99 ${requestMs.p99.toFixed(0)} ms and ${pushMs.p99.toFixed(0)} ms`
  return `${name}: ${loop}, ${memory}; ${requests} requests, ${pushes} pushes (${times}), ${newcomers} newcomers; ${waited}`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function assertUnharmed({ honest: report, loopP99Ms, residentMb }: Measured): void {
  assert.deepEqual([report.failures, report.shown], [0, []])
  assert.ok(report.requests > 0 && report.pushes > 0 && report.newcomers > 0, JSON.stringify(report))
  assert.ok(residentMb <= MAX_RESIDENT_MB, `memory peaked at ${residentMb} MB`)
  if (IS_SMOKE) return
  assert.ok(calm !== undefined, 'nothing to compare with: the calm row did not run')
  const compared = [
    ['event loop', loopP99Ms, calm.loopP99Ms],
    ['requests', report.requestMs.p99, calm.honest.requestMs.p99],
    ['pushes', report.pushMs.p99, calm.honest.pushMs.p99],
  ] as const
  for (const [what, ms, calmMs] of compared)
    assert.ok(ms <= maxP99Ms(calmMs), `p99 of the ${what} went from ${calmMs} to ${ms} ms`)
}

/** Carries the attacks out at once; each must come to the end that is defined for it. */
async function attack(name: string, attacks: readonly Attack[], seconds: number): Promise<void> {
  const { port, market } = world
  const orders = attacks.map((each): AttackOrder => {
    const index = ATTACKS.indexOf(each)
    const target = { port, apiKey: keys[index] ?? '', pairs: market.pairs, network: `127.${10 + index}.0` }
    return { name: each.name, target: { ...target, seconds, share: SHARE } }
  })
  let reports: readonly AttackReport[] = []
  const measured = await during(async () => {
    reports = await attackers.ask<readonly AttackReport[]>(orders)
  })
  console.log(textOf(name, measured))
  for (const { name: each, counts } of reports) console.log(`  ${each}: ${JSON.stringify(counts)}`)
  assert.ok(world.isAlive, 'the gateway is gone')
  for (const [index, each] of attacks.entries())
    assert.deepEqual([each.name, faultsOf(each, reports[index]?.counts ?? {})], [each.name, []])
  assertUnharmed(measured)
}

test('nobody attacks', async () => {
  const measured = await during(() => sleep(CALM_SECONDS * 1_000))
  console.log(textOf('calm', measured))
  calm = measured
  atFirst = await openThings()
  assertUnharmed(measured)
})

// What takes long by nature is part of the whole in any case.
const alone = IS_SMOKE ? ATTACKS.filter(({ name }) => name !== 'slow handshakes') : ATTACKS
const row = (name: string, attacks: readonly Attack[], seconds: number): void => {
  const skip = ROWS !== undefined && !ROWS.includes(name)
  test(name, { skip }, () => attack(name, attacks, seconds))
}
for (const each of alone) row(each.name, [each], ROW_SECONDS)

row('all at once', ATTACKS, ALL_SECONDS)

test('nothing of it stays', async () => {
  const measured = await during(() => sleep(CALM_SECONDS * 1_000))
  console.log(textOf('afterwards', measured))
  assertUnharmed(measured)
  // Newcomers come and go; of attackers there were hundreds.
  const isNear = (now: number, before: number): boolean => Math.abs(now - before) <= NEWCOMERS_AT_ONCE
  await waitFor('what attackers opened to be closed', async () => {
    const { sockets, subscriptions } = await openThings()
    const isGone = isNear(sockets, atFirst.sockets) && isNear(subscriptions, atFirst.subscriptions)
    return isGone ? true : undefined
  })
})

async function openThings(): Promise<{ sockets: number; subscriptions: number }> {
  const text = await metricsOf(world.adminUrl)
  const count = (name: string): number => metric(text, `chaintape_gateway_${name}`)
  return { sockets: count('sockets'), subscriptions: count('subscriptions') }
}
