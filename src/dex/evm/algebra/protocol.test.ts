import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeAbiParameters, type Hex, toEventSelector, toFunctionSelector } from 'viem'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { DexDeployment } from '../../protocol.ts'
import { algebra } from './protocol.ts'

const SWAP = toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24)')
const NEW_SWAP = toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)')
const MINT = toEventSelector('Mint(address,address,int24,int24,uint128,uint256,uint256)')
const BURN = toEventSelector('Burn(address,int24,int24,uint128,uint256,uint256)')
const NEW_BURN = toEventSelector('Burn(address,int24,int24,uint128,uint256,uint256,uint24)')
const COLLECT = toEventSelector('Collect(address,address,int24,int24,uint128,uint128)')
const CREATED = toEventSelector('Pool(address,address,address)')
const CUSTOM_CREATED = toEventSelector('CustomPool(address,address,address,address)')

const SOMEONE = '0x1834e499ea7f6759992aad97362d985aa2efa5fc'

const swap = rawLog(
  '0xb135aa990d02e0a31ce953af2bd7ed0ef6587403',
  [SWAP, padded('0xf5b509bb0909a69b1c207e495f687a596c168e12'), padded(SOMEONE)],
  '0xfffffffffffffffffffffffffffffffffffffffffffffffcb3f94602f7dada6a' +
    '0000000000000000000000000000000000000000000000000000000165a0bc00' +
    '00000000000000000000000000000000000000000000a66a43ffdbcfd464f444' +
    '0000000000000000000000000000000000000000000000001aee7a71bf9ad7c1' +
    'fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffc7bdf',
)
const newSwap = rawLog(
  '0xb780bd13876dd8219d06ad88f88d6c72c35b902f',
  [
    NEW_SWAP,
    padded('0xe6c9bb24ddb4ae5c6632dbe0de14e3e474c6cb04'),
    padded('0x9ba704115f0ed3a431a025ffa0525fdd1d507c3c'),
  ],
  '0x0000000000000000000000000000000000000000000000000000000000002710' +
    'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffd8fc' +
    '0000000000000000000000000000000000000000ffe00e24f9485e94f9ff5021' +
    '000000000000000000000000000000000000000000000000000001a6fbd82bd4' +
    'fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff6' +
    '000000000000000000000000000000000000000000000000000000000000006c' +
    '0000000000000000000000000000000000000000000000000000000000000000',
)
const mint = rawLog(
  '0xe4fd591b652cc3e566f1fa2f9891b58633a04c54',
  [
    MINT,
    padded('0x8ef88e4c7cfbbac1c163f7eddd4b578792201de6'),
    '0x000000000000000000000000000000000000000000000000000000000004374c',
    '0x0000000000000000000000000000000000000000000000000000000000053430',
  ],
  '0x0000000000000000000000008ef88e4c7cfbbac1c163f7eddd4b578792201de6' +
    '000000000000000000000000000000000000000000000000004997f0ae05e9cf' +
    '000000000000000000000000000000000000000000000000000000000097379d' +
    '0000000000000000000000000000000000000000000069cb90cd38f35d1dc2f4',
)
const burn = rawLog(
  '0x14ef96a0f7d738db906bdd5260e46aa47b1e6e45',
  [
    BURN,
    padded('0x8ef88e4c7cfbbac1c163f7eddd4b578792201de6'),
    '0x000000000000000000000000000000000000000000000000000000000004c824',
    '0x000000000000000000000000000000000000000000000000000000000004c950',
  ],
  '0x0000000000000000000000000000000000000000000000000038b00ef9e692bd' +
    '0000000000000000000000000000000000000000000000000000000000d71114' +
    '000000000000000000000000000000000000000000000033861e6241a002c6f9',
)
const collect = rawLog(
  burn.address,
  [COLLECT, ...burn.topics.slice(1)],
  '0x000000000000000000000000510994fc08e0157e6224e335c7f5a76fc0cd069a' +
    '0000000000000000000000000000000000000000000000000000000000d9d572' +
    '000000000000000000000000000000000000000000000033f906d9433b8459d0',
)
const newBurn = rawLog(
  '0x603f3fd0247e5a444a561d7da081c3b00fcf7de9',
  [
    NEW_BURN,
    padded('0x84715977598247125c3d6e2e85370d1f6fda1eaf'),
    '0x000000000000000000000000000000000000000000000000000000000000b22b',
    '0x000000000000000000000000000000000000000000000000000000000000e483',
  ],
  '0x00000000000000000000000000000000000000000000000015269ad135c9da59' +
    '0000000000000000000000000000000000000000000000000062a4612443f2ec' +
    '0000000000000000000000000000000000000000000000005752d0c1c17228ec' +
    '0000000000000000000000000000000000000000000000000000000000000000',
)

function words(...values: bigint[]): Hex {
  return encodeAbiParameters(
    values.map(() => ({ type: 'int256' })),
    values,
  )
}

function read(log: RawLog) {
  return algebra.events[log.topics[0] ?? '']?.(log)
}

function announced(log: RawLog) {
  return algebra.announcements[log.topics[0] ?? '']?.(log)
}

function amounts(amount0: bigint, amount1: bigint) {
  return [
    { token: 0, amount: amount0 },
    { token: 1, amount: amount1 },
  ]
}

describe('recorded logs', () => {
  test('Polygon 0x50c55589a2a7b97bdb0c46815783993133c8bd099d9fcc8b91e2e465f00f4687: a swap of the old form', () => {
    assert.deepEqual(read(swap), {
      type: 'swapped',
      pool: '0xb135aa990d02e0a31ce953af2bd7ed0ef6587403',
      sender: '0xf5b509bb0909a69b1c207e495f687a596c168e12',
      recipient: SOMEONE,
      token0: 0,
      token1: 1,
      delta0: -0x34c06b9fd08252596n,
      delta1: 6_000_000_000n,
      price: { kind: 'sqrt', sqrtPriceX96: 0xa66a43ffdbcfd464f444n, tick: -230_433 },
    })
  })

  test('Base 0x16b0e096358a955edc51479fc3b32056c2fe5afc4d33ae9b31c36326e4e2426b: a swap of the new form, with its fee', () => {
    assert.deepEqual(read(newSwap), {
      type: 'swapped',
      pool: '0xb780bd13876dd8219d06ad88f88d6c72c35b902f',
      sender: '0xe6c9bb24ddb4ae5c6632dbe0de14e3e474c6cb04',
      recipient: '0x9ba704115f0ed3a431a025ffa0525fdd1d507c3c',
      token0: 0,
      token1: 1,
      delta0: 10_000n,
      delta1: -9_988n,
      price: { kind: 'sqrt', sqrtPriceX96: 0xffe00e24f9485e94f9ff5021n, tick: -10 },
      feePpm: 108,
    })
  })

  test('Polygon 0xf09695f1682f0e6a8bc80eb7cfb7f4e39da22022c283c4633096fcde4e9c5557: liquidity is added', () => {
    const provider = '0x8ef88e4c7cfbbac1c163f7eddd4b578792201de6'
    assert.deepEqual(read(mint), {
      type: 'liquidityAdded',
      pool: mint.address,
      provider,
      amounts: amounts(0x97379dn, 0x69cb90cd38f35d1dc2f4n),
    })
  })

  test('Polygon 0x7d9aa2df466775303d7b9f3e108d2ae418b8940d2db3c0681b0fdc3d3f8dca3d: liquidity is removed, then paid out', () => {
    const provider = '0x8ef88e4c7cfbbac1c163f7eddd4b578792201de6'
    const pool = burn.address
    const removed = amounts(0xd71114n, 0x33861e6241a002c6f9n)
    assert.deepEqual(read(burn), {
      type: 'liquidityRemoved',
      pool,
      provider,
      amounts: removed,
      isPaidOut: false,
    })
    const collected = amounts(0xd9d572n, 0x33f906d9433b8459d0n)
    assert.deepEqual(read(collect), { type: 'feesCollected', pool, provider, amounts: collected })
  })

  test('Base 0x8adf08ff1a8e96ce3415f4bb6db694cd8e035cdafa760c151f7ee5c6b8164db0: liquidity is removed in the new form', () => {
    assert.deepEqual(read(newBurn), {
      type: 'liquidityRemoved',
      pool: newBurn.address,
      provider: '0x84715977598247125c3d6e2e85370d1f6fda1eaf',
      amounts: amounts(0x62a4612443f2ecn, 0x5752d0c1c17228ecn),
      isPaidOut: false,
    })
  })
})

// Camelot on Arbitrum.
const POOL = '0xb1026b8e7276e7ac75410f1fcbbe21796e8f7526'
const WETH = '0x82af49447d8a07e3bd95bd0d56f35241523fbab1'
const USDC = '0xaf88d065e77c8cc2239327c5edb3a432268e5831'
const deployment: DexDeployment = {
  amm: 'camelot',
  protocol: 'algebra',
  factory: '0x1a3c9b1d2f0529d97f2afc5136cc23e58f1fd35b',
}
const created = rawLog(deployment.factory, [CREATED, padded(WETH), padded(USDC)], words(BigInt(POOL)))
const customCreated = rawLog(
  deployment.factory,
  [CUSTOM_CREATED, padded(SOMEONE), padded(WETH), padded(USDC)],
  words(BigInt(POOL)),
)

test('pools and custom pools are announced', () => {
  const pool = { type: 'poolCreated', pool: POOL, tokens: [WETH, USDC], pricing: { kind: 'sqrtPrice' } }
  assert.deepEqual(announced(created), pool)
  assert.deepEqual(announced(customCreated), pool)
})

test('a swap without an override has no known fee', () => {
  const event = read(withWord(newSwap, 5, 0n))
  assert.ok(event?.type === 'swapped' && !('feePpm' in event))
  const both = read(withWord(newSwap, 6, 20n))
  assert.ok(both?.type === 'swapped' && both.feePpm === 128)
})

test('hostile logs are refused', () => {
  for (const log of [swap, newSwap, mint, burn, newBurn, collect]) {
    for (const bad of spoiled(log)) assert.equal(read(bad), undefined)
  }
  for (const log of [created, customCreated]) {
    for (const bad of spoiled(log)) assert.equal(announced(bad), undefined)
    assert.equal(announced(withWord(log, 0, (1n << 160n) + BigInt(POOL))), undefined)
  }
  for (const log of [swap, newSwap]) assert.equal(read(withWord(log, 4, -887_273n)), undefined)
  for (const index of [5, 6]) assert.equal(read(withWord(newSwap, index, 1n << 64n)), undefined)
  // More than the whole input.
  for (const index of [5, 6]) assert.equal(read(withWord(newSwap, index, 1_000_001n)), undefined)
})

describe('an older pool', () => {
  const claims = {
    [toFunctionSelector('factory()')]: padded(deployment.factory),
    [toFunctionSelector('token0()')]: padded(WETH),
    [toFunctionSelector('token1()')]: padded(USDC),
  }
  const poolByPair =
    toFunctionSelector('poolByPair(address,address)') + padded(WETH).slice(2) + padded(USDC).slice(2)
  const contracts = {
    [POOL]: claims,
    [SOMEONE]: claims,
    [deployment.factory]: { [poolByPair]: padded(POOL) },
  }
  const found = {
    factory: deployment.factory,
    tokens: [WETH, USDC],
    pricing: { kind: 'sqrtPrice' },
    reservesBefore: undefined,
  }

  test('is confirmed by the factory through its tokens', () => {
    const { found: pool, rounds } = lead(algebra.identify(POOL, [deployment]), contracts)
    assert.deepEqual(pool, found)
    assert.deepEqual(
      rounds.map((calls) => calls.length),
      [3, 1],
    )
  })

  test('is confirmed in one round by the address from its deployer', () => {
    const proven = {
      ...deployment,
      deployer: '0x6dd3fb9653b10e806650f107c3b5a0a6ff974f65',
      initCodeHash: '0x6c1bebd370ba84753516bc1393c0d0a6c645856da55f5393ac8ab3d6dbc861d3',
    }
    const { found: pool, rounds } = lead(algebra.identify(POOL, [proven]), contracts)
    assert.deepEqual(pool, found)
    assert.equal(rounds.length, 1)
    assert.equal(lead(algebra.identify(SOMEONE, [proven]), contracts).found, undefined)
  })

  test('is refused if the factory does not know it or does not answer', () => {
    assert.equal(lead(algebra.identify(SOMEONE, [deployment]), contracts).found, undefined)
    const silent = { ...contracts, [deployment.factory]: {} }
    assert.equal(lead(algebra.identify(POOL, [deployment]), silent).found, undefined)
    assert.equal(lead(algebra.identify(POOL, [deployment]), { ...contracts, [POOL]: {} }).found, undefined)
  })
})
