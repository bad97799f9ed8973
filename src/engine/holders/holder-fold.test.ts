import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Action } from '../../../test/support/arbitraries/market-arbitraries.ts'
import { LOCKERS } from '../../../test/support/arbitraries/move-arbitraries.ts'
import { words } from '../../../test/support/builders/abi-words.ts'
import {
  ExampleMarket,
  sync,
  TOKEN,
  TOKEN_USDC,
  tokens,
  usd,
  value,
  world,
} from '../../../test/support/builders/example-market.ts'
import { padded, rawLog } from '../../../test/support/builders/raw-log.ts'
import { TRANSFER } from '../../dex/evm/token-moves.ts'
import type { BlockEnvelope, Fact, RawLog } from '../../domain/envelope.ts'
import { IMPORTED_FIRST } from '../../domain/imported-balances.ts'
import { DEAD_ADDRESSES } from '../../domain/known-addresses.ts'
import { decodeEnvelope, encodeEnvelope } from '../../wire/envelope-codec.ts'

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
  const sums = { issuedRaw: tokens(1_000_000n), burnedRaw: 0n, mintedToZeroRaw: 0n }
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
    .facts(past())

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

/** What the token answers of the zero address, 0x…dEaD and a locker; nothing of the others. */
function answered(zero: bigint, dead: bigint, locked: bigint): Fact {
  const known = new Map([
    [ZERO, zero],
    [DEAD, dead],
    [LOCKER, locked],
  ])
  const holders = [ZERO, ...DEAD_ADDRESSES, ...LOCKERS]
  const balances = holders.map((holder) => ({ holder, amountRaw: tokens(known.get(holder) ?? 0n) }))
  return { type: 'nonCirculating', address: TOKEN, balances }
}

describe('reported balances of burn addresses and lockers', () => {
  const held = (market: ExampleMarket) => market.token(TOKEN).holding

  test('is known before any older transfer is read, and moved by transfers', () => {
    const market = met().facts(answered(5_000n, 50_000n, 200_000n))
    assert.deepEqual(held(market), {
      holders: undefined,
      burnedRaw: tokens(55_000n),
      lockedRaw: tokens(200_000n),
      circulatingRaw: tokens(745_000n),
    })
    assert.equal(value(market.token(TOKEN).marketCapUsd), '1490')
    market.block(12, move(ANN, DEAD, 1_000n), move(LOCKER, BEN, 500n), move(BEN, ZERO, 100n))
    assert.deepEqual(held(market), {
      holders: undefined,
      burnedRaw: tokens(56_100n),
      lockedRaw: tokens(199_500n),
      circulatingRaw: tokens(744_400n),
    })
    market.undo()
    assert.equal(held(market)?.lockedRaw, tokens(200_000n))
    market.undo()
    assert.equal(held(market), undefined)
  })

  test('stays true once older transfers are read, which add holders and what was burned before', () => {
    const market = met().facts(answered(0n, 50_000n, 200_000n))
    const early = held(market)
    const older = past()
    assert.ok(early && older.type === 'transfers')
    market.facts({ ...older, burnedRaw: tokens(3_000n) })
    assert.deepEqual(held(market), { ...early, holders: 4, burnedRaw: tokens(53_000n) })
  })

  test('is not taken where a locker was not asked about, or more is answered than can be', () => {
    const fact = answered(0n, 50_000n, 200_000n)
    assert.ok(fact.type === 'nonCirculating')
    const without = (gone: string) => fact.balances.filter(({ holder }) => holder !== gone)
    for (const gone of [ZERO, DEAD, LOCKER])
      assert.equal(held(met().facts({ ...fact, balances: without(gone) })), undefined)
    assert.equal(held(met().facts(answered(0n, 10n ** 70n, 0n))), undefined)
  })

  test('is dropped when a locker gives away more than it has', () => {
    const market = met()
      .facts(answered(0n, 0n, 100n))
      .block(12, move(LOCKER, BEN, 101n))
    assert.equal(held(market), undefined)
    market.undo()
    assert.equal(held(market)?.lockedRaw, tokens(100n))
  })

  test('follow lockers that are added, if the token reported nothing', () => {
    const market = met().facts(past())
    assert.equal(held(market)?.lockedRaw, tokens(200_000n))
    market.settings({ lockers: [LOCKER, BEN].sort() }).block(12, move(BEN, CARL, 1_000n))
    assert.equal(held(market)?.lockedRaw, tokens(299_000n))
    market.settings({ lockers: [BEN] }).block(12, move(CARL, BEN, 500n))
    assert.equal(held(market)?.lockedRaw, tokens(99_500n))
    market.undo().undo()
    assert.equal(held(market)?.lockedRaw, tokens(200_000n))
  })

  test('beyond the supply leaves what circulates unknown', () => {
    const holding = held(met().facts(answered(0n, 0n, 2_000_000n)))
    assert.deepEqual([holding?.lockedRaw, holding?.circulatingRaw], [tokens(2_000_000n), undefined])
  })
})

test('imported balances have holders, but no origin, and burns only since the token was met', () => {
  const market = met()
    .facts(answered(0n, 50_000n, 200_000n))
    .block(12, move(ANN, ZERO, 10_000n))
    .facts({ ...past(), first: IMPORTED_FIRST } as Fact)
    .block(12, move(BEN, CARL, 100_000n))
  const { holding, origin, launch } = market.token(TOKEN)
  assert.deepEqual(holding, {
    holders: 4,
    burnedRaw: tokens(60_000n),
    lockedRaw: tokens(200_000n),
    circulatingRaw: tokens(740_000n),
  })
  assert.deepEqual([origin, launch], [undefined, undefined])
})

test('before all transfers are read, only balances are published, and they may be negative', () => {
  const market = met().block(12, move(BEN, CARL, 100_000n))
  const balanceOf = (holder: string) => market.tables.balances.get(`${TOKEN}/${holder}`)?.amountRaw
  assert.deepEqual([balanceOf(BEN), balanceOf(CARL)], [tokens(-100_000n), tokens(100_000n)])
  market.facts(past(false))
  assert.deepEqual([balanceOf(BEN), balanceOf(CARL)], [undefined, tokens(100_000n)])
  const { holding, origin, marketCapUsd } = market.token(TOKEN)
  assert.deepEqual([holding, origin, marketCapUsd], [undefined, undefined, undefined])
})

test('a negative balance shows that transfers are incomplete', () => {
  const market = met().facts(past())
  assert.ok(market.token(TOKEN).holding !== undefined)
  market.block(12, move(CARL, BEN, 1n))
  assert.equal(market.token(TOKEN).holding, undefined)
  market.block(12, move(BEN, CARL, 1n))
  assert.equal(market.token(TOKEN).holding?.holders, 4, 'until it turns out that he had it')
})

test('a balance that transfers do not explain is the end of it, until a fork takes it back', () => {
  const market = met().facts(past()).facts(balance(BEN, 100_000n), balance(CARL, 0n))
  assert.equal(market.token(TOKEN).holding?.holders, 4)
  market.facts(balance(BEN, 100_001n))
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

describe('a token that a supplement has added', () => {
  const NEW = `0x${'e1'.repeat(20)}`
  const about = {
    type: 'token',
    nameRaw: Buffer.from('New'),
    symbolRaw: Buffer.from('NEW'),
    decimals: 18,
  } as const

  test('has no supply until the log follows it', () => {
    const market = met().facts({ ...about, address: NEW, supplyRaw: undefined })
    assert.equal(market.token(NEW).supplyRaw, undefined)
    market.facts({ ...about, address: NEW, supplyRaw: tokens(7n) })
    assert.equal(market.token(NEW).supplyRaw, tokens(7n))
    market.undo()
    assert.equal(market.token(NEW).supplyRaw, undefined)
  })

  test('keeps the supply that it had, and its transfers in the same block count', () => {
    const market = met()
    const before = market.token(TOKEN).supplyRaw
    assert.ok(before !== undefined)
    const log = { ...rawLog(TOKEN, [TRANSFER, padded(ZERO), padded(ANN)], words(tokens(3n))), index: 0 }
    const again: Fact = { ...about, address: TOKEN, supplyRaw: undefined }
    market.run.apply(decodeEnvelope(encodeEnvelope(nextBlock(market, [log], [again]))))
    assert.equal(market.token(TOKEN).supplyRaw, before + tokens(3n))
  })
})

function nextBlock(market: ExampleMarket, logs: RawLog[], facts: Fact[] = []): BlockEnvelope {
  const parent = market.chain.at(-1)
  assert.ok(parent)
  return {
    ...{ kind: 'block', chain: parent.chain, number: parent.number + 1, time: parent.time + 12, facts },
    ...{ hash: `0x${'c0'.repeat(32)}`, parentHash: parent.hash },
    transactions: [{ index: 0, hash: `0x${'c1'.repeat(32)}`, from: ANN, logs }],
  }
}

test('200,000 transfers of one token in one transaction', () => {
  const market = met().facts(past())
  const logs = Array.from({ length: 200_000 }, (_, index) => ({
    ...rawLog(TOKEN, [TRANSFER, padded(ANN), padded(CARL)], words(1n)),
    index,
  }))
  const block = nextBlock(market, logs)
  market.run.apply(decodeEnvelope(encodeEnvelope(block)))
  const carl = market.run.sets
    .at(-1)
    ?.changes.find((change) => change.type === 'balance' && change.balance.holder === CARL)
  assert.ok(carl?.type === 'balance')
  assert.equal(carl.balance.amountRaw, 200_000n)
})
