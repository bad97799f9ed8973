import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeAbiParameters, type Hex, toEventSelector, toFunctionSelector } from 'viem'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { DexDeployment } from '../../protocol.ts'
import { slipstream } from './protocol.ts'

// Aerodrome on Base.
const POOL = '0xb2cc224c1c9fee385f8ad6a55b4d94e92359dc59'
const WETH = '0x4200000000000000000000000000000000000006'
const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const GAUGE = '0xf33a96b5932d9e9b9a0eda447abd8c9d48d2e0c8'

const POOL_CREATED = toEventSelector('PoolCreated(address,address,int24,address)')
const COLLECT_FEES = toEventSelector('CollectFees(address,uint128,uint128)')
const SWAP = toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24)')

function words(...values: bigint[]): Hex {
  return encodeAbiParameters(
    values.map(() => ({ type: 'int256' })),
    values,
  )
}

// The recorded blocks contain none of its events, so these logs are synthetic.
const deployment: DexDeployment = {
  amm: 'aerodrome',
  protocol: 'slipstream',
  factory: '0x5e7bb104d84c7cb9b682aac2f3d509f5f406809a',
}
const created = rawLog(
  deployment.factory,
  [POOL_CREATED, padded(WETH), padded(USDC), words(100n)],
  words(BigInt(POOL)),
)
const collectFees = rawLog(POOL, [COLLECT_FEES, padded(GAUGE)], words(5n, 6n))
const swap = rawLog(POOL, [SWAP, padded(GAUGE), padded(WETH)], words(-9n, 10n, 1n << 96n, 1n, -3n))

test('a pool is created', () => {
  assert.deepEqual(slipstream.announcements[POOL_CREATED]?.(created), {
    type: 'poolCreated',
    pool: POOL,
    tokens: [WETH, USDC],
    pricing: { kind: 'sqrtPrice' },
  })
  for (const bad of spoiled(created)) assert.equal(slipstream.announcements[POOL_CREATED]?.(bad), undefined)
  const dirty = withWord(created, 0, (1n << 160n) + BigInt(POOL))
  assert.equal(slipstream.announcements[POOL_CREATED]?.(dirty), undefined)
})

test('the gauge collects the fees of staked positions', () => {
  assert.deepEqual(slipstream.events[COLLECT_FEES]?.(collectFees), {
    type: 'feesCollected',
    pool: POOL,
    provider: undefined,
    amounts: [
      { token: 0, amount: 5n },
      { token: 1, amount: 6n },
    ],
  })
  for (const bad of spoiled(collectFees)) assert.equal(slipstream.events[COLLECT_FEES]?.(bad), undefined)
})

test('a swap decodes as in Uniswap V3', () => {
  assert.deepEqual(slipstream.events[SWAP]?.(swap), {
    type: 'swapped',
    pool: POOL,
    sender: GAUGE,
    recipient: WETH,
    token0: 0,
    token1: 1,
    delta0: -9n,
    delta1: 10n,
    price: { kind: 'sqrt', sqrtPriceX96: 1n << 96n, tick: -3 },
  })
})

describe('an older pool', () => {
  const claims = {
    [toFunctionSelector('factory()')]: padded(deployment.factory),
    [toFunctionSelector('token0()')]: padded(WETH),
    [toFunctionSelector('token1()')]: padded(USDC),
    [toFunctionSelector('tickSpacing()')]: words(100n),
  }
  const getPool =
    toFunctionSelector('getPool(address,address,int24)') +
    padded(WETH).slice(2) +
    padded(USDC).slice(2) +
    words(100n).slice(2)
  const balanceOf = toFunctionSelector('balanceOf(address)') + padded(POOL).slice(2)
  const contracts = {
    [POOL]: claims,
    [GAUGE]: claims,
    [deployment.factory]: { [getPool]: padded(POOL) },
    [WETH]: { [balanceOf]: words(3n) },
    [USDC]: { [balanceOf]: words(4n) },
  }
  const found = {
    factory: deployment.factory,
    tokens: [WETH, USDC],
    pricing: { kind: 'sqrtPrice' },
    reservesBefore: [3n, 4n],
  }

  test('is confirmed by the factory through its tick spacing', () => {
    const { found: pool, rounds } = lead(slipstream.identify(POOL, [deployment]), contracts)
    assert.deepEqual(pool, found)
    assert.deepEqual(
      rounds.map((calls) => calls.length),
      [4, 3],
    )
  })

  test('is confirmed by its address as a clone', () => {
    const initCodeHash = '0xffb9af9ea6d9e39da47392ecc7055277b9915b8bfc9f83f105821b7791a6ae30'
    const proven = { ...deployment, initCodeHash }
    assert.deepEqual(lead(slipstream.identify(POOL, [proven]), contracts).found, found)
    assert.equal(lead(slipstream.identify(GAUGE, [proven]), contracts).found, undefined)
  })

  test('is refused if the factory does not know it or does not answer', () => {
    assert.equal(lead(slipstream.identify(GAUGE, [deployment]), contracts).found, undefined)
    const silent = { ...contracts, [deployment.factory]: {} }
    assert.equal(lead(slipstream.identify(POOL, [deployment]), silent).found, undefined)
    assert.equal(lead(slipstream.identify(POOL, [deployment]), { ...contracts, [POOL]: {} }).found, undefined)
  })
})
