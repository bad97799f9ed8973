import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, ask, PAIR_CU, PAIR_PATH, QuotaWorld, tally } from './quota-world.ts'

const GATEWAYS = 4
const WORTH = 100
const LEASE_CU = 50
const UNKNOWN_PAIR = `/v2/pairs/0x${'9'.repeat(40)}-eth`

let world: QuotaWorld

before(async () => {
  const fast = { requests_per_second: 100_000, burst: 100_000 }
  world = await QuotaWorld.start({
    // Without credit, so that every unit is one that Redis has granted.
    gateway: { port: 0, lease_cu: LEASE_CU, overdraft_seconds: 0 },
    plans: {
      hundred: { ...fast, cu_per_month: WORTH * PAIR_CU },
      plenty: { ...fast, cu_per_month: 10 ** 9 },
    },
  })
  await world.startGateways(GATEWAYS)
})

after(() => world?.stop())

/** What the key has used, by its own word and by the operator's. */
async function usageOf({ apiKey, id }: { apiKey: string; id: string }) {
  const { body } = await ask(world.gateway(0), apiKey, '/v2/usage')
  // A gateway writes its usage down every second.
  await sleep(1_500)
  const { stdout } = await world.keys('show-usage', id)
  // At midnight there may be two rows.
  const rows = [...stdout.matchAll(/ GET \/v2\/pairs\/:pairId +(\d+) +(\d+)$/gm)]
  const sum = (column: number): number => rows.reduce((total, row) => total + Number(row[column]), 0)
  const [, total] = /^total +\d+ +(\d+)$/m.exec(stdout) ?? []
  assert.equal(Number(total), sum(2))
  return { used: body['cu_used'], remaining: body['cu_remaining'], requests: sum(1), cu: sum(2) }
}

const SPENT = { used: WORTH * PAIR_CU, remaining: 0, requests: WORTH, cu: WORTH * PAIR_CU }

test('1,000 parallel requests on 4 gateways, units for 100: exactly 100 succeed', async () => {
  const key = await world.createKey('hundred')
  const started = Date.now()
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) => ask(world.gateway(i), key.apiKey)),
  )
  console.log(`1,000 requests answered in ${Date.now() - started} ms`)
  assert.deepEqual(tally(answers), { 200: WORTH, '429 quota_exhausted': 900 })
  const reset = Number(answers[0]?.headers.get('x-cu-reset'))
  for (const { status, headers } of answers) {
    assert.equal(headers.get('x-cu-cost'), status === 200 ? `${PAIR_CU}` : '0')
    if (status === 200) continue
    const retryAfter = Number(headers.get('retry-after'))
    assert.ok(retryAfter > 0 && retryAfter <= reset - Date.now() / 1_000 + 60, `retry after ${retryAfter}`)
  }
  assert.deepEqual(await usageOf(key), SPENT)
})

test('requests that fail cost nothing, however they are mixed in', async () => {
  const key = await world.createKey('hundred')
  const paths = Array.from({ length: 600 }, (_, i) => (i % 2 === 0 ? PAIR_PATH : UNKNOWN_PAIR))
  const answers = await Promise.all(paths.map((path, i) => ask(world.gateway(i >> 1), key.apiKey, path)))
  const { '200': succeeded = 0 } = tally(answers)
  assert.ok(succeeded <= WORTH, `${succeeded} succeeded`)
  // While others were under way some may have been refused that would have fitted in the end: they come again.
  const more: Answer[] = []
  for (let i = 0; i < 150; i++) more.push(await ask(world.gateway(i), key.apiKey))
  assert.equal(succeeded + (tally(more)['200'] ?? 0), WORTH)
  assert.deepEqual(await usageOf(key), SPENT)
})

test('the last unit can be spent at any gateway, wherever the others were', async () => {
  const key = await world.createKey('hundred')
  const answers: Answer[] = []
  // Each gateway takes a lease and is then left alone.
  for (let i = 0; i < GATEWAYS; i++) answers.push(await ask(world.gateway(i), key.apiKey))
  for (let i = 0; i < WORTH; i++) answers.push(await ask(world.gateway(0), key.apiKey))
  assert.deepEqual(tally(answers), { 200: WORTH, '429 quota_exhausted': GATEWAYS })
  assert.equal(
    answers.findIndex(({ status }) => status !== 200),
    WORTH,
  )
  assert.deepEqual(await usageOf(key), SPENT)
})

test('a request in the middle of a lease does not ask Redis', async () => {
  const { apiKey } = await world.createKey('plenty')
  for (let i = 0; i < 5; i++) assert.equal((await ask(world.gateway(0), apiKey)).status, 200)
  await world.stack.kill('redis', 'SIGSTOP')
  try {
    // Neither to be metered nor to be answered: the answer is still true.
    assert.equal((await ask(world.gateway(0), apiKey)).status, 200)
    // This gateway never had a lease for the key.
    const other = await ask(world.gateway(1), apiKey)
    assert.deepEqual([other.status, other.code], [500, 'metering_unavailable'])
    assert.equal(other.headers.get('retry-after'), '1')
  } finally {
    await world.stack.kill('redis', 'SIGCONT')
  }
})

test('Redis killed in mid-run, all its data lost: overspent is at most one lease per gateway', async () => {
  const key = await world.createKey('hundred')
  const answers: Answer[] = []
  const isOver = (): boolean => (tally(answers)['429 quota_exhausted'] ?? 0) >= 200
  const clients = Array.from({ length: 40 }, async (_, i) => {
    while (!isOver() && answers.length < 20_000) answers.push(await ask(world.gateway(i), key.apiKey))
  })
  const succeeded = (): number => tally(answers)['200'] ?? 0
  while (succeeded() < 40) await sleep(1)
  await world.stack.kill('redis')
  const atKill = succeeded()
  await sleep(500)
  const whileDead = succeeded() - atKill
  await world.stack.restart('redis')
  await Promise.all(clients)
  const counts = tally(answers)
  console.log(`when Redis was killed ${atKill} had succeeded; in the end`, counts)
  assert.ok(whileDead <= 40, `${whileDead} answers were under way`)
  assert.ok((counts['500 store_unavailable'] ?? 0) + (counts['500 metering_unavailable'] ?? 0) > 0)
  const overspent = (succeeded() - WORTH) * PAIR_CU
  assert.ok(overspent >= 0, `${-overspent} CU were lost`)
  assert.ok(overspent <= GATEWAYS * LEASE_CU, `${overspent} CU too many were spent`)
  const { requests, cu } = await usageOf(key)
  assert.deepEqual([requests, cu], [succeeded(), succeeded() * PAIR_CU])
})

test('a gateway returns its lease at shutdown', async () => {
  const key = await world.createKey('hundred')
  await world.startGateways(1)
  const leaving = world.gateway(GATEWAYS)
  assert.equal((await ask(leaving, key.apiKey)).status, 200)
  await leaving.process.kill('SIGTERM')
  world.gateways.splice(GATEWAYS, 1)
  const answers: Answer[] = []
  for (let i = 0; i < WORTH; i++) answers.push(await ask(world.gateway(i), key.apiKey))
  assert.deepEqual(tally(answers), { 200: WORTH - 1, '429 quota_exhausted': 1 })
  assert.deepEqual(await usageOf(key), SPENT)
})
