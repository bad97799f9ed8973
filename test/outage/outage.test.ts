import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { Redis } from 'ioredis'
import type { Change } from '../../src/domain/change.ts'
import type { Stack } from '../../src/sandbox/servers/stack.ts'
import { decodeChangeSet, encodeChangeSet } from '../../src/wire/change-codec.ts'
import { withLogs } from '../support/builders/test-key.ts'
import { sameDocuments, sameRows } from '../support/reference/same-facts.ts'
import { kindsOf, storedDocuments, storedRows } from '../support/reference/store-dump.ts'
import { readAll } from '../support/rigs/log-reading.ts'
import { API_KEY } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { WsClient } from '../support/rigs/ws-client.ts'
import { nameOf, type Outage, Outages } from './outage.ts'
import { newestCandlesOnly, swapIds } from './stored-market.ts'
import { OutageWorld } from './world.ts'

type Rows = ReturnType<typeof sameRows>

/** CHAINTAPE_OUTAGE=smoke: each server dead once, and Redis hung, for a short time. */
const isSmoke = process.env['CHAINTAPE_OUTAGE'] === 'smoke'
const SECONDS = Number(process.env['CHAINTAPE_OUTAGE_SECONDS'] ?? (isSmoke ? 4 : 60))
const SMOKE: readonly Outage[] = [
  { clickhouse: 'dead' },
  { redis: 'dead' },
  { redis: 'hung' },
  { nats: 'dead' },
]
const OUTAGES: readonly Outage[] = [
  ...SMOKE,
  { clickhouse: 'hung' },
  { nats: 'hung' },
  { clickhouse: 'dead', redis: 'dead' },
  { clickhouse: 'hung', nats: 'dead' },
  { redis: 'dead', nats: 'hung' },
]

let world: OutageWorld
let watcher: WsClient
let outages: Outages
let firstBlock: number
const subscriptions = new Map<string, number>()

before(async () => {
  world = await OutageWorld.start()
  const { scenario } = world
  watcher = await WsClient.connect(world.gatewayUrl, API_KEY)
  await waitFor('the pairs', async () => {
    const { status } = await world.ask({ path: `/v2/pairs/${scenario.tokenPair}-local` })
    return status === 200 ? true : undefined
  })
  firstBlock = (await scenario.market.head()).number + 1
  for (const pair of [scenario.tokenPair, scenario.stablePair]) {
    subscriptions.set(pair, await watcher.subscribe(['tx', pair, 'local']))
  }
  outages = new Outages(world, watcher)
  await world.startLoad()
})

after(async () => {
  watcher?.close()
  await world?.stop()
})

for (const outage of isSmoke ? SMOKE : OUTAGES) {
  test(`${nameOf(outage)} for ${SECONDS} s`, async () => {
    console.log(`${nameOf(outage)}: ${await outages.run(outage, SECONDS)}`)
  })
}

test('FLUSHALL under load', async () => {
  console.log(`FLUSHALL: ${await outages.flushAll(() => flushAll(world.stack))}`)
})

test('every response was defined, and every number was right', async () => {
  await world.stopLoad()
  const { answers, compared, faults } = world.load
  console.log(`${answers.length} answers, ${compared} of them compared with what was true at their block`)
  assert.deepEqual(faults.slice(0, 20), [], `${faults.length} faults`)
  outages.expectNoOtherFailure()
  await world.caughtUp()
})

test('every swap was pushed, in order, once', async () => {
  for (const [pair, subscription] of subscriptions) {
    const expected = await swapIds(world.stack.rpcUrl, pair, firstBlock)
    const pushed = (): string[] =>
      watcher
        .pushes(subscription)
        .map(({ result }) => String((result?.['tx'] as { id?: unknown } | undefined)?.id))
    await waitFor(`${expected.length} pushes`, () => (pushed().length >= expected.length ? true : undefined))
    assert.deepEqual(pushed(), expected)
    console.log(`${expected.length} swaps of ${pair} pushed`)
  }
  assert.ok(watcher.isOpen)
})

test('the key has used exactly what its answers cost', async () => {
  const { body } = await world.ask({ path: '/v2/usage' })
  const { days } = body as { days: { operations: { cu: number }[] }[] }
  const used = days.flatMap(({ operations }) => operations.map(({ cu }) => cu))
  const costs = world.load.answers.map(({ cost }) => cost)
  assert.equal(sum(used), sum(costs) + world.paid)
  console.log(`${sum(used)} CU used and paid`)
})

test('FLUSHALL while nothing is traded', async () => {
  await flushAll(world.stack)
  await waitFor('Redis to be filled again', async () =>
    (await documents(world.stack, 'stormy')).size > 0 ? true : undefined,
  )
  await world.caughtUp()
})

test('rows, documents and CHANGES equal those of the undisturbed run', async () => {
  const [stormy, calm] = await waitFor('the writers to be done', async () => {
    const stored = await Promise.all([storedRows(world.stack, 'stormy'), storedRows(world.calmStack, 'calm')])
    const both = stored.map(sameRows) as [Rows, Rows]
    const counts = both.map((rows) => Object.values(rows).map(({ length }) => length))
    return String(counts[0]) === String(counts[1]) ? both : undefined
  })
  for (const [table, rows] of Object.entries(calm)) {
    const hash = hashOf(JSON.stringify(rows))
    console.log(`${table}: ${rows.length} rows, sha256 ${hash.slice(0, 16)}`)
    assert.equal(hashOf(JSON.stringify(stormy[table])), hash, `${table} differs`)
  }
  const swaps = await Promise.all(
    [world.scenario.tokenPair, world.scenario.stablePair].map((pair) => swapIds(world.stack.rpcUrl, pair, 0)),
  )
  assert.equal(calm['trades']?.length, swaps.flat().length)

  const [hot, calmHot] = await Promise.all([
    documents(world.stack, 'stormy'),
    documents(world.calmStack, 'calm'),
  ])
  assert.deepEqual(hot, calmHot)
  assert.deepEqual(kindsOf(hot.keys()), ['candles', 'pair', 'rank', 'token', 'windows'])

  const [changes, calmChanges] = await Promise.all([
    changesHash(world.stack, 'stormy'),
    changesHash(world.calmStack, 'calm'),
  ])
  assert.deepEqual(changes, calmChanges)
  console.log(`${hot.size} documents, ${changes.count} change sets equal`)
})

async function flushAll({ redisUrl }: Stack): Promise<void> {
  const redis = new Redis(redisUrl)
  await redis.flushall()
  redis.disconnect()
}

/** The head names the log it was taken from, and each pipeline has its own. */
async function documents(stack: Stack, prefix: string): Promise<Map<string, unknown>> {
  const stored = Object.entries(sameDocuments(await storedDocuments(stack, prefix)))
  return new Map(
    stored
      .filter(([key]) => key !== 'head:local')
      .map(([key, value]) => [key, key.startsWith('candles:') ? newestCandlesOnly(value) : value]),
  )
}

async function changesHash({ natsUrls }: Stack, prefix: string): Promise<{ count: number; hash: string }> {
  return withLogs({ urls: natsUrls, prefix }, async (logs) => {
    const messages = await readAll(await logs.open('CHANGES', 'local'))
    const hash = createHash('sha256')
    for (const { body } of messages) {
      const set = decodeChangeSet(body)
      hash.update(encodeChangeSet({ ...set, changes: set.changes.filter(isOfItsBlock) }))
    }
    return { count: messages.length, hash: hash.digest('hex') }
  })
}

/** What is found out in the background comes with whatever block there is, and into the documents of tokens. */
function isOfItsBlock({ type }: Change): boolean {
  return type !== 'token' && type !== 'balance' && type !== 'contract'
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
