import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toEventSelector } from 'viem'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { DexDeployment } from '../../protocol.ts'
import { pancakeswapV3 } from './protocol.ts'

const SWAP = toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)')
const UNISWAP_SWAP = toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24)')
const ROUTER = '0x55877bd7f2ee37bde55ca4b271a3631f3a7ef121'
const swap = rawLog(
  '0x62fcb3c1794fb95bd8b1a97f6ad5d8a7e4943a1e',
  [SWAP, padded(ROUTER), padded(ROUTER)],
  '0x00000000000000000000000000000000000000000000000000182688fed2cde3' +
    'ffffffffffffffffffffffffffffffffffffffffffffffffff8f2c0f05797df4' +
    '0000000000000000000000000000000000000002295b851058e8a6f707bcc3a8' +
    '0000000000000000000000000000000000000000000000d51bb7e462416d1ff7' +
    '0000000000000000000000000000000000000000000000000000000000003c39' +
    '000000000000000000000000000000000000000000000000000000343ae50170' +
    '0000000000000000000000000000000000000000000000000000000000000000',
)

function read(log: RawLog) {
  return pancakeswapV3.events[log.topics[0] ?? '']?.(log)
}

test('BNB Chain 0x401b2209ef972bf9f3e77b743df65b9a0057e21e3a325b790811902d6faa6f2f: a swap with protocol fees', () => {
  assert.deepEqual(read(swap), {
    type: 'swapped',
    pool: '0x62fcb3c1794fb95bd8b1a97f6ad5d8a7e4943a1e',
    sender: ROUTER,
    recipient: ROUTER,
    token0: 0,
    token1: 1,
    delta0: 6_797_769_273_691_619n,
    delta1: -31_758_229_340_324_364n,
    price: { kind: 'sqrt', sqrtPriceX96: 0x2295b851058e8a6f707bcc3a8n, tick: 15_417 },
  })
})

test('an incomplete swap is refused', () => {
  for (const bad of spoiled(swap)) assert.equal(read(bad), undefined)
  assert.equal(read(withWord(swap, 4, 887_273n)), undefined)
})

test('the protocol equals Uniswap V3 except for its Swap', () => {
  assert.equal(pancakeswapV3.events[UNISWAP_SWAP], undefined)
  assert.equal(Object.keys(pancakeswapV3.events).length, 7)
})

describe('an older pool', () => {
  const POOL = '0x36696169c63e42cd08ce11f5deebbcebae652050'
  const USDT = '0x55d398326f99059ff775485246999027b3197955'
  const WBNB = '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'
  const deployment: DexDeployment = {
    amm: 'pancakeswap',
    protocol: 'pancakeswap_v3',
    factory: '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865',
    deployer: '0x41ff9aa7e16b8b1a8a8dc4f0efacd93d02d071c9',
    initCodeHash: '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2',
  }
  const claims = {
    '0xc45a0155': padded(deployment.factory),
    '0x0dfe1681': padded(USDT),
    '0xd21220a7': padded(WBNB),
    '0xddca3f43': padded('0x01f4'),
  }
  const balanceOf = `0x70a08231${padded(POOL).slice(2)}`
  const contracts = {
    [POOL]: claims,
    [USDT]: { [balanceOf]: padded('0x07') },
    [WBNB]: { [balanceOf]: padded('0x08') },
  }

  test('is confirmed by the address from its deployer', () => {
    assert.deepEqual(lead(pancakeswapV3.identify(POOL, [deployment]), contracts).found, {
      factory: deployment.factory,
      tokens: [USDT, WBNB],
      pricing: { kind: 'sqrtPrice' },
      reservesBefore: [7n, 8n],
    })
  })

  test('is not confirmed by any other address', () => {
    const { deployer: _, ...without } = deployment
    assert.equal(lead(pancakeswapV3.identify(POOL, [without]), contracts).found, undefined)
    const liar = { ...contracts, [ROUTER]: claims }
    assert.equal(lead(pancakeswapV3.identify(ROUTER, [deployment]), liar).found, undefined)
  })
})
