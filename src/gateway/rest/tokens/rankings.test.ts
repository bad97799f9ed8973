import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { TRENDING_FACTORS, type TrendingFactors } from '../../../domain/trending.ts'
import type { Ranking } from './rank-tokens.ts'
import { createRankings, READER_MS, REFRESH_MS } from './rankings.ts'

const factors = Object.fromEntries(TRENDING_FACTORS.map((name) => [name, 0])) as TrendingFactors

/** Each ranking that is made names itself; those of a chain that is held are not finished before they are let go. */
class Setup {
  readonly clock = { ms: 1_000_000 }
  readonly warn = mock.fn()
  made = 0
  held: PromiseWithResolvers<void> | undefined
  fails = false
  readonly rankings

  constructor(maxReaders?: number) {
    this.rankings = createRankings({
      rank: (chain) => this.#rank(chain),
      generationOf: () => 1,
      now: () => this.clock.ms,
      logger: { warn: this.warn },
      ...(maxReaders === undefined ? {} : { maxReaders }),
    })
  }

  async #rank(chain: string): Promise<Ranking> {
    const number = ++this.made
    await this.held?.promise
    if (this.fails) throw new Error('no')
    return [{ address: `${chain} ${number}`, score: 1, factors }]
  }

  async read(readerId: string, page: number, chain = 'eth'): Promise<string | undefined> {
    return (await this.rankings.of(readerId, chain, page))[0]?.address
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a ranking is made on request, once for all clients, and refreshed in the background', async () => {
  const setup = new Setup()
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((id) => setup.read(id, 0))), Array(3).fill('eth 1'))
  setup.clock.ms += REFRESH_MS - 1
  assert.equal(await setup.read('a', 0), 'eth 1')
  setup.clock.ms += 1
  setup.held = Promise.withResolvers()
  assert.equal(await setup.read('a', 0), 'eth 1', 'nobody waits for the next one')
  assert.equal(await setup.read('b', 0), 'eth 1')
  setup.held.resolve()
  await settled()
  assert.equal(await setup.read('a', 0), 'eth 2')
  assert.equal(setup.made, 2)
  assert.equal(await setup.read('a', 0, 'bsc'), 'bsc 3')
})

test('after a pause the first client waits for a new ranking, and gets an error if there is none', async () => {
  const setup = new Setup()
  await setup.read('a', 0)
  setup.clock.ms += 60_000
  assert.equal(await setup.read('a', 0), 'eth 2')
  setup.clock.ms += 60_000
  setup.fails = true
  await assert.rejects(setup.read('a', 0), /no/)
  setup.fails = false
  assert.equal(await setup.read('a', 0), 'eth 4')
})

test('a failed background refresh is logged, and clients do not see it', async () => {
  const setup = new Setup()
  await setup.read('a', 0)
  setup.clock.ms += REFRESH_MS
  setup.fails = true
  assert.equal(await setup.read('a', 0), 'eth 1')
  await settled()
  assert.equal(setup.warn.mock.callCount(), 1)
})

test('later pages are of the ranking that the first one was of; each reader and chain has its own', async () => {
  const setup = new Setup()
  assert.equal(await setup.read('a', 0), 'eth 1')
  setup.clock.ms += 60_000
  assert.equal(await setup.read('b', 0), 'eth 2')
  assert.deepEqual([await setup.read('a', 1), await setup.read('b', 1)], ['eth 1', 'eth 2'])
  assert.equal(await setup.read('a', 1, 'bsc'), 'bsc 3')
  assert.equal(await setup.read('a', 0), 'eth 2', 'who begins anew sees the newest')
  assert.equal(await setup.read('a', 7), 'eth 2')
})

test('a client that starts in the middle, or returns too late, gets the latest ranking and keeps it', async () => {
  const setup = new Setup()
  assert.equal(await setup.read('a', 3), 'eth 1')
  setup.clock.ms += READER_MS - 1
  assert.equal(await setup.read('a', 4), 'eth 1')
  setup.clock.ms += 1
  assert.equal(await setup.read('a', 5), 'eth 2')
  setup.clock.ms += 60_000
  assert.equal(await setup.read('a', 6), 'eth 2')
})

test('only so many readers are remembered: the first to have begun are forgotten', async () => {
  const setup = new Setup(2)
  for (const id of ['a', 'b', 'c']) await setup.read(id, 0)
  setup.clock.ms += 60_000
  assert.equal(await setup.read('d', 0), 'eth 2')
  assert.deepEqual([await setup.read('c', 1), await setup.read('a', 1)], ['eth 1', 'eth 2'])
})
