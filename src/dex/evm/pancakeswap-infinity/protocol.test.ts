import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Hex, toHex } from 'viem'
import { hashOf, packed, words } from '../../../../test/support/builders/abi-words.ts'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { Protocol } from '../../protocol.ts'
import { infinityBin, infinityCl } from './protocol.ts'

const CL_INITIALIZE = '0x426cc62fe6a33a40ba2788c2c87a9c34ee4582b95bc9fa5a7bb7ae70b750b99c'
const CL_SWAP = '0x04206ad2b7c0f463bff3dd4f33c5735b0f2957a351e4f79763a4fa9e775dd237'
const MODIFY_LIQUIDITY = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec'
const CL_DONATE = '0xbe708911656ae186ac3fc26a794e5f1319609ce340a14c63524f985fee4bc841'
const BIN_INITIALIZE = '0xddfde5903015c0eb1671976c6c8f760f1328bec57f15286b6bdab2f955cab9c9'
const BIN_SWAP = '0x3e8aae37f890eb1f9d63dd4d2062f3f0be757848a0f0760e4f3e53dad556e861'
const BIN_MINT = '0x7b6bc49b385af8644341f07a67cd976bf9daf2bdd5d71668e651a3a792e318e1'
const BIN_BURN = '0x16d40aa4e497175b58e47cbf101544758de8c01d92a760c738943044c758df8a'
const BIN_DONATE = '0xfc18146d5586318640b3febea90b094b834f09982812258534a1c07bdda12954'

const CL_MANAGER = '0xa0ffb9c1ce1fe56963b0321b32e7a0302114058b'
const BIN_MANAGER = '0xc697d2898e0d09264376196696c51d7abbbaa4a9'
const NATIVE = '0x0000000000000000000000000000000000000000'
const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const POOL = '0xf6e81e5d16a7274d273905e0068f9f607b840c20bec23b2e442976ee03b29d91'
const DIRTY_ID = `0x01${'0'.repeat(62)}`

const SENDER = '0xdc5d8200a030798bc6227240f68b4dd9542686ef'
const TOPICS = [POOL, padded(SENDER)]

/** Bin step 25, and two active hooks. */
const PARAMETERS = toHex((25n << 16n) | 0b101n, { size: 32 })
const PRICE = 1n << 96n

function read(protocol: Protocol, log: RawLog) {
  return protocol.events[log.topics[0] ?? '']?.(log)
}

function announced(protocol: Protocol, log: RawLog) {
  return protocol.announcements[log.topics[0] ?? '']?.(log)
}

function keyOf(manager: string): readonly (string | bigint)[] {
  return [NATIVE, USDC, SENDER, manager, 100n, PARAMETERS]
}

function amounts(amount0: bigint, amount1: bigint) {
  return [
    { token: 0, amount: amount0 },
    { token: 1, amount: amount1 },
  ]
}

const clSwap = rawLog(
  CL_MANAGER,
  [CL_SWAP, ...TOPICS],
  words(
    '0xfffffffffffffffffffffffffffffffffffffffffffffffffffcb50375525b22',
    '0x00000000000000000000000000000000000000000000000000000000001be1b0',
    '0x00000000000000000000000000000000000000000002e8f0cd78ed499f7dff28',
    '0x00000000000000000000000000000000000000000000000000100a6ad8ada476',
    '0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffcf0f9',
    '0x0000000000000000000000000000000000000000000000000000000000000046',
    '0x0000000000000000000000000000000000000000000000000000000000000017',
  ),
)

describe('recorded logs', () => {
  test('Base 0x304022641c44fd883a788e9fc962160a674f74835e1af4b13bc1afa882bcf17f: ETH in, 0x1be1b0 of USDC out', () => {
    // In the same transaction, 0x34afc8aada4de of wrapped ETH is unwrapped, and the vault transfers 0x1be1b0 of USDC.
    assert.deepEqual(read(infinityCl, clSwap), {
      type: 'swapped',
      pool: POOL,
      sender: SENDER,
      recipient: undefined,
      token0: 0,
      token1: 1,
      delta0: 0x34afc8aada4den,
      delta1: -0x1be1b0n,
      price: { kind: 'sqrt', sqrtPriceX96: 0x2e8f0cd78ed499f7dff28n, tick: -200_455 },
      feePpm: 70,
    })
  })

  test('Base 0x55cc5e692d0b50d335573f56c4347b806214973651887c82cb5b622e503ff4de: ETH in, 0x61beae of USDC out', () => {
    const log = rawLog(
      CL_MANAGER,
      [CL_SWAP, POOL, padded('0x7747f8d2a76bd6345cc29622a946a929647f2359')],
      words(
        '0xfffffffffffffffffffffffffffffffffffffffffffffffffff639dcaed301e7',
        '0x000000000000000000000000000000000000000000000000000000000061beae',
        '0x0000000000000000000000000000000000000000000329930020d0e60d88fbde',
        '0x000000000000000000000000000000000000000000000000000a74d43a81ca94',
        '0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffcf779',
        '0x0000000000000000000000000000000000000000000000000000000000000046',
        '0x0000000000000000000000000000000000000000000000000000000000000017',
      ),
    )
    const event = read(infinityCl, log)
    assert.ok(event?.type === 'swapped')
    assert.deepEqual([event.delta0, event.delta1], [0x9c623512cfe19n, -0x61beaen])
  })
})

describe('pools of concentrated liquidity', () => {
  const id = hashOf(...keyOf(CL_MANAGER))
  const initialized = rawLog(
    CL_MANAGER,
    [CL_INITIALIZE, id, padded(NATIVE), padded(USDC)],
    words(SENDER, 100n, PARAMETERS, PRICE, -1n),
  )
  const modified = rawLog(CL_MANAGER, [MODIFY_LIQUIDITY, ...TOPICS], words(-20n, 30n, 44n, 0n))
  const donated = rawLog(CL_MANAGER, [CL_DONATE, ...TOPICS], words(7n, 9n, -5n))

  test('are announced with a price', () => {
    assert.deepEqual(announced(infinityCl, initialized), {
      type: 'poolCreated',
      pool: id,
      tokens: [NATIVE, USDC],
      pricing: { kind: 'sqrtPrice' },
      price: { kind: 'sqrt', sqrtPriceX96: PRICE, tick: -1 },
      tickSpacing: 25,
    })
    for (const bad of spoiled(initialized)) assert.equal(announced(infinityCl, bad), undefined)
    assert.equal(announced(infinityCl, { ...initialized, address: BIN_MANAGER }), undefined)
    assert.equal(announced(infinityCl, withWord(initialized, 1, 101n)), undefined)
    assert.equal(announced(infinityCl, withWord(initialized, 3, 0n)), undefined)
    assert.equal(announced(infinityCl, withWord(initialized, 4, 887_273n)), undefined)
  })

  test('decode every kind of event', () => {
    assert.deepEqual(read(infinityCl, modified), {
      type: 'liquidityMoved',
      pool: POOL,
      provider: SENDER,
      tickLower: -20,
      tickUpper: 30,
      liquidityDelta: 44n,
    })
    assert.deepEqual(read(infinityCl, donated), { type: 'donated', pool: POOL, amounts: amounts(7n, 9n) })
  })

  test('decode no damaged event', () => {
    for (const log of [clSwap, modified, donated]) {
      for (const bad of spoiled(log)) {
        // Any id is valid, and trailing data is ignored.
        if (bad.topics[1] === DIRTY_ID || bad.data.length >= readTo(log)) continue
        assert.equal(read(infinityCl, bad), undefined)
      }
    }
    assert.equal(read(infinityCl, withWord(clSwap, 0, 1n << 127n)), undefined)
    assert.equal(read(infinityCl, withWord(clSwap, 4, -887_273n)), undefined)
    assert.equal(read(infinityCl, withWord(clSwap, 5, 1_000_001n)), undefined)
  })

  function readTo(log: RawLog): number {
    return log === clSwap ? 6 * 32 : log === donated ? 2 * 32 : log.data.length
  }
})

describe('pools of bins', () => {
  const id = hashOf(...keyOf(BIN_MANAGER))
  const initialized = rawLog(
    BIN_MANAGER,
    [BIN_INITIALIZE, id, padded(NATIVE), padded(USDC)],
    words(SENDER, 100n, PARAMETERS, 8_388_600n),
  )
  const swapped = rawLog(BIN_MANAGER, [BIN_SWAP, ...TOPICS], words(-1_000n, 990n, 8_388_601n, 3_000n, 10n))
  const minted = rawLog(
    BIN_MANAGER,
    [BIN_MINT, ...TOPICS],
    words(
      ...[160n, 0n, 256n, packed(1n, 1n), packed(0n, 1n)],
      ...[2n, 8_388_600n, 8_388_601n],
      ...[2n, packed(0n, 50n), packed(7n, 3n)],
    ),
  )
  const burned = rawLog(
    BIN_MANAGER,
    [BIN_BURN, ...TOPICS],
    words(...[96n, 0n, 160n], ...[1n, 8_388_600n], ...[1n, packed(4n, 2n ** 128n - 1n)]),
  )
  const donated = rawLog(BIN_MANAGER, [BIN_DONATE, ...TOPICS], words(-7n, -9n, 8_388_600n))

  test('are announced with their step and active bin', () => {
    assert.deepEqual(announced(infinityBin, initialized), {
      type: 'poolCreated',
      pool: id,
      tokens: [NATIVE, USDC],
      pricing: { kind: 'bins', binStep: 25 },
      price: { kind: 'bin', id: 8_388_600 },
    })
    for (const bad of spoiled(initialized)) assert.equal(announced(infinityBin, bad), undefined)
    assert.equal(announced(infinityBin, { ...initialized, address: CL_MANAGER }), undefined)
    assert.equal(announced(infinityBin, withWord(initialized, 3, 1n << 24n)), undefined)
  })

  test('decode every kind of event', () => {
    assert.deepEqual(read(infinityBin, swapped), {
      type: 'swapped',
      pool: POOL,
      sender: SENDER,
      recipient: undefined,
      token0: 0,
      token1: 1,
      delta0: 1_000n,
      delta1: -990n,
      price: { kind: 'bin', id: 8_388_601 },
      feePpm: 3_000,
      protocolFeePpm: 10,
    })
    assert.deepEqual(read(infinityBin, minted), {
      type: 'liquidityAdded',
      pool: POOL,
      provider: SENDER,
      amounts: amounts(7n, 53n),
    })
    assert.deepEqual(read(infinityBin, burned), {
      type: 'liquidityRemoved',
      pool: POOL,
      provider: SENDER,
      amounts: amounts(4n, 2n ** 128n - 1n),
      isPaidOut: true,
    })
    assert.deepEqual(read(infinityBin, donated), { type: 'donated', pool: POOL, amounts: amounts(7n, 9n) })
  })

  test('decode no damaged event', () => {
    for (const log of [swapped, minted, burned, donated]) {
      const readTo = log.data.length
      for (const bad of spoiled(log)) {
        if (bad.topics[1] === DIRTY_ID || bad.data.length >= readTo) continue
        assert.equal(read(infinityBin, bad), undefined)
      }
    }
    assert.equal(read(infinityBin, withWord(swapped, 2, 1n << 24n)), undefined)
    assert.equal(read(infinityBin, withWord(donated, 0, 7n)), undefined, 'taken, not given')
    for (const offset of [33n, 1n << 40n, 10_000n]) {
      assert.equal(read(infinityBin, withWord(minted, 2, offset)), undefined)
    }
    assert.equal(read(infinityBin, withWord(minted, 8, 0xffff_ffffn)), undefined, 'more than is there')
  })
})

describe('an older pool', () => {
  for (const [name, protocol, factory, pricing] of [
    ['of concentrated liquidity', infinityCl, CL_MANAGER, { kind: 'sqrtPrice' }],
    ['of bins', infinityBin, BIN_MANAGER, { kind: 'bins', binStep: 25 }],
  ] as const) {
    const deployment = { amm: 'pancakeswap_infinity', protocol: 'infinity', factory }
    const found = (pool: Hex, answer: string | undefined) => {
      const call = { to: factory, data: `0x0e2d484a${pool.slice(2)}` }
      const contracts = answer === undefined ? {} : { [factory]: { [call.data]: answer } }
      const inquiry = lead(protocol.identify(pool, [deployment]), contracts)
      assert.deepEqual(inquiry.rounds, [[call]])
      return inquiry.found
    }

    test(`${name} is identified by the key that its manager returns`, () => {
      const key = keyOf(factory)
      const expected = { factory, tokens: [NATIVE, USDC], pricing, reservesBefore: undefined }
      assert.deepEqual(found(hashOf(...key), words(...key)), expected)
    })

    test(`${name} stays unknown with a wrong key or none`, () => {
      const key = keyOf(factory)
      const id = hashOf(...key)
      for (const answer of [
        words(...key.with(1, SENDER)),
        words(0n, 0n, 0n, 0n, 0n, 0n),
        words(...key).slice(0, -2),
        '0x',
        undefined,
      ]) {
        assert.equal(found(id, answer), undefined)
      }
      const foreign = keyOf(SENDER)
      assert.equal(found(hashOf(...foreign), words(...foreign)), undefined, "another manager's")
    })
  }
})

test('how to swap in a pool follows from its key, its state and the vault', () => {
  const key = keyOf(CL_MANAGER)
  const id = hashOf(...key)
  const answers = {
    [`0x0e2d484a${id.slice(2)}`]: words(...key),
    '0xfbfa77cf': words(USDC),
    // A price of 4 and a liquidity of 1,000: 500 of the first token and 2,000 of the second.
    [`0xc815641c${id.slice(2)}`]: words(2n << 96n, 7n, 0n, 0n),
    [`0xfa6793d5${id.slice(2)}`]: words(1_000n),
  }
  const deployment = { amm: 'pancakeswap_infinity', protocol: 'infinity', factory: CL_MANAGER }
  const read = (contract: Record<string, string>) => {
    const inquiry = infinityCl.readMarket?.(id, deployment, undefined)
    assert.ok(inquiry)
    return lead(inquiry, { [CL_MANAGER]: contract }).found
  }
  assert.deepEqual(read(answers), {
    ...{ manager: CL_MANAGER, vault: USDC, opening: '0x81548319', hasHooks: true },
    swap: `0xcd0cc1ce${words(...key).slice(2)}`,
    virtualReserves: [500n, 2_000n],
  })
  for (const call of Object.keys(answers)) {
    assert.equal(read({ ...answers, [call]: words(2n ** 255n) }), undefined, call)
    assert.equal(read({ ...answers, [call]: '0x' }), undefined, call)
  }
})
