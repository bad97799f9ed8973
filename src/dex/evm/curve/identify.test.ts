import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeAbiParameters, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { type Contracts, lead } from '../../../../test/support/builders/inquiry.ts'
import type { DexDeployment } from '../../protocol.ts'
import { curve } from './protocol.ts'

const POOL = '0x0cfe5c777a7438c9dd8add53ed671cec7a5faee5'
const FACTORY = '0xb9fc157394af804a3578134a6585c0dc9cc990d4'
const REGISTRY = '0x90e00ace148ca3b23ac1bc8c240c2a7dd9c2d7f5'
const DAI = '0x6b175474e89094c44da98b954eedeac495271d0f'
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const USDT = '0xdac17f958d2ee523a2206206994597c13d831ec7'
const FRAX = '0x853d955acef822db058eb8505911ed77f175b99e'
const TUSD = '0x4591dbff62656e7859afe5e45f6f47d3669fbb28'
const SHARE = '0x3175df0976dfa876431c2e9ee6bc45b65d3473cc'
const NOBODY = '0x0000000000000000000000000000000000000000'
const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

const abi = parseAbi(['function get_coins(address)', 'function get_underlying_coins(address)'])
const COINS = encodeFunctionData({ abi, functionName: 'get_coins', args: [POOL] })
const UNDERLYING = encodeFunctionData({ abi, functionName: 'get_underlying_coins', args: [POOL] })

const deployments: DexDeployment[] = [
  { amm: 'curve', protocol: 'curve', factory: FACTORY },
  { amm: 'curve', protocol: 'curve', factory: REGISTRY },
]

function identify(contracts: Contracts) {
  return lead(curve.identify(POOL, deployments), contracts)
}

/** A fixed-size array of addresses, padded with zeros. */
function fixed(length: number, ...coins: string[]): Hex {
  const filled = Array.from({ length }, (_, at) => (coins[at] ?? NOBODY) as Hex)
  return encodeAbiParameters([{ type: `address[${length}]` }] as never, [filled] as never)
}

function list(...coins: string[]): Hex {
  return encodeAbiParameters([{ type: 'address[]' }], [coins as Hex[]])
}

describe("the factory that knows a pool's coins confirms it", () => {
  test('with a list or a fixed-size array', () => {
    const two = {
      factory: FACTORY,
      tokens: [DAI, USDC],
      pricing: { kind: 'trades' },
      reservesBefore: undefined,
    }
    for (const answer of [...[2, 3, 4, 8].map((length) => fixed(length, DAI, USDC)), list(DAI, USDC)]) {
      assert.deepEqual(identify({ [FACTORY]: { [COINS]: answer } }).found, two)
    }
    const three = identify({ [FACTORY]: { [COINS]: fixed(3, DAI, USDC, USDT) } })
    assert.deepEqual(three.found?.tokens, [DAI, USDC, USDT])
    assert.equal(three.rounds.length, 1)
  })

  test('if several do, the first counts', () => {
    const unknown = { [COINS]: fixed(4), [UNDERLYING]: fixed(8) }
    const known = { [COINS]: fixed(8, DAI, USDC, USDT), [UNDERLYING]: fixed(8, DAI, USDC, USDT) }
    const expected = {
      factory: REGISTRY,
      tokens: [DAI, USDC, USDT],
      pricing: { kind: 'trades' },
      reservesBefore: undefined,
    }
    assert.deepEqual(identify({ [FACTORY]: unknown, [REGISTRY]: known }).found, expected)
    assert.deepEqual(identify({ [FACTORY]: { [COINS]: list() }, [REGISTRY]: known }).found, expected)
    assert.equal(identify({ [FACTORY]: known, [REGISTRY]: known }).found?.factory, FACTORY)
  })

  test('the native coin is normalized to one id', () => {
    const found = identify({ [FACTORY]: { [COINS]: fixed(4, NATIVE, DAI) } }).found
    assert.deepEqual(found?.tokens, [NOBODY, DAI])
  })
})

describe('pools over other tokens', () => {
  test("a metapool lists the base pool's coins after its own", () => {
    for (const answer of [fixed(8, TUSD, FRAX, USDC), list(TUSD, FRAX, USDC)]) {
      const found = identify({ [FACTORY]: { [COINS]: fixed(4, TUSD, SHARE), [UNDERLYING]: answer } }).found
      assert.deepEqual(found?.tokens, [TUSD, SHARE, FRAX, USDC])
    }
  })

  test('a lending pool is refused', () => {
    const lent = [`0x${'a1'.repeat(20)}`, `0x${'a2'.repeat(20)}`]
    const contracts = { [FACTORY]: { [COINS]: fixed(8, ...lent), [UNDERLYING]: fixed(8, DAI, USDC) } }
    assert.equal(identify(contracts).found, undefined)
  })

  test('a pool of three coins that include an LP token trades only its own coins', () => {
    const contracts = {
      [FACTORY]: { [COINS]: fixed(8, SHARE, TUSD, DAI), [UNDERLYING]: fixed(8, FRAX, USDC, TUSD, DAI) },
    }
    assert.deepEqual(identify(contracts).found?.tokens, [SHARE, TUSD, DAI])
  })
})

describe('a foreign contract is refused', () => {
  test('without an answer, or with fewer than two coins', () => {
    assert.equal(identify({}).found, undefined)
    assert.equal(identify({ [POOL]: { [COINS]: fixed(2, DAI, USDC) } }).found, undefined)
    for (const answer of [fixed(2), fixed(8), fixed(2, DAI), list(), list(DAI), '0x']) {
      assert.equal(identify({ [FACTORY]: { [COINS]: answer } }).found, undefined)
    }
  })

  test('if the answer is malformed', () => {
    const dirty = fixed(2, DAI, USDC).replace('0x00', '0x01')
    const short = list(DAI, USDC).slice(0, -2)
    const long = list(...Array.from({ length: 9 }, (_, at) => `0x${`${at + 1}`.padStart(40, 'c')}`))
    for (const answer of [dirty, short, long]) {
      assert.equal(identify({ [FACTORY]: { [COINS]: answer } }).found, undefined)
    }
  })
})

describe('the pools of a token', () => {
  const find = parseAbi(['function find_pool_for_coins(address,address,uint256)'])
  const asked = (from: string, to: string, index: bigint): Hex =>
    encodeFunctionData({
      abi: find,
      functionName: 'find_pool_for_coins',
      args: [from as Hex, to as Hex, index],
    })
  const address = (pool: string): Hex => encodeAbiParameters([{ type: 'address' }], [pool as Hex])
  const findPools = (quoteAssets: readonly string[], contracts: Contracts) => {
    const inquiry = curve.findPools?.(FRAX, quoteAssets, deployments)
    assert.ok(inquiry !== undefined)
    return lead(inquiry, contracts)
  }

  test('are those that a factory lists with a quote asset, and confirms', () => {
    const factory = {
      [asked(FRAX, USDC, 0n)]: address(POOL),
      [asked(FRAX, USDC, 1n)]: address(NOBODY),
      [COINS]: fixed(4, FRAX, USDC),
    }
    const { found, rounds } = findPools([DAI, USDC, FRAX], { [FACTORY]: factory })
    assert.deepEqual(found, [
      {
        address: POOL,
        factory: FACTORY,
        tokens: [FRAX, USDC],
        pricing: { kind: 'trades' },
        reservesBefore: undefined,
      },
    ])
    // Two factories and two other quote assets; only those that had a pool are asked for more.
    assert.deepEqual(
      rounds.map((calls) => calls.length),
      [4, 1, 4],
    )
  })

  test('are asked for with the placeholder of the native coin', () => {
    const factory = { [asked(FRAX, NATIVE, 0n)]: address(POOL), [COINS]: fixed(2, NATIVE, FRAX) }
    assert.deepEqual(findPools([NOBODY], { [FACTORY]: factory }).found?.[0]?.tokens, [NOBODY, FRAX])
  })

  test('are none if the factory does not confirm the token, or does not answer', () => {
    const factory = { [asked(FRAX, USDC, 0n)]: address(POOL), [COINS]: fixed(4, DAI, USDC) }
    assert.deepEqual(findPools([USDC], { [FACTORY]: factory }).found, [])
    assert.deepEqual(findPools([USDC], {}).found, [])
  })

  test('are a bounded number, however many a factory claims', () => {
    const endless = [0n, 1n, 2n, 3n, 4n].map((index) => [asked(FRAX, USDC, index), address(POOL)])
    const { rounds } = findPools([USDC], { [FACTORY]: Object.fromEntries(endless) })
    assert.equal(rounds.length, 4)
  })
})
