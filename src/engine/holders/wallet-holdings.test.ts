import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Action, id } from '../../../test/support/arbitraries/market-arbitraries.ts'
import {
  ExampleMarket,
  swap,
  sync,
  TOKEN,
  TOKEN_USDC,
  tokens,
  usd,
  world,
} from '../../../test/support/builders/example-market.ts'
import { FIRST_RULES } from '../../domain/chain-settings.ts'
import type { TradeHoldings } from '../../domain/change.ts'
import type { Fact } from '../../domain/envelope.ts'

/** Signers of the first and the second transaction of each block. */
const [WALLET, SECOND] = [id(0xee00, 20), id(0xee02, 20)]
const ANN = id(0xb1, 20)
const TOKEN_PLACE = world.tokens.findIndex(({ address }) => address === TOKEN)
const [CREATED, CLEARED] = [1, 4]

/** Opens a transaction, unless it belongs to the last one. */
function move(from: string, to: string, amount: bigint, newTx = true): Action {
  return { do: 'move', of: TOKEN_PLACE, form: 'plain', move: { from, to, amount }, newTx }
}

/** In the transaction of the last action. */
const buy = swap(TOKEN_USDC, 0n, usd(1n), tokens(500n), 0n)
const sell = swap(TOKEN_USDC, tokens(500n), 0n, 0n, usd(1n))

/** Ann has all 1,000,000 tokens. */
function history(isLast = true): Fact {
  return {
    ...{ type: 'transfers', address: TOKEN, upTo: 99, isLast, first: { time: 1_600_000_000, sender: ANN } },
    ...{ gains: [{ holder: ANN, amountRaw: tokens(1_000_000n) }], issuedRaw: tokens(1_000_000n) },
    ...{ burnedRaw: 0n, mintedToZeroRaw: 0n },
  }
}

const met = (of = world): ExampleMarket =>
  new ExampleMarket(of).block(12, sync(TOKEN_USDC, tokens(500_000n), usd(1_000n)))
const known = (): ExampleMarket => met().facts(history())

function holdingsIn(market: ExampleMarket): (TradeHoldings | undefined)[] {
  const changes = market.run.sets.at(-1)?.changes ?? []
  return changes.flatMap((change) => (change.type === 'trade' ? [change.trade.holdings] : []))
}

const bought = (amountRaw: bigint, accounts = 0): TradeHoldings => ({
  ...{ isToken0Sold: false, nativeRaw: undefined, sold: undefined },
  bought: { amountRaw, accounts },
})
const sold = (amountRaw: bigint, accounts = 0): TradeHoldings => ({
  ...{ isToken0Sold: true, nativeRaw: undefined, bought: undefined },
  sold: { amountRaw, accounts },
})

describe('holdings of the wallet of a trade', () => {
  test('are known once all older transfers are', () => {
    assert.deepEqual(holdingsIn(met().block(12, move(ANN, WALLET, 7n), buy)), [undefined])
    const partial = met().facts(history(false))
    assert.deepEqual(holdingsIn(partial.block(12, move(ANN, WALLET, 7n), buy)), [undefined])
    assert.deepEqual(holdingsIn(known().block(12, move(ANN, WALLET, 7n), buy)), [bought(7n, CREATED)])
  })

  test('are those after the transaction, in each trade of it', () => {
    const market = known().block(12, move(ANN, WALLET, 5n), buy, move(ANN, WALLET, 2n, false), buy)
    assert.deepEqual(holdingsIn(market), [bought(7n, CREATED), bought(7n, CREATED)])
    market.block(12, move(WALLET, ANN, 3n), sell)
    assert.deepEqual(holdingsIn(market), [sold(4n)])
    market.block(12, move(WALLET, ANN, 4n), sell)
    assert.deepEqual(holdingsIn(market), [sold(0n, CLEARED)])
    market.block(12, move(ANN, SECOND, 1n), sell)
    assert.deepEqual(holdingsIn(market), [sold(0n)])
  })

  test('include earlier transactions of the block, but no later ones', () => {
    const market = known().block(12, move(ANN, WALLET, 5n), buy, move(WALLET, SECOND, 2n), buy)
    assert.deepEqual(holdingsIn(market), [bought(5n, CREATED), bought(2n, CREATED)])
    market.block(12, move(SECOND, WALLET, 2n), buy, move(WALLET, SECOND, 5n), buy)
    assert.deepEqual(holdingsIn(market), [bought(5n), bought(5n, CREATED)])
  })

  test('are unknown while anybody has sent more than it had', () => {
    const market = known().block(12, move(WALLET, ANN, 5n), sell)
    assert.deepEqual(holdingsIn(market), [undefined])
    market.block(12, move(ANN, WALLET, 9n), buy)
    assert.deepEqual(holdingsIn(market), [undefined])
    market.block(12, move(ANN, WALLET, 1n), buy)
    assert.deepEqual(holdingsIn(market), [bought(5n)])
  })

  test('are unknown of a token whose balances contradict its transfers, or beyond the limit', () => {
    const misreported = known().facts({ type: 'balance', address: TOKEN, holder: ANN, amountRaw: 1n })
    assert.deepEqual(holdingsIn(misreported.block(12, move(ANN, WALLET, 7n), buy)), [undefined])
    const zero = id(0, 20)
    assert.deepEqual(holdingsIn(known().block(12, move(zero, WALLET, 2n ** 256n - 1n), buy)), [undefined])
    const most = 2n ** 255n - 1n
    assert.deepEqual(holdingsIn(known().block(12, move(zero, WALLET, most), buy)), [bought(most, CREATED)])
  })

  test('are the same after a fork', () => {
    const market = known().block(12, move(ANN, WALLET, 5n), buy)
    market.block(12, move(ANN, WALLET, 5n), buy)
    assert.deepEqual(holdingsIn(market), [bought(10n)])
    market.undo().block(12, move(ANN, WALLET, 2n), buy)
    assert.deepEqual(holdingsIn(market), [bought(7n)])
  })

  test('are absent by the first rules', () => {
    const market = met({ ...world, rules: FIRST_RULES }).facts(history())
    assert.deepEqual(holdingsIn(market.block(12, move(ANN, WALLET, 7n), buy)), [undefined])
  })
})
