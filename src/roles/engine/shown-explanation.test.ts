import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainedToken } from './shown-explanation.ts'

const CHAINS = { eth: { family: 'evm' }, solana: { family: 'solana' } } as const
const SOL = 'So11111111111111111111111111111111111111112'

test('a token to explain is normalized as its chain requires', () => {
  const token = `0x${'aB'.repeat(20)}`
  assert.deepEqual(explainedToken(`/explain/eth/${token}`, CHAINS), {
    chain: 'eth',
    token: token.toLowerCase(),
  })
  assert.deepEqual(explainedToken(`/explain/solana/${SOL}`, CHAINS), { chain: 'solana', token: SOL })
})

test('other paths, unknown chains and tokens of another family explain nothing', () => {
  for (const path of [
    `/explain/eth/${SOL}`,
    '/explain/solana/0x00',
    '/explain/__proto__/x',
    '/explain//',
    '/',
  ])
    assert.equal(explainedToken(path, CHAINS), undefined, path)
})
