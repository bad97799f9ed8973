import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addressOf,
  calmMarket,
  type ExampleMarket,
  swap,
  sync,
  TOKEN,
  TOKEN_ETH,
  TOKEN_USDC,
  tokens,
  usd,
} from '../../../test/support/builders/example-market.ts'
import type { Change } from '../../domain/change.ts'

/** The token's pair with ETH is worth 200,000 dollars on its quote side, the one with USDC 100,000. */
function twoPairs(): ExampleMarket {
  return calmMarket().block(
    12,
    sync(TOKEN_USDC, tokens(5_000n), usd(100_000n)),
    swap(TOKEN_USDC, 0n, usd(20n), tokens(1n), 0n),
  )
}

function lastChanges<Type extends Change['type']>(market: ExampleMarket, type: Type) {
  const changes = market.run.sets.at(-1)?.changes ?? []
  return changes.filter((change): change is Extract<Change, { type: Type }> => change.type === type)
}

test('a pair that becomes more than a tenth deeper becomes the main pair, with a switch event', () => {
  const market = twoPairs().block(12, sync(TOKEN_USDC, tokens(11_000n), usd(220_000n)))
  assert.deepEqual(lastChanges(market, 'switch'), [], 'exactly a tenth is not more')
  market.block(12, sync(TOKEN_USDC, tokens(11_001n), usd(220_020n)))
  const [change] = lastChanges(market, 'switch')
  assert.deepEqual(change?.switch, {
    token: TOKEN,
    block: market.chain.at(-1)?.number,
    time: market.chain.at(-1)?.time,
    oldPair: addressOf(TOKEN_ETH),
    newPair: addressOf(TOKEN_USDC),
    reason: 'deeper',
  })
  const windows24h = lastChanges(market, 'windows').map(({ windows }) => [
    windows.pair,
    windows.lengths.at(-1)?.buys,
  ])
  assert.deepEqual(
    windows24h.filter(([pair]) => pair !== undefined),
    [[addressOf(TOKEN_USDC), 1]],
    'its windows are published again, although nothing was traded',
  )
})

test('a main pair that is emptied is left', () => {
  const market = twoPairs().block(12, sync(TOKEN_ETH, 0n, 0n))
  assert.deepEqual(
    lastChanges(market, 'switch').map((change) => change.switch.reason),
    ['emptied'],
  )
})

test('a switch that a reorg undoes is published as removed', () => {
  const market = twoPairs()
    .block(12, sync(TOKEN_ETH, 0n, 0n))
    .undo()
  const [change] = lastChanges(market, 'switchRemoved')
  assert.deepEqual(
    [change?.switch.oldPair, change?.switch.newPair],
    [addressOf(TOKEN_ETH), addressOf(TOKEN_USDC)],
  )
  assert.equal(market.token(TOKEN).mainPair, addressOf(TOKEN_ETH))
  assert.equal(market.tables.switches.size, 0)
})
