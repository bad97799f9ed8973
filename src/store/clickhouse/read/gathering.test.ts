import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gathering } from './gathering.ts'

/** The test decides when a query is answered. */
function gatherings(maxIds = 100) {
  const asked: { ids: readonly string[]; answer: (found: readonly string[]) => void; fail: () => void }[] = []
  const gathering = new Gathering<string>(maxIds, (ids) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>()
    asked.push({
      ids,
      answer: (found) => resolve(new Map(found.map((id) => [id, `<${id}>`]))),
      fail: () => reject(new Error('away')),
    })
    return promise
  })
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return { gathering, asked, settled }
}

test('ids requested during a query are batched into the next one, including the same id', async () => {
  const { gathering, asked, settled } = gatherings()
  const first = [gathering.get('a'), gathering.get('b')]
  await settled()
  const second = [gathering.get('a'), gathering.get('c'), gathering.get('c')]
  await settled()
  assert.deepEqual(
    asked.map(({ ids }) => ids),
    [['a', 'b']],
  )
  asked[0]?.answer(['a'])
  assert.deepEqual(await Promise.all(first), ['<a>', undefined])
  await settled()
  assert.deepEqual(asked[1]?.ids, ['a', 'c'])
  asked[1]?.answer(['a', 'c'])
  assert.deepEqual(await Promise.all(second), ['<a>', '<c>', '<c>'])
})

test('a failed query rejects its callers, and the next one starts', async () => {
  const { gathering, asked, settled } = gatherings()
  const first = gathering.get('a')
  await settled()
  const second = gathering.get('a')
  asked[0]?.fail()
  await assert.rejects(first, /away/)
  await settled()
  asked[1]?.answer(['a'])
  assert.equal(await second, '<a>')
})

test('a query has at most the maximum number of ids', async () => {
  const { gathering, asked, settled } = gatherings(2)
  const all = ['a', 'b', 'c'].map((id) => gathering.get(id))
  await settled()
  asked[0]?.answer(['a', 'b'])
  await settled()
  asked[1]?.answer(['c'])
  assert.deepEqual(await Promise.all(all), ['<a>', '<b>', '<c>'])
  assert.deepEqual(
    asked.map(({ ids }) => ids),
    [['a', 'b'], ['c']],
  )
})
