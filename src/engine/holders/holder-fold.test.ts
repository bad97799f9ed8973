import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { words } from '../../../test/support/abi-words.ts'
import {
  ExampleMarket,
  sync,
  TOKEN,
  TOKEN_USDC,
  tokens,
  usd,
  value,
  world,
} from '../../../test/support/example-market.ts'
import type { Action } from '../../../test/support/market-arbitraries.ts'
import { LOCKERS } from '../../../test/support/move-arbitraries.ts'
import { padded, rawLog } from '../../../test/support/raw-log.ts'
import { TRANSFER } from '../../dex/evm/token-moves.ts'
import type { BlockEnvelope, Fact } from '../../domain/envelope.ts'
import { decodeEnvelope, encodeEnvelope } from '../../domain/wire/envelope-codec.ts'

const ZERO = `0x${'0'.repeat(40)}`
const DEAD = `0x${'dead'.padStart(40, '0')}`
const [LOCKER = ''] = LOCKERS
const [ANN, BEN, CARL] = ['b1', 'b2', 'b3'].map((end) => `0x${end.padStart(40, '0')}`) as [
  string,
  string,
  string,
]
const TOKEN_PLACE = world.tokens.findIndex(({ address }) => address === TOKEN)

function move(from: string, to: string, whole: bigint, of = TOKEN_PLACE): Action {
  return { do: 'move', of, form: 'plain', move: { from, to, amount: tokens(whole) }, newTx: true }
}

/** Ann made 1,000,000 and gave 100,000 to Ben, 50,000 to the dead address and 200,000 to a locker. */
function past(isLast = true): Fact {
  const gains = [
    { holder: ANN, amountRaw: tokens(650_000n) },
    { holder: BEN, amountRaw: tokens(100_000n) },
    { holder: DEAD, amountRaw: tokens(50_000n) },
    { holder: LOCKER, amountRaw: tokens(200_000n) },
  ]
  const first = { time: 1_600_000_000, sender: ANN }
  const sums = { issuedRaw: tokens(1_000_000n), burnedRaw: 0n, stillbornRaw: 0n }
  return { type: 'transfers', address: TOKEN, upTo: 99, isLast, first, gains, ...sums }
}

function balance(holder: string, whole: bigint): Fact {
  return { type: 'balance', address: TOKEN, holder, amountRaw: tokens(whole) }
}

/** One costs 0.002 dollars. */
const met = (): ExampleMarket =>
  new ExampleMarket().block(12, sync(TOKEN_USDC, tokens(500_000n), usd(1_000n)))

describe('the example of docs/data-rules.md', () => {
  const market = met()
    .block(12, move(BEN, CARL, 100_000n), move(ANN, ZERO, 10_000n))
    .told(past())

  test('holders, burned, locked, circulating', () => {
    const { holding, supplyRaw } = market.token(TOKEN)
    assert.equal(supplyRaw, tokens(990_000n))
    assert.deepEqual(holding, {
      holders: 4,
      burnedRaw: tokens(60_000n),
      lockedRaw: tokens(200_000n),
      circulatingRaw: tokens(740_000n),
    })
  })

  test('market cap and FDV', () => {
    const { marketCapUsd, fdvUsd } = market.token(TOKEN)
    assert.deepEqual([value(marketCapUsd), value(fdvUsd)], ['1480', '1980'])
  })

  test('where it came from; its first trade is not known, being older than the log', () => {
    const { origin, launch } = market.token(TOKEN)
    assert.deepEqual(origin, { time: 1_600_000_000, creator: ANN })
    assert.equal(launch, undefined)
  })
})

test('before all transfers are read, nothing is told but balances, which may be below zero', () => {
  const market = met().block(12, move(BEN, CARL, 100_000n))
  const balanceOf = (holder: string) => market.tables.balances.get(`${TOKEN}/${holder}`)?.amountRaw
  assert.deepEqual([balanceOf(BEN), balanceOf(CARL)], [tokens(-100_000n), tokens(100_000n)])
  market.told(past(false))
  assert.deepEqual([balanceOf(BEN), balanceOf(CARL)], [undefined, tokens(100_000n)])
  const { holding, origin, marketCapUsd } = market.token(TOKEN)
  assert.deepEqual([holding, origin, marketCapUsd], [undefined, undefined, undefined])
})

test('who gave away more than he ever got says that transfers do not tell all', () => {
  const market = met().told(past())
  assert.ok(market.token(TOKEN).holding !== undefined)
  market.block(12, move(CARL, BEN, 1n))
  assert.equal(market.token(TOKEN).holding, undefined)
  market.block(12, move(BEN, CARL, 1n))
  assert.equal(market.token(TOKEN).holding?.holders, 4, 'until it turns out that he had it')
})

test('a balance that transfers do not explain is the end of it, until a fork takes it back', () => {
  const market = met().told(past()).told(balance(BEN, 100_000n), balance(CARL, 0n))
  assert.equal(market.token(TOKEN).holding?.holders, 4)
  market.told(balance(BEN, 100_001n))
  assert.equal(market.token(TOKEN).holding, undefined)
  assert.equal(market.token(TOKEN).marketCapUsd, undefined)
  market.undo()
  assert.equal(market.token(TOKEN).holding?.holders, 4)
})

test('the shares of a pool are followed like a token', () => {
  const shares = world.tokens.length + TOKEN_USDC
  const market = met().block(12, move(ZERO, ANN, 5n, shares), move(ANN, LOCKER, 2n, shares))
  const pool = world.pools[TOKEN_USDC]?.address
  const held = [...market.tables.balances.values()].filter(({ token }) => token === pool)
  assert.deepEqual(
    held.map(({ holder, amountRaw }) => [holder, amountRaw]),
    [
      [ANN, tokens(3n)],
      [LOCKER, tokens(2n)],
    ],
  )
})

test('200,000 transfers of one token in one transaction', () => {
  const market = met().told(past())
  const parent = market.chain.at(-1)
  assert.ok(parent)
  const logs = Array.from({ length: 200_000 }, (_, index) => ({
    ...rawLog(TOKEN, [TRANSFER, padded(ANN), padded(CARL)], words(1n)),
    index,
  }))
  const block: BlockEnvelope = {
    ...{ kind: 'block', chain: parent.chain, number: parent.number + 1, time: parent.time + 12, facts: [] },
    ...{ hash: `0x${'c0'.repeat(32)}`, parentHash: parent.hash },
    transactions: [{ index: 0, hash: `0x${'c1'.repeat(32)}`, from: ANN, logs }],
  }
  market.run.apply(decodeEnvelope(encodeEnvelope(block)))
  const carl = market.run.sets
    .at(-1)
    ?.changes.find((change) => change.type === 'balance' && change.balance.holder === CARL)
  assert.ok(carl?.type === 'balance')
  assert.equal(carl.balance.amountRaw, 200_000n)
})
