import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  MEME,
  MEME_USDC,
  MEME_WETH,
  samplePair,
  sampleSet,
  sampleToken,
  sampleWindows,
  USDC,
  WETH,
} from '../../../test/support/builders/market-samples.ts'
import type { Change } from '../../domain/change.ts'
import { type Answer, AnswerCache, type Dependency } from './answer-cache.ts'

const DAY = 86_400

class World {
  seq = 1
  time = 20_000 * DAY
  readonly cache: AnswerCache<Answer>

  constructor(maxBytes = 1_000_000) {
    this.cache = new AnswerCache(
      {
        head: () => ({ number: 1, time: this.time, finalNumber: 0 }),
        readEnd: () => ({
          after: { epoch: 'e', sequence: this.seq, link: 0 },
          seq: this.seq,
          time: 0,
        }),
      },
      maxBytes,
    )
  }

  keep(name: string, ...dependsOn: Dependency[]): void {
    this.cache.put('eth', name, { answer: { json: name }, dependsOn })
  }

  /** What is left after a set. */
  after(change: Change, names: readonly string[]): string[] {
    this.cache.apply(sampleSet(++this.seq, [change]))
    return names.filter((name) => this.cache.get(name) !== undefined)
  }
}

test('an answer is kept until something it was made from changes, and nothing else', () => {
  const changes: [Change, Dependency][] = [
    [{ type: 'token', token: sampleToken() }, `token/${MEME}`],
    [{ type: 'tokenRemoved', token: MEME }, `token/${MEME}`],
    [{ type: 'pair', pair: samplePair() }, `pair/${MEME_WETH}`],
    [{ type: 'pair', pair: samplePair() }, `pairsOf/${MEME}`],
    [{ type: 'pair', pair: samplePair() }, `pairsOf/${WETH}`],
    [{ type: 'pairRemoved', pair: MEME_WETH }, `pair/${MEME_WETH}`],
    [{ type: 'windows', windows: sampleWindows() }, `pairWindows/${MEME_WETH}`],
    [{ type: 'windows', windows: sampleWindows() }, `tokenWindows/${MEME}`],
    [{ type: 'windowsRemoved', windows: { pair: MEME_WETH, token: undefined } }, `pairWindows/${MEME_WETH}`],
  ]
  for (const [change, dependency] of changes) {
    const world = new World()
    world.keep('touched', 'token/0x77', dependency)
    world.keep('other', `token/${USDC}`, `pair/${MEME_USDC}`, `pairsOf/${USDC}`, `tokenWindows/${USDC}`)
    assert.deepEqual(world.after(change, ['touched', 'other']), ['other'], `${change.type}, ${dependency}`)
  }
})

test('a change on another chain leaves it alone', () => {
  const world = new World()
  world.keep('answer', `token/${MEME}`)
  world.cache.apply(sampleSet(2, [{ type: 'token', token: sampleToken() }], { chain: 'bsc' }))
  assert.equal(world.cache.get('answer')?.json, 'answer')
})

test('an answer during whose making something changed is given, but not kept', async () => {
  const world = new World()
  const make = (json: string, meanwhile: () => void) => async () => {
    meanwhile()
    return { answer: { json }, dependsOn: [] }
  }
  const changes = make('old', () => {
    world.seq++
  })
  assert.equal((await world.cache.getOrMake('eth', 'a', changes)).json, 'old')
  assert.equal(
    (
      await world.cache.getOrMake(
        'eth',
        'a',
        make('new', () => undefined),
      )
    ).json,
    'new',
  )
  assert.equal(
    (
      await world.cache.getOrMake(
        'eth',
        'a',
        make('never made', () => undefined),
      )
    ).json,
    'new',
  )
})

test('at midnight everything is made anew: changes since then count from another price', () => {
  const world = new World()
  world.keep('answer')
  world.time += DAY
  assert.equal(world.cache.get('answer'), undefined)
})

test('an answer that depends on data outside change sets has a time to live', async () => {
  const { cache } = new World()
  cache.put('eth', 'short', { answer: { json: 'short' }, dependsOn: [], ttlMs: 1 })
  cache.put('eth', 'long', { answer: { json: 'long' }, dependsOn: [], ttlMs: 60_000 })
  await sleep(5)
  assert.equal(cache.get('short'), undefined)
  assert.equal(cache.get('long')?.json, 'long')
  assert.equal(cache.size, 1)
})

test('the cache is bounded and evicts the least recently used entry', () => {
  const world = new World(2_000)
  for (const name of ['a', 'b', 'c']) world.keep(name, `token/${MEME}`)
  assert.notEqual(world.cache.get('a'), undefined)
  world.keep('d', `token/${MEME}`)
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].filter((name) => world.cache.get(name) !== undefined),
    ['a', 'c', 'd'],
  )
  assert.deepEqual(world.after({ type: 'token', token: sampleToken() }, ['a', 'c', 'd']), [])
  assert.equal(world.cache.size, 0)
})

test('cleared: nothing is kept, nor what was being made', async () => {
  const world = new World()
  for (const name of ['a', 'b']) world.keep(name, `token/${MEME}`)
  const making = world.cache.getOrMake('eth', 'c', async () => {
    world.cache.clear()
    return { answer: { json: 'c' }, dependsOn: [`token/${MEME}`] }
  })
  assert.deepEqual(await making, { json: 'c' })
  assert.equal(world.cache.size, 0)
  world.keep('d', `token/${MEME}`)
  assert.deepEqual(world.after({ type: 'token', token: sampleToken() }, ['d']), [])
})
