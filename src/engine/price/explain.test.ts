import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addressOf,
  DEEPER_ETH_POOL,
  ETH_POOL,
  ExampleMarket,
  eth,
  ethAt,
  price,
  sync,
  TOKEN,
  TOKEN_ETH,
  TOKEN_USDC,
  tokens,
  usd,
  value,
  WETH,
} from '../../../test/support/builders/example-market.ts'

test('a price names its pools, its route, and what was not believed', () => {
  const market = ethAt(2_000n, 10_000n)
    .block(12, sync(DEEPER_ETH_POOL, eth(1_000n), usd(2_010_000n)))
    .block(12, sync(TOKEN_ETH, eth(100n), tokens(10_000n)))
    .block(12, sync(TOKEN_USDC, tokens(1n), usd(1_000n)))
    .block(12, sync(TOKEN_ETH, eth(1_000n), tokens(1_000n)), sync(TOKEN_ETH, eth(100n), tokens(10_000n)))
  const found = market.run.engine.explain(TOKEN)
  assert.ok(found)
  assert.equal(price(found.price.usd), '20')
  assert.deepEqual(
    [
      found.mainPair?.pair,
      found.mainPair?.quote,
      value(found.mainPair?.depthUsd),
      price(found.mainPair?.counted),
    ],
    [addressOf(TOKEN_ETH), WETH, '200000', '20'],
  )
  assert.deepEqual(
    found.route.map(({ token, kind, worth }) => [token, kind, price(worth.usd)]),
    [[WETH, 'native', '2000']],
  )
  assert.deepEqual(
    found.anchors.map(({ pair, nativeUsd, depthUsd }) => [pair, price(nativeUsd), value(depthUsd)]),
    [
      [addressOf(ETH_POOL), '2000', '20000000'],
      [addressOf(DEEPER_ETH_POOL), '2010', '2010000'],
    ],
  )
  assert.deepEqual(
    found.shallowerPairs.map(({ pair, asked, depthUsd }) => [pair, price(asked), value(depthUsd)]),
    [[addressOf(TOKEN_USDC), '1000', '1000']],
  )
})

test('an unknown token cannot be explained', () => {
  const { engine } = new ExampleMarket().run
  for (const id of [TOKEN, '', 'a'.repeat(200), `0x${'a1'.repeat(100)}`, '\u{1f4a3}'.repeat(15)])
    assert.equal(engine.explain(id), undefined, id)
})
