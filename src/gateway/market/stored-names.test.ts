import assert from 'node:assert/strict'
import test from 'node:test'
import type { HotReads } from './guarded-hot.ts'
import { type HistoryReads, servedHistory, servedHot } from './stored-names.ts'

const nameOf = (chain: string): string => (chain === 'eth' ? 'eth@2' : chain)

/** Answers every question with the question itself. */
const echo = new Proxy({} as Record<string, unknown>, {
  get: (_, name) => (name === 'documents' ? echo : async (...question: unknown[]) => question),
})

test('the stores are asked by stored name', async () => {
  const hot = servedHot(echo as unknown as HotReads, nameOf)
  const refs = [
    { chain: 'eth', address: '0x1' },
    { chain: 'bsc', address: '0x2' },
  ]
  const stored = [{ chain: 'eth@2', address: '0x1' }, refs[1]]
  assert.deepEqual(await hot.pairs(refs), [stored])
  assert.deepEqual(await hot.topTokens('eth', 'fdv', 3), ['eth@2', 'fdv', 3])
  const history = servedHistory(echo as unknown as HistoryReads, nameOf)
  assert.deepEqual(await history.marker('eth'), ['eth@2'])
  assert.deepEqual(await history.documents.tokens(refs), [stored])
  const question = { chain: 'eth', token: '0x1', upTo: 5, limit: 1 }
  assert.deepEqual(await history.topHolders(question), [{ ...question, chain: 'eth@2' }])
})

test('matches carry the public chain', async () => {
  const asked: (readonly string[])[] = []
  const history = servedHistory(
    {
      tokenMatches: async ({ chains }: { chains: readonly string[] }) => {
        asked.push(chains)
        return chains.map((chain) => ({ chain, address: '0x1' }))
      },
      documents: {},
    } as unknown as HistoryReads,
    nameOf,
  )
  const question = { chains: ['eth', 'bsc'], skeleton: 'a', lastKind: 'word', limit: 5 } as const
  assert.deepEqual(await history.tokenMatches(question), [
    { chain: 'eth', address: '0x1' },
    { chain: 'bsc', address: '0x1' },
  ])
  assert.deepEqual(asked, [['eth@2', 'bsc']])
})
