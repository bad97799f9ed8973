import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getContractAddress, type Hex, keccak256, toHex } from 'viem'
import type { DexDeployment } from '../protocol.ts'
import { create2Address, keccakOfPacked } from './create2.ts'

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const USDT_BSC = '0x55d398326f99059ff775485246999027b3197955'
const WBNB = '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'

function pairOf(factory: string, initCodeHash: string, token0: string, token1: string): string {
  const deployment: DexDeployment = { amm: 'any', protocol: 'uniswap_v2', factory, initCodeHash }
  return create2Address(deployment, keccakOfPacked(token0, token1))
}

test('the address of a pair follows from its tokens', () => {
  const uniswap = pairOf(
    '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f',
    '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
    USDC,
    WETH,
  )
  assert.equal(uniswap, '0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc')
  const sushi = pairOf(
    '0xc0aee478e3658e2610c5f7a4a2e1777ce9e4f2ac',
    '0xe18a34eb0e04b04f7a0ac29a6e80748dca96319b42c54d679cb821dca90c6303',
    USDC,
    WETH,
  )
  assert.equal(sushi, '0x397ff1542f962076d0bfe58ea045ffa2d347aca0')
  const pancake = pairOf(
    '0xca143ce32fe78f1f7019d7d551a6402fc5350c73',
    '0x00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5',
    USDT_BSC,
    WBNB,
  )
  assert.equal(pancake, '0x16b9a82891338f9ba80e2d6970fdda79d1eb0dae')
})

test('a separate deployer replaces the factory in the address', () => {
  const factory = `0x${'f1'.repeat(20)}`
  const deployer = `0x${'de'.repeat(20)}`
  const initCodeHash = keccak256(toHex('code'))
  const salt = keccak256(toHex('salt'))
  const expected = getContractAddress({
    opcode: 'CREATE2',
    from: deployer as Hex,
    salt,
    bytecodeHash: initCodeHash,
  })
  const deployment = { amm: 'any', protocol: 'any', factory, deployer, initCodeHash }
  assert.equal(create2Address(deployment, salt), expected.toLowerCase())
})
