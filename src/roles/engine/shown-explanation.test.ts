import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WETH } from '../../../test/support/builders/example-market.ts'
import { AGENT, HUB, poolAddress, routedMarket } from '../../../test/support/builders/routed-market.ts'
import { explainedToken, shownExplanation } from './shown-explanation.ts'

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

test('an explanation is JSON: the way to a quote asset, and a pair that is known to hold nothing', () => {
  const found = routedMarket().run.engine.explain(AGENT)
  assert.ok(found?.mainPair)
  const { route, main_pair } = JSON.parse(
    JSON.stringify(shownExplanation({ ...found, mainPair: { ...found.mainPair, depthUsd: 0n } })),
  )
  const hub = { token: HUB, kind: 'token', price_usd: '2', price_native: '0.001' }
  assert.deepEqual(route, [
    { ...hub, pair: poolAddress(WETH, HUB), depth_usd: '4000000' },
    { token: WETH, kind: 'native', price_usd: '2000', price_native: '1' },
  ])
  assert.equal(main_pair.depth_usd, '0')
})
