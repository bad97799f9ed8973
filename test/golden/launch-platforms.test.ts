import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DexEvent } from '../../src/dex/events.ts'
import { PROTOCOLS } from '../../src/dex/protocols.ts'
import { hasRecordings, recordedLogs } from '../support/recorded/recorded-transactions.ts'
import { fourMeme, fourMemeV1 } from './second-opinion/launch-platforms.ts'

const FILE = 'bsc-fourmeme-tokencreate-119483869'

test('a real token of four.meme is created, as viem reads it', { skip: !hasRecordings }, () => {
  const [log, ...others] = recordedLogs(FILE)
  assert.ok(log !== undefined && others.length === 0)
  const topic = log.topics[0] ?? ''
  for (const [name, opinions] of [
    ['four_meme', fourMeme],
    ['four_meme_v1', fourMemeV1],
  ] as const) {
    const expected: DexEvent | string | undefined = opinions.find((each) => each.topic === topic)?.decode(log)
    assert.ok(typeof expected === 'object')
    const protocol = PROTOCOLS[name]
    assert.deepEqual((protocol?.announcements[topic] ?? protocol?.events[topic])?.(log), expected)
  }
})
