import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Hex } from 'viem'
import { compile, weth9 } from '../../dev/market/artifacts.ts'
import { Market } from '../../dev/market/market.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { FaultyProxy } from '../support/rigs/faulty-proxy.ts'
import { HistoryRig, LOCKER, lower } from './history-rig.ts'

const SUPPLY = 10n ** 24n
const DEAD: Hex = '0x000000000000000000000000000000000000dEaD'
const OLD_BLOCKS = 40
const SMALL = { firstSpan: 4, maxSpan: 16, spansPerTurn: 1 }
const GROWING = new URL('../support/tokens/GrowingToken.sol', import.meta.url)

let stack: Stack
let market: Market
let accounts: readonly Hex[]
let token: Hex
let pair: Hex
/** The log begins here: long after the token, right before its pool. */
let start: number

before(async () => {
  stack = await startStack({ services: ['anvil'], anvil: ['--no-mining'] })
  market = await Market.deploy(stack.rpcUrl)
  accounts = await market.accounts()
})

after(() => stack?.stop())

function holder(at: number): Hex {
  return `0x${(0xb000 + at).toString(16).padStart(40, '0')}`
}

const everyone = (): Hex[] => [
  ...Array.from({ length: OLD_BLOCKS + 1 }, (_, at) => holder(at)),
  ...accounts,
  ...[DEAD, LOCKER, market.router, pair],
]

beforeEach(async () => {
  token = await market.createToken({ name: 'Old', symbol: 'OLD', decimals: 18, supply: SUPPLY })
  for (let at = 0; at < OLD_BLOCKS; at++) {
    await market.transfer(token, holder(at), BigInt(at + 1) * 10n ** 18n)
    if (at % 10 === 0) await market.transfer(token, at === 0 ? DEAD : LOCKER, 7n)
    if (at % 8 === 0) await market.wrap(10n ** 15n)
    await market.mine()
  }
  start = (await market.head()).number + 1
})

/** The pool is created, and with it the token met. */
async function openPool(tokenRaw: bigint): Promise<void> {
  await market.addLiquidityNative(token, tokenRaw, 10n ** 18n)
  await market.mine()
  pair = await market.pairOf(token, market.weth)
}

async function trade(): Promise<void> {
  await market.buyWithNative(token, 10n ** 15n, accounts[3])
  await market.transfer(token, holder(OLD_BLOCKS), 5n)
  await market.mine()
}

async function expectAllTrue(rig: HistoryRig, burnedRaw = 7n, lockedRaw = 21n): Promise<void> {
  const held = await rig.expectTrueBalances(token, everyone())
  assert.equal(held, SUPPLY)
  await rig.expectTrueBalances(market.weth, everyone())
  const shares = await rig.expectTrueBalances(pair, everyone())
  // Made for the zero address, by the very first deposit.
  assert.equal(shares + 1_000n, await market.read(supplyOf(pair), rig.tip))
  const { holding, supplyRaw, origin } = rig.token(token)
  assert.equal(supplyRaw, SUPPLY)
  const balances = [...rig.tables().balances.values()].filter((each) => each.token === lower(token))
  assert.deepEqual(holding, {
    holders: balances.length,
    burnedRaw,
    lockedRaw,
    circulatingRaw: SUPPLY - burnedRaw - lockedRaw,
  })
  assert.equal(origin?.creator, lower(market.owner))
  assert.equal(origin?.time, await market.timeOf(start - OLD_BLOCKS - 2))
}

function supplyOf(to: Hex) {
  return { to, abi: weth9.abi, name: 'totalSupply', args: [] }
}

describe('a token that is older than its pool', () => {
  test('has all its holders, though its past is read in pieces', async () => {
    const rig = new HistoryRig(market, [stack.rpcUrl], start, SMALL)
    await openPool(10n ** 23n)
    await trade()
    await rig.readAll()
    assert.ok(rig.pieces(token).length >= 4, `${rig.pieces(token).length} pieces`)
    assert.equal(rig.pieces(token).filter(({ first }) => first !== undefined).length, 1)
    assert.deepEqual(rig.pieces(pair), [], 'a pool that was seen to be created has no past')
    await expectAllTrue(rig)
  })

  test('is read on where the log ends when the reader starts anew', async () => {
    // So many pieces that three blocks cannot contain all of them.
    const rig = new HistoryRig(market, [stack.rpcUrl], start, { firstSpan: 1, maxSpan: 1, spansPerTurn: 1 })
    await openPool(10n ** 23n)
    for (let pieces = 1; pieces <= 3; pieces++) await rig.read(() => rig.pieces(token).length >= pieces)
    assert.ok(rig.pieces(token).every(({ isLast }) => !isLast))
    await trade()
    await rig.readAll()
    const ends = rig.pieces(token).map(({ upTo }) => upTo)
    assert.deepEqual(
      ends,
      [...new Set(ends)].sort((a, b) => a - b),
      'no transfer was published twice',
    )
    await expectAllTrue(rig)
  })

  test('follows the new branch when a reorg undoes the block of its discovery', async () => {
    await market.mineMany(2)
    await openPool(10n ** 22n)
    await trade()
    const rig = new HistoryRig(market, [stack.rpcUrl], start, SMALL)
    await rig.read(() => rig.pieces(token).length >= 2)
    const logged = rig.log.length
    const depth = (await market.head()).number - start + 1
    await market.reorganise(depth - 1)
    await market.transfer(token, holder(1), 11n)
    await market.mine()
    await openPool(10n ** 23n)
    await trade()
    await rig.readAll()
    assert.ok(rig.log.slice(logged).some(({ kind }) => kind === 'undo'))
    assert.equal(rig.pieces(token).at(-1)?.isLast, true)
    await expectAllTrue(rig)
  })

  for (const blocks of [7, 1]) {
    test(`is read from a node that looks for logs in ${blocks} blocks at once and no more`, async () => {
      const proxy = await FaultyProxy.start(stack.rpcUrl, 0)
      proxy.fault = { kind: 'narrow', blocks }
      try {
        const rig = new HistoryRig(market, [proxy.url], start, {})
        await openPool(10n ** 23n)
        await rig.readAll()
        await expectAllTrue(rig)
        const refused = rig.lines.filter(({ msg }) => /Transfer history read failed/.test(msg))
        assert.deepEqual(refused, [], 'a refusal is no failure')
      } finally {
        await proxy.close()
      }
    })
  }

  test('is read from a node that has forgotten where its contract was not there yet', async () => {
    const proxy = await FaultyProxy.start(stack.rpcUrl, 0)
    proxy.fault = { kind: 'no_method', method: 'eth_getCode' }
    try {
      const rig = new HistoryRig(market, [proxy.url], start, {})
      await openPool(10n ** 23n)
      await rig.readAll()
      await expectAllTrue(rig)
    } finally {
      await proxy.close()
    }
  })

  test('waits for a node that serves its logs', async () => {
    const proxy = await FaultyProxy.start(stack.rpcUrl, 0)
    try {
      const rig = new HistoryRig(market, [proxy.url], start, SMALL)
      await openPool(10n ** 23n)
      proxy.fault = { kind: 'no_method', method: 'eth_getLogs' }
      await rig.read(() => rig.unserved.has(lower(token)) && rig.unserved.has(lower(market.weth)))
      assert.deepEqual(rig.pieces(token), [])
      // What burn addresses and lockers hold needs no history.
      assert.deepEqual(rig.token(token).holding, {
        holders: undefined,
        burnedRaw: 7n,
        lockedRaw: 21n,
        circulatingRaw: SUPPLY - 28n,
      })
      await market.transfer(token, LOCKER, 9n)
      await market.transfer(token, DEAD, 2n)
      await market.mine()
      const tip = (await market.head()).number
      await rig.read((index) => (index.tip?.number ?? 0) >= tip)
      assert.deepEqual([rig.token(token).holding?.burnedRaw, rig.token(token).holding?.lockedRaw], [9n, 30n])
      proxy.fault = { kind: 'none' }
      await rig.readAll()
      await expectAllTrue(rig, 9n, 30n)
    } finally {
      await proxy.close()
    }
  })
})

test('a token whose balances grow without transfers is detected, and its holders are unknown', async () => {
  const growing = compile('GrowingToken', GROWING)
  token = await market.deploy(growing, [])
  await market.approve(token, market.router)
  start = (await market.head()).number + 1
  await openPool(10n ** 22n)
  const rig = new HistoryRig(market, [stack.rpcUrl], start, SMALL)
  await rig.readAll()
  assert.ok(rig.token(token).holding !== undefined)
  await market.send({ to: token, abi: growing.abi, name: 'grow', args: [] })
  await market.mine()
  const give = async (): Promise<void> => {
    await market.transfer(token, accounts[5] as Hex, 10n ** 18n)
    await market.mine()
  }
  await rig.read(() => rig.token(token).holding === undefined, give)
  const { marketCapUsd, origin } = rig.token(token)
  assert.equal(marketCapUsd, undefined)
  assert.equal(origin?.creator, lower(market.owner), 'where it came from is still known')
})
