import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hashOf, words } from '../../../../test/support/builders/abi-words.ts'
import { type Contracts, lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import { callData } from '../abi.ts'
import { uniswapV4 } from './protocol.ts'

const INITIALIZE = '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438'
const SWAP = '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f'
const MODIFY_LIQUIDITY = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec'
const DONATE = '0x29ef05caaff9404b7cb6d1c0e9bbae9eaa7ab2541feba1a9c4248594c08156cb'

const MANAGER = '0x000000000004444c5dc75cb358380d2e3de08a90'
const POLYGON_MANAGER = '0x67366782805870060151383f4bbff9dab53e5cd6'
const POSITION_MANAGER = '0xbd216513d74c8cf14cf4747e6aaa6420ff64ee9e'
const NATIVE = '0x0000000000000000000000000000000000000000'
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
/** ETH and USDC on Ethereum, fee 500, spacing 10, no hooks. */
const ETH_USDC = '0x21c67e77068de97969ba93d4aab21826d33ca12bb9f565d8496e8fda8a82ca27'
const ETH_USDC_KEY = [NATIVE, USDC, 500n, 10n, NATIVE]

const DIRTY_ID = `0x01${'0'.repeat(62)}`
const ROUTER = '0x66a9893cc07d91d95644aedd05d03f95e1dba8af'

function read(log: RawLog) {
  return uniswapV4.events[log.topics[0] ?? '']?.(log)
}

function announced(log: RawLog) {
  return uniswapV4.announcements[log.topics[0] ?? '']?.(log)
}

const initialized = rawLog(
  POLYGON_MANAGER,
  [
    INITIALIZE,
    '0x049116bf41c6d7e37b65c055bde33035e3c829c7973fe2657510112f069a07eb',
    padded('0x7f426f6dc648e50464a0392e60e1bb465a67e9cf'),
    padded('0xc2132d05d31c914a87c6611c10748aeb04b58e8f'),
  ],
  words(
    '0x00000000000000000000000000000000000000000000000000000000000f1b32',
    '0x0000000000000000000000000000000000000000000000000000000000004d58',
    '0x0000000000000000000000000000000000000000000000000000000000000000',
    '0x000000000000000000000000000000000000000000013cd969ebef6811c24e4d',
    '0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffcae2f',
  ),
)

const swapped = rawLog(
  MANAGER,
  [SWAP, '0x8a28923fefe72d7924ac6f5cc35a08db07b24e378cbc9735c34da8aca2a68db0', padded(ROUTER)],
  words(
    '0x000000000000000000000000000000000000000000000000000000000071cc86',
    '0xffffffffffffffffffffffffffffffffffffffffffffffffa67078c33468b4a8',
    '0x00000000000000000000000000000000000e2d03b871913f5117ef60a3356a16',
    '0x000000000000000000000000000000000000000000000000003a51c19e088250',
    '0x00000000000000000000000000000000000000000000000000000000000431a3',
    '0x0000000000000000000000000000000000000000000000000000000000000bb8',
  ),
)

const modified = rawLog(
  MANAGER,
  [MODIFY_LIQUIDITY, ETH_USDC, padded(POSITION_MANAGER)],
  words(
    '0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffd0f44',
    '0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffd0f6c',
    '0xffffffffffffffffffffffffffffffffffffffffffffffffed7395c461afe1ac',
    '0x000000000000000000000000000000000000000000000000000000000000c754',
  ),
)

describe('recorded logs', () => {
  test('Polygon 0x2277ee48d4e5394a59500a9f70ab29c12b27b28398973e6ca2666143dd690358: a pool is created with a price', () => {
    assert.deepEqual(announced(initialized), {
      type: 'poolCreated',
      pool: '0x049116bf41c6d7e37b65c055bde33035e3c829c7973fe2657510112f069a07eb',
      tokens: ['0x7f426f6dc648e50464a0392e60e1bb465a67e9cf', '0xc2132d05d31c914a87c6611c10748aeb04b58e8f'],
      pricing: { kind: 'sqrtPrice' },
      price: { kind: 'sqrt', sqrtPriceX96: 0x13cd969ebef6811c24e4dn, tick: -217_553 },
      tickSpacing: 19_800,
    })
  })

  test('Base 0x13020b28e7f28558b9cf07a1be11bc898d3de99d8414a8b9a4e7b60a4e4cb7a3: a pool with hooks', () => {
    const log = rawLog(
      '0x498581ff718922c3f8e6a244956af099b2652b2b',
      [
        INITIALIZE,
        '0xc15c3300af02e4a871e6ae36a88b539445807bc88b801e197b52c2b09adb86fe',
        padded('0x253fc97e16d8741bd4ff295a2a2d6e9ee2741d3c'),
        padded('0xde8089a9bf92581e365366bc32382cfa50acec42'),
      ],
      words(
        30_000n,
        200n,
        '0x9ea932730a7787000042e34390b8e435dd839040',
        0x3a704fd588689aafbad872dn,
        -85_000n,
      ),
    )
    assert.equal(announced(log)?.price?.kind, 'sqrt')
  })

  test('Ethereum 0xf0c60f4d2a87716bb4f3a7a62ed2d196448fe8435da7413edeaf20120b7d618a: one token in, 0x71cc86 of USDC out', () => {
    // Transfers of the same transaction: 0x598f873ccb974b58 to the pool manager, 0x71cc86 of USDC from it.
    assert.deepEqual(read(swapped), {
      type: 'swapped',
      pool: '0x8a28923fefe72d7924ac6f5cc35a08db07b24e378cbc9735c34da8aca2a68db0',
      sender: ROUTER,
      recipient: undefined,
      token0: 0,
      token1: 1,
      delta0: -0x71cc86n,
      delta1: 0x598f873ccb974b58n,
      price: { kind: 'sqrt', sqrtPriceX96: 0xe2d03b871913f5117ef60a3356a16n, tick: 274_851 },
      feePpm: 3_000,
    })
  })

  test('Ethereum 0xd96f3bdbdcb28e0e038a14afd343858a8dc72ddb41c16651a07d9422b6b04694: liquidity is removed', () => {
    assert.deepEqual(read(modified), {
      type: 'liquidityMoved',
      pool: ETH_USDC,
      provider: POSITION_MANAGER,
      tickLower: -192_700,
      tickUpper: -192_660,
      liquidityDelta: -1_336_559_993_713_860_180n,
    })
  })
})

test('a donation goes to the pool', () => {
  const log = rawLog(MANAGER, [DONATE, ETH_USDC, padded(ROUTER)], words(7n, 9n))
  assert.deepEqual(read(log), {
    type: 'donated',
    pool: ETH_USDC,
    amounts: [
      { token: 0, amount: 7n },
      { token: 1, amount: 9n },
    ],
  })
})

describe('hostile logs', () => {
  test('damaged logs are refused', () => {
    const donated = rawLog(MANAGER, [DONATE, ETH_USDC, padded(ROUTER)], words(7n, 9n))
    for (const log of [swapped, modified, donated]) {
      assert.notEqual(read(log), undefined)
      for (const bad of spoiled(log)) {
        // Any id is valid.
        if (bad.topics[1] !== DIRTY_ID) assert.equal(read(bad), undefined)
      }
    }
    for (const bad of spoiled(initialized)) assert.equal(announced(bad), undefined)
  })

  test('an id that is not the hash of the key announces nothing', () => {
    const topics = initialized.topics.with(1, ETH_USDC)
    assert.equal(announced({ ...initialized, topics }), undefined)
    const data = Buffer.from(initialized.data)
    data[31] = 0
    assert.equal(announced({ ...initialized, data }), undefined)
  })

  test('impossible numbers are refused', () => {
    const price = 1n << 96n
    const swap = (...values: bigint[]) => read(rawLog(MANAGER, swapped.topics, words(...values)))
    assert.notEqual(swap(1n, -1n, price, 0n, 887_272n, 1_000_000n), undefined)
    assert.equal(swap(1n, -1n, price, 0n, 887_273n, 500n), undefined)
    assert.equal(swap(1n, -1n, price, 0n, -887_273n, 500n), undefined)
    assert.equal(swap(1n, -1n, 4_295_128_738n, 0n, 0n, 500n), undefined)
    assert.equal(swap(1n, -1n, 1n << 160n, 0n, 0n, 500n), undefined)
    assert.equal(swap(1n, -1n, price, 0n, 0n, 1_000_001n), undefined)
    assert.equal(swap(1n << 127n, -1n, price, 0n, 0n, 500n), undefined)
    const modify = (...values: bigint[]) => read(rawLog(MANAGER, modified.topics, words(...values)))
    assert.notEqual(modify(-10n, 10n, 5n, 0n), undefined)
    assert.equal(modify(10n, 10n, 5n, 0n), undefined)
    assert.equal(modify(-887_280n, 10n, 5n, 0n), undefined)
    assert.equal(modify(-10n, 887_280n, 5n, 0n), undefined)
    assert.equal(modify(-10n, 10n, 1n << 127n, 0n), undefined)
    assert.equal(modify(-10n, 10n, 0n, 0n), undefined, 'fees paid out')
  })
})

describe('an older pool', () => {
  const deployment = {
    amm: 'uniswap_v4',
    protocol: 'uniswap-v4',
    factory: MANAGER,
    positionManager: POSITION_MANAGER,
  }

  const data = `0x86b6be7d${ETH_USDC.slice(2, 52)}00000000000000`

  test('is identified by the key that the position manager returns', () => {
    assert.equal(hashOf(...ETH_USDC_KEY), ETH_USDC)
    const contracts = { [POSITION_MANAGER]: { [data]: words(...ETH_USDC_KEY) } }
    const { rounds, found } = lead(uniswapV4.identify(ETH_USDC, [deployment]), contracts)
    assert.deepEqual(rounds, [[{ to: POSITION_MANAGER, data }]])
    assert.deepEqual(found, {
      factory: MANAGER,
      tokens: [NATIVE, USDC],
      pricing: { kind: 'sqrtPrice' },
      reservesBefore: undefined,
    })
  })

  test('stays unknown with a wrong key or none', () => {
    for (const answer of [
      words(NATIVE, USDC, 3_000n, 10n, NATIVE),
      words(0n, 0n, 0n, 0n, 0n),
      words(...ETH_USDC_KEY).slice(0, -2),
      '0x',
    ]) {
      const contracts = { [POSITION_MANAGER]: { [data]: answer } }
      assert.equal(lead(uniswapV4.identify(ETH_USDC, [deployment]), contracts).found, undefined)
    }
    assert.equal(lead(uniswapV4.identify(ETH_USDC, [deployment]), {}).found, undefined)
  })

  test('is not looked up without a position manager', () => {
    const { positionManager: _, ...bare } = deployment
    assert.deepEqual(lead(uniswapV4.identify(ETH_USDC, [bare]), {}), { rounds: [], found: undefined })
  })
})

describe('how to swap in a pool', () => {
  const deployment = {
    amm: 'v4',
    protocol: 'uniswap_v4',
    factory: MANAGER,
    positionManager: POSITION_MANAGER,
  }
  const slot = BigInt(hashOf(ETH_USDC, 6n))
  const slots = callData('0xdbd035ff', 32, 2, slot, slot + 3n)
  const keys = `0x86b6be7d${ETH_USDC.slice(2, 52).padEnd(64, '0')}`
  // A price of 4 and a liquidity of 1,000: 500 of the first token and 2,000 of the second.
  const state = words(32n, 2n, (7n << 160n) | (2n << 96n), 1_000n)
  const key = padKey(ETH_USDC_KEY)
  const market = {
    ...{ manager: MANAGER, vault: MANAGER, opening: '0x48c89491', hasHooks: false },
    swap: `0xf3cd914c${words(...ETH_USDC_KEY).slice(2)}`,
    virtualReserves: [500n, 2_000n],
  }
  const read = (announced: string[] | undefined, contracts: Contracts) => {
    const inquiry = uniswapV4.readMarket?.(ETH_USDC, deployment, announced)
    assert.ok(inquiry)
    return lead(inquiry, contracts).found
  }

  test('follows from its announced key', () => {
    assert.deepEqual(read(key, { [MANAGER]: { [slots]: state } }), market)
    assert.equal(
      read([...key.slice(0, 4), padded(ROUTER)], { [MANAGER]: { [slots]: state } })?.hasHooks,
      true,
    )
  })

  test('follows from the key that the position manager returns, if it is the right one', () => {
    const answers = (answer: string) => ({
      [MANAGER]: { [slots]: state },
      [POSITION_MANAGER]: { [keys]: answer },
    })
    assert.deepEqual(read(undefined, answers(words(...ETH_USDC_KEY))), market)
    assert.equal(read(undefined, answers(words(...ETH_USDC_KEY.with(2, 501n)))), undefined)
    assert.equal(read(undefined, { [MANAGER]: { [slots]: state } }), undefined)
  })

  test('is unknown without a price', () => {
    for (const answer of [words(32n, 2n, 0n, 1_000n), words(32n, 1n, 1n << 96n), '0x'])
      assert.equal(read(key, { [MANAGER]: { [slots]: answer } }), undefined)
  })
})

function padKey(key: readonly (string | bigint)[]): string[] {
  const all = words(...key).slice(2)
  return key.map((_, at) => `0x${all.slice(at * 64, at * 64 + 64)}`)
}
