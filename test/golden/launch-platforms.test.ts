import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROTOCOLS } from '../../src/dex/protocols.ts'
import { allTransactions, hasRecordings, recordedLogs } from '../support/recorded/recorded-transactions.ts'
import { fourMeme, fourMemeV1 } from './second-opinion/launch-platforms.ts'
import type { Opinion } from './second-opinion/opinion.ts'

const FILE = 'bsc-fourmeme-tokencreate-119483869'
const ZORA_TRANSACTION = '0x13020b28e7f28558b9cf07a1be11bc898d3de99d8414a8b9a4e7b60a4e4cb7a3'

test('a real token of four.meme is created, as viem reads it', { skip: !hasRecordings }, () => {
  const [log, ...others] = recordedLogs(FILE)
  assert.ok(log !== undefined && others.length === 0)
  const topic = log.topics[0] ?? ''
  for (const [name, opinions] of [
    ['four_meme', fourMeme],
    ['four_meme_v1', fourMemeV1],
  ] as const) {
    const expected: ReturnType<Opinion['decode']> = opinions.find((each) => each.topic === topic)?.decode(log)
    assert.ok(typeof expected === 'object')
    const protocol = PROTOCOLS[name]
    assert.deepEqual((protocol?.announcements[topic] ?? protocol?.events[topic])?.(log), expected)
  }
})

test('a real coin of Zora is launched in the block of its pool', { skip: !hasRecordings }, () => {
  const transactions = allTransactions().filter(({ hash }) => hash === ZORA_TRANSACTION)
  const logs = transactions.flatMap((transaction) => transaction.logs)
  const launches = logs.flatMap((log) => PROTOCOLS['zora']?.tokenEvents?.[log.topics[0] ?? '']?.(log) ?? [])
  const pools = logs.flatMap(
    (log) => PROTOCOLS['uniswap_v4']?.announcements[log.topics[0] ?? '']?.(log) ?? [],
  )
  assert.deepEqual(launches, [{ type: 'tokenLaunched', token: '0x253fc97e16d8741bd4ff295a2a2d6e9ee2741d3c' }])
  assert.ok(pools.some(({ tokens }) => tokens.includes(launches[0]?.token ?? '')))
})
