import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, ask, QuotaWorld, tally } from './quota-world.ts'

const GATEWAYS = 4
const PER_SECOND = 40
const BURST = 40
const SECONDS = 4
/** Costs nothing, so that only the rate is asked of Redis. */
const PATH = '/v2/chains'

let world: QuotaWorld

before(async () => {
  world = await QuotaWorld.start({
    gateway: { port: 0 },
    plans: { limited: { requests_per_second: PER_SECOND, burst: BURST, cu_per_month: 1_000_000 } },
  })
  await world.startGateways(GATEWAYS)
})

after(() => world?.stop())

/** Far more than the plan allows, on all gateways alike; gives what was admitted, and in how many seconds. */
async function flood(apiKey: string): Promise<{ answers: Answer[]; seconds: number }> {
  const answers: Answer[] = []
  const startedAt = performance.now()
  const clients = Array.from({ length: 2 * GATEWAYS }, async (_, index) => {
    while (performance.now() - startedAt < SECONDS * 1_000) {
      answers.push(await ask(world.gateway(index), apiKey, PATH))
      await sleep(10)
    }
  })
  await Promise.all(clients)
  return { answers, seconds: (performance.now() - startedAt) / 1_000 }
}

function assertWithin(admitted: number, allowed: number): void {
  console.log(`${admitted} admitted, the plan allows ${Math.round(allowed)}`)
  assert.ok(Math.abs(admitted - allowed) <= 0.1 * allowed, `${admitted} of ${allowed}`)
}

test('four gateways together admit what the plan allows, within a tenth', async () => {
  const { apiKey } = await world.createKey('limited')
  const { answers, seconds } = await flood(apiKey)
  const { '200': admitted = 0, '429 rate_limited': refused = 0, ...others } = tally(answers)
  assert.deepEqual(others, {})
  assert.ok(refused > 0)
  assertWithin(admitted, BURST + PER_SECOND * seconds)
  for (const { status, headers } of answers)
    if (status === 429) assert.ok(Number(headers.get('retry-after')) >= 1)
})

test('the burst is one burst, wherever it arrives', async () => {
  const { apiKey } = await world.createKey('limited')
  const startedAt = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 400 }, (_, index) => ask(world.gateway(index), apiKey, PATH)),
  )
  const seconds = (performance.now() - startedAt) / 1_000
  const { '200': admitted = 0 } = tally(answers)
  assert.ok(
    admitted >= 0.9 * BURST && admitted <= BURST + PER_SECOND * seconds,
    `${admitted} in ${seconds} s`,
  )
})

test('while Redis is away each gateway admits its share', async () => {
  const { apiKey } = await world.createKey('limited')
  // Each gateway learns of the others.
  for (let round = 0; round < 3; round++) {
    for (let index = 0; index < GATEWAYS; index++)
      assert.equal((await ask(world.gateway(index), apiKey, PATH)).status, 200)
  }
  await sleep(1_000)
  await world.stack.kill('redis', 'SIGSTOP')
  try {
    const { answers, seconds } = await flood(apiKey)
    const { '200': admitted = 0, '429 rate_limited': refused = 0, ...others } = tally(answers)
    assert.deepEqual(others, {})
    assert.ok(refused > 0)
    assertWithin(admitted, BURST + PER_SECOND * seconds)
  } finally {
    await world.stack.kill('redis', 'SIGCONT')
  }
})
