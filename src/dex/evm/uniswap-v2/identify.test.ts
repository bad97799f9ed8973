import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { type Contracts, lead } from '../../../../test/support/builders/inquiry.ts'
import { padded } from '../../../../test/support/builders/raw-log.ts'
import type { DexDeployment } from '../../protocol.ts'
import { uniswapV2 } from './protocol.ts'

describe('identify', () => {
  const POOL = '0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc'
  const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
  const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
  const FACTORY = '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f'
  const OTHER = '0xc0aee478e3658e2610c5f7a4a2e1777ce9e4f2ac'
  const abi = parseAbi([
    'function factory()',
    'function token0()',
    'function token1()',
    'function getPair(address, address)',
  ])
  const pool = {
    [encodeFunctionData({ abi, functionName: 'factory' })]: padded(FACTORY),
    [encodeFunctionData({ abi, functionName: 'token0' })]: padded(USDC),
    [encodeFunctionData({ abi, functionName: 'token1' })]: padded(WETH),
  }
  const GET_PAIR = encodeFunctionData({ abi, functionName: 'getPair', args: [USDC, WETH] })
  const asked: DexDeployment[] = [
    { amm: 'sushiswap_v2', protocol: 'uniswap_v2', factory: OTHER },
    { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: FACTORY },
  ]
  const computed: DexDeployment[] = [
    {
      amm: 'uniswap_v2',
      protocol: 'uniswap_v2',
      factory: FACTORY,
      initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
    },
  ]
  const found = {
    factory: FACTORY,
    tokens: [USDC, WETH],
    pricing: { kind: 'reserves' },
    reservesBefore: undefined,
  }

  function identify(deployments: DexDeployment[], contracts: Contracts, address: Hex = POOL) {
    return lead(uniswapV2.identify(address, deployments), contracts)
  }

  test('a pair counts if its factory confirms it', () => {
    const contracts = { [POOL]: pool, [FACTORY]: { [GET_PAIR]: padded(POOL) } }
    assert.deepEqual(identify(asked, contracts).found, found)
  })

  test('a known init code hash replaces the call to the factory', () => {
    const { found: pair, rounds } = identify(computed, { [POOL]: pool })
    assert.deepEqual(pair, found)
    assert.equal(rounds.length, 1)
  })

  test('a foreign contract is refused, whatever it claims', () => {
    const foreign = `0x${'ab'.repeat(20)}` as Hex
    const contracts = { [foreign]: pool, [FACTORY]: { [GET_PAIR]: padded(POOL) } }
    assert.equal(identify(asked, contracts, foreign).found, undefined)
    assert.equal(identify(computed, contracts, foreign).found, undefined)
    const [other] = asked
    assert.ok(other)
    assert.equal(identify([other], { [POOL]: pool }).found, undefined)
  })

  test('a pair without an answer is refused', () => {
    assert.equal(identify(asked, {}).found, undefined)
    assert.equal(identify(asked, { [POOL]: pool }).found, undefined)
    for (const question of Object.keys(pool)) {
      const { [question]: _, ...rest } = pool
      assert.equal(identify(computed, { [POOL]: rest }).found, undefined)
    }
  })
})
