import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Token } from '../../src/domain/change.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { type HistoryReader, openHistoryReader } from '../../src/store/clickhouse/read/history-reader.ts'
import type { TokenRank } from '../../src/store/document-reads.ts'
import { storySets } from '../support/builders/story.ts'
import { createWriterRig, type WriterRig } from '../support/rigs/writer-rig.ts'

/** What a gateway reads of ClickHouse while Redis is away is what Redis would say. */

const CHAIN = 'eth'
const story = storySets({ chain: CHAIN, seed: 61, messages: 150 })
const launched = story.sets.map((set) => ({
  ...set,
  changes: set.changes.map((change) =>
    change.type === 'token' ? { ...change, token: onPlatform(change.token) } : change,
  ),
}))

let stack: Stack
let rig: WriterRig
let reader: HistoryReader

before(async () => {
  stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
  rig = await createWriterRig(stack)
  reader = openHistoryReader(rig.config.clickhouse)
  await rig.start()
  await rig.publish(CHAIN, launched)
  await rig.written(CHAIN, launched)
})

after(async () => {
  await reader?.close()
  await rig?.close()
  await stack?.stop()
})

/** By its address: every stage that a token of a launch platform can be in, or none. */
function onPlatform(token: Token): Token {
  const stage = Number.parseInt(token.address.slice(-2), 16) % 4
  if (stage === 0) return { ...token, platform: undefined }
  return {
    ...token,
    platform: {
      name: 'pump_fun',
      createdAt: 1_700_000_000 + stage,
      progressPpm: stage * 400_000,
      graduatedAt: stage === 3 ? 1_700_000_500 : undefined,
    },
  }
}

function addressesOf(type: 'pair' | 'token'): string[] {
  const found = new Set<string>()
  for (const { changes } of launched) {
    for (const change of changes) {
      if (type === 'pair' && change.type === 'pair') found.add(change.pair.address)
      if (type === 'token' && change.type === 'token') found.add(change.token.address)
    }
  }
  return [...found]
}

test('documents', async () => {
  const { hot } = rig
  const { documents } = reader
  const unknown = `0x${'0'.repeat(40)}`
  const [pairs, tokens] = (['pair', 'token'] as const).map((type) =>
    [...addressesOf(type), unknown].map((address) => ({ chain: CHAIN, address })),
  ) as [{ chain: string; address: string }[], { chain: string; address: string }[]]
  assert.ok(pairs.length > 3 && tokens.length > 3)
  assert.deepEqual(await documents.pairs(pairs), await hot.pairs(pairs))
  assert.deepEqual(await documents.tokens(tokens), await hot.tokens(tokens))
  assert.deepEqual(await documents.contracts(tokens), await hot.contracts(tokens))
  const windows = [
    ...pairs.map((ref) => ({ ...ref, kind: 'pair' as const })),
    ...tokens.map((ref) => ({ ...ref, kind: 'token' as const })),
  ]
  assert.deepEqual(await documents.windows(windows), await hot.windows(windows))
})

test('ranks', async () => {
  const { hot } = rig
  const { documents } = reader
  for (const token of addressesOf('token')) {
    const [stored, read] = await Promise.all([hot, documents].map((each) => each.topPairs(CHAIN, token, 100)))
    assert.deepEqual(new Set(read), new Set(stored))
  }
  const ranks: TokenRank[] = ['volume_24h', 'fdv', 'main_pair_tvl', 'meme/volume_24h', 'meme/main_pair_tvl']
  for (const group of ['pump_fun_in', 'pump_fun_out'] as const) {
    ranks.push(`${group}/volume_24h`, `${group}/main_pair_tvl`, `${group}/new`, `${group}/almost`)
  }
  const seen = new Set<string>()
  for (const rank of ranks) {
    const stored = await hot.topTokens(CHAIN, rank, 100)
    assert.deepEqual(await documents.topTokens(CHAIN, rank, 100), stored, rank)
    if (stored.length > 0) seen.add(rank)
    assert.deepEqual(await documents.topTokens(CHAIN, rank, 1), stored.slice(0, 1), rank)
  }
  assert.ok(seen.size > 8, [...seen].join(', '))
  assert.deepEqual(await documents.topTokens(CHAIN, 'fdv', 0), [])
})
