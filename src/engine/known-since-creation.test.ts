import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ethAt,
  price,
  swap,
  sync,
  TOKEN_USDC,
  tokens,
  usd,
} from '../../test/support/builders/example-market.ts'

const create = { do: 'create', pool: TOKEN_USDC, newTx: true } as const
const traded = [
  sync(TOKEN_USDC, tokens(100n), usd(200n)),
  swap(TOKEN_USDC, 0n, usd(20n), tokens(10n), 0n),
] as const

test('a pair whose creation was not read has no creation time, first trade, all-time high or initial reserves', () => {
  const market = ethAt(2_000n, 1n).block(12, ...traded)
  const { createdAt, firstTradeAt, athPriceUsd, token0, token1, lastTradePriceUsd } = market.pair(TOKEN_USDC)
  assert.deepEqual([createdAt, firstTradeAt, athPriceUsd], [undefined, undefined, undefined])
  assert.deepEqual([token0.initialReserveRaw, token1.initialReserveRaw], [undefined, undefined])
  assert.equal(token0.reserveRaw, tokens(100n))
  assert.equal(price(lastTradePriceUsd), '2')
})

test('a pair whose creation was read has all of them, and an undo restores the all-time high', () => {
  const market = ethAt(2_000n, 1n)
  market.block(12, create, ...traded).block(12, swap(TOKEN_USDC, 0n, usd(30n), tokens(10n), 0n))
  const { createdAt, firstTradeAt, athPriceUsd, token0, token1, lastTradeAt } = market.pair(TOKEN_USDC)
  assert.deepEqual([firstTradeAt, (lastTradeAt ?? 0) - 12], [createdAt, createdAt])
  assert.equal(price(athPriceUsd), '3')
  assert.deepEqual([token0.initialReserveRaw, token1.initialReserveRaw], [tokens(100n), usd(200n)])
  market.undo()
  assert.equal(price(market.pair(TOKEN_USDC).athPriceUsd), '2')
})
