import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldChain, readChains } from '../../test/support/recorded/recorded-chains.ts'

const COMMAND = 'to accept: npm run record:engine'

test('the engine publishes the recorded messages, byte for byte', () => {
  const chains = readChains()
  assert.ok(chains.length > 30)
  for (const [at, { output: expected, ...input }] of chains.entries()) {
    const { output: actual, sets } = foldChain(input)
    assert.deepEqual(actual.codes, expected.codes, `errors of chain ${at} (${COMMAND})`)
    if (expected.sets !== undefined) assert.deepEqual(sets, expected.sets, `chain ${at} (${COMMAND})`)
    for (const [index, digest] of actual.digests.entries()) {
      const set = sets[index]
      const name = set === undefined ? 'explanations' : `message ${set.seq} (${set.cause})`
      assert.equal(digest, expected.digests[index], `${name} of chain ${at} (${COMMAND})`)
    }
    assert.equal(actual.digests.length, expected.digests.length, `messages of chain ${at} (${COMMAND})`)
  }
})
