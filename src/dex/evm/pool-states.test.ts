import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { words } from '../../../test/support/builders/abi-words.ts'
import type { Contracts } from '../../../test/support/builders/inquiry.ts'
import type { CreatedPool } from '../../domain/created-pool.ts'
import type { PoolState, Pricing } from '../../domain/envelope.ts'
import { EVM_PROTOCOLS } from '../protocols.ts'
import { callData } from './abi.ts'
import { amountsOfLiquidity, sqrtPriceAtTick } from './concentrated-liquidity.ts'
import { keccakOfPacked } from './create2.ts'
import { amountsOfTicks, bitmapWords, ticksOfWord } from './tick-liquidity.ts'

const FACTORY = '0x00000000000000000000000000000000000000fa'
const POOL = '0x000000000000000000000000000000000000b001'
const TOKEN0 = '0x0000000000000000000000000000000000000a00'
const TOKEN1 = '0x0000000000000000000000000000000000000a01'
const BALANCE = callData('0x70a08231', POOL)

function stateOf(
  protocol: string,
  contracts: Contracts,
  {
    pricing = { kind: 'trades' },
    ...other
  }: { pricing?: Pricing; tickSpacing?: number; address?: string } = {},
): PoolState | undefined {
  const pool: CreatedPool = {
    ...{ address: POOL, factory: FACTORY, tokens: [TOKEN0, TOKEN1], pricing },
    ...{ tickSpacing: undefined, goalRaw: undefined, ...other },
  }
  const inquiry = EVM_PROTOCOLS[protocol]?.readState?.(pool, { amm: protocol, protocol, factory: FACTORY })
  assert.ok(inquiry !== undefined)
  let step = inquiry.next([])
  while (!step.done) {
    const answers = step.value.map(({ to, data, before }) => {
      assert.equal(before, undefined, 'the state after one block')
      const answer = contracts[to]?.[data]
      return answer === undefined ? undefined : Buffer.from(answer.slice(2), 'hex')
    })
    step = inquiry.next(answers)
  }
  return step.value
}

const GET_RESERVES = '0x0902f1ac'

describe('a pair with reserves', () => {
  const reserves = { [GET_RESERVES]: words(50_000n, 70_000n, 123n) }

  test('reports them', () => {
    const contracts = { [POOL]: reserves }
    const pricing = { kind: 'reserves' } as const
    const expected = { reserves: [50_000n, 70_000n], price: undefined }
    assert.deepEqual(stateOf('uniswap_v2', contracts, { pricing }), expected)
    assert.deepEqual(stateOf('solidly', contracts, { pricing }), expected)
    assert.equal(stateOf('uniswap_v2', {}, { pricing }), undefined)
  })

  test('is priced by a quote of a ten-thousandth if it is stable', () => {
    const quote = { [callData('0xf140a35a', 5n, TOKEN0)]: words(4n) }
    assert.deepEqual(stateOf('solidly', { [POOL]: { ...reserves, ...quote } }), {
      reserves: [50_000n, 70_000n],
      price: { kind: 'exchange', raw0: 5n, raw1: 4n },
    })
    assert.deepEqual(stateOf('solidly', { [POOL]: reserves })?.price, undefined)
    const empty = { [POOL]: { [GET_RESERVES]: words(9_999n, 1n, 0n) } }
    assert.deepEqual(stateOf('solidly', empty), { reserves: [9_999n, 1n], price: undefined })
  })
})

describe('a pool of concentrated liquidity', () => {
  const price = { kind: 'sqrt', sqrtPriceX96: sqrtPriceAtTick(-7), tick: -7 } as const
  const balances = { [TOKEN0]: { [BALANCE]: words(11n) }, [TOKEN1]: { [BALANCE]: words(22n) } }
  for (const [protocol, selector] of [
    ['uniswap_v3', '0x3850c7bd'],
    ['pancakeswap_v3', '0x3850c7bd'],
    ['slipstream', '0x3850c7bd'],
    ['algebra', '0xe76c01e4'],
  ] as const)
    test(`of ${protocol} has its price and the balances of both tokens`, () => {
      const pool = { [selector]: words(price.sqrtPriceX96, -7n, 1n, 1n) }
      assert.deepEqual(stateOf(protocol, { [POOL]: pool, ...balances }), { price, reserves: [11n, 22n] })
      assert.deepEqual(stateOf(protocol, { [POOL]: pool, [TOKEN0]: balances[TOKEN0] ?? {} }), {
        price,
        reserves: undefined,
      })
      assert.equal(stateOf(protocol, { [POOL]: { [selector]: words(0n, 0n) }, ...balances }), undefined)
      assert.equal(stateOf(protocol, balances), undefined)
    })
})

test('a pool of bins has its active bin, and the reserves with the fees of the protocol', () => {
  const pool = { '0xdbe65edc': words(8_388_608n), [GET_RESERVES]: words(5n, 6n), '0xd8dfcea0': words(1n, 2n) }
  const pricing = { kind: 'bins', binStep: 20 } as const
  assert.deepEqual(stateOf('trader_joe_lb', { [POOL]: pool }, { pricing }), {
    price: { kind: 'bin', id: 8_388_608 },
    reserves: [6n, 8n],
  })
  const beyond = { ...pool, '0xdbe65edc': words(0x1_00_0000n) }
  assert.equal(stateOf('trader_joe_lb', { [POOL]: beyond }, { pricing }), undefined)
})

describe('a pool of Curve', () => {
  const balances = {
    [callData('0x4903b0d1', 0)]: words(1_000_000n),
    [callData('0x4903b0d1', 1)]: words(2_000_000n),
  }
  for (const [name, selector] of [
    ['stable', '0x5e0d443f'],
    ['crypto', '0x556d6e9f'],
  ] as const)
    test(`of two ${name} coins has its balances and a quote`, () => {
      const quote = { [callData(selector, 0, 1, 100n)]: words(99n) }
      assert.deepEqual(stateOf('curve', { [POOL]: { ...balances, ...quote } }), {
        reserves: [1_000_000n, 2_000_000n],
        price: { kind: 'exchange', raw0: 100n, raw1: 99n },
      })
    })
})

describe('a pool in a vault of Balancer', () => {
  const id = `${POOL}000200000000000000000001`
  const WEIGHTS = '0xf89f27ed'
  const weights = { [WEIGHTS]: words(32n, 2n, 8n * 10n ** 17n, 2n * 10n ** 17n) }
  const held = words(96n, 192n, 7n, 2n, TOKEN0, TOKEN1, 2n, 400n, 100n)

  test('of V2 that is weighted has its balances, and the price that they and the weights make', () => {
    const vault = { [callData('0xf94d4668', id)]: held }
    const contracts = { [POOL]: { '0x38fff2d0': words(id), ...weights }, [FACTORY]: vault }
    assert.deepEqual(stateOf('balancer_v2', contracts), {
      reserves: [400n, 100n],
      // 400 are worth four times as much as 100.
      price: { kind: 'exchange', raw0: 400n * 2n * 10n ** 17n, raw1: 100n * 8n * 10n ** 17n },
    })
    const unweighted = { [POOL]: { '0x38fff2d0': words(id) }, [FACTORY]: vault }
    assert.deepEqual(stateOf('balancer_v2', unweighted), { reserves: [400n, 100n], price: undefined })
    const liar = { [POOL]: { '0x38fff2d0': words(`${FACTORY}000200000000000000000001`) }, [FACTORY]: vault }
    assert.equal(stateOf('balancer_v2', liar), undefined)
  })

  test('of V3 likewise', () => {
    const info = words(128n, 224n, 256n, 352n, 2n, TOKEN0, TOKEN1, 0n, 2n, 400n, 100n, 0n)
    const contracts = { [POOL]: weights, [FACTORY]: { [callData('0x67e0e076', POOL)]: info } }
    assert.deepEqual(stateOf('balancer_v3', contracts)?.reserves, [400n, 100n])
  })
})

describe('a bonding curve', () => {
  const FOUR_MEME_INFOS = callData('0xe684626b', TOKEN0)
  const info = (status: bigint, offers = 800_000n) =>
    [TOKEN0, TOKEN1, 0n, 10n ** 9n, 10n ** 8n, 24n, 0n, offers, 7n, 0n, 5n, 6n, status] as const
  const cost = (offers: bigint) => callData('0x467dffe6', ...info(0n), offers / 10_000n)

  test('of four.meme has what is left and raised, and a quote of a ten-thousandth', () => {
    const contracts = { [FOUR_MEME_INFOS]: words(...info(0n)), [cost(800_000n)]: words(3n) }
    assert.deepEqual(stateOf('four_meme', { [FACTORY]: contracts }), {
      reserves: [800_000n, 7n],
      price: { kind: 'exchange', raw0: 80n, raw1: 3n },
    })
    const unquoted = { [FOUR_MEME_INFOS]: words(...info(0n)) }
    assert.deepEqual(stateOf('four_meme', { [FACTORY]: unquoted })?.price, undefined)
  })

  test('of four.meme that is halted or sold, or of another token, has no state', () => {
    for (const status of [1n, 2n, 3n])
      assert.equal(
        stateOf('four_meme', { [FACTORY]: { [FOUR_MEME_INFOS]: words(...info(status)) } }),
        undefined,
      )
    const other = { [FOUR_MEME_INFOS]: words(TOKEN1, ...info(0n).slice(1)) }
    assert.equal(stateOf('four_meme', { [FACTORY]: other }), undefined)
    const sold = { [FOUR_MEME_INFOS]: words(...info(0n, 9_999n)) }
    assert.deepEqual(stateOf('four_meme', { [FACTORY]: sold }), { reserves: [9_999n, 7n], price: undefined })
  })

  const FLAP_STATE = callData('0xf99abb9e', TOKEN0)
  const state = (status: bigint) => words(status, 7n, 300n, 12_345n, 1n, 0n, 0n, 0n, 1_000n, TOKEN1)
  const decimals = (count: bigint) => ({ [TOKEN1]: { '0x313ce567': words(count) } })

  test("of Flap has what is left and raised, and the portal's price", () => {
    const portal = { [FACTORY]: { [FLAP_STATE]: state(1n) } }
    assert.deepEqual(stateOf('flap', { ...portal, ...decimals(18n) }), {
      reserves: [700n, 7n],
      price: { kind: 'exchange', raw0: 10n ** 18n, raw1: 12_345n },
    })
    // Its unit is known for such quote assets alone.
    assert.deepEqual(stateOf('flap', { ...portal, ...decimals(6n) }), {
      reserves: [700n, 7n],
      price: undefined,
    })
    assert.equal(stateOf('flap', { ...portal })?.price, undefined)
  })

  test('of Flap that is sold, or not known to the portal, has no state', () => {
    assert.equal(stateOf('flap', { [FACTORY]: { [FLAP_STATE]: state(4n) }, ...decimals(18n) }), undefined)
    assert.equal(stateOf('flap', { [FACTORY]: { [FLAP_STATE]: state(0n) } }), undefined)
    assert.equal(stateOf('flap', {}), undefined)
  })
})

describe('a pool of bins in PancakeSwap Infinity', () => {
  const id = `0x${'b1'.repeat(32)}`
  const pricing = { kind: 'bins', binStep: 10 } as const
  const slot = BigInt(keccakOfPacked(id, callData('0x', 5n)))
  const entry = (key: number, place: bigint) => BigInt(keccakOfPacked(callData('0x', key, slot + place)))
  const load = (...slots: bigint[]) => callData('0xdbd035ff', 32, slots.length, ...slots)
  const loaded = (...values: bigint[]) => words(32n, BigInt(values.length), ...values)
  const ACTIVE = 0x80_01_02
  const OTHER = 0x80_01_ff
  const tree = {
    [load(slot, slot + 4n)]: loaded((5n << 24n) | BigInt(ACTIVE), 1n << 0x80n),
    [load(entry(0x80, 5n))]: loaded(1n << 0x01n),
    [load(entry(0x80_01, 6n))]: loaded((1n << 0x02n) | (1n << 0xffn)),
  }
  const bins = { [load(entry(ACTIVE, 1n), entry(OTHER, 1n))]: loaded((7n << 128n) | 5n, 30n << 128n) }

  test('has its active bin, and the reserves of all bins', () => {
    const contracts = { [FACTORY]: { ...tree, ...bins } }
    assert.deepEqual(stateOf('pancakeswap_infinity_bin', contracts, { pricing, address: id }), {
      price: { kind: 'bin', id: ACTIVE },
      reserves: [5n, 37n],
    })
  })

  test('has no reserves if a bin does not answer, and no state if it was never created', () => {
    const partly = { [FACTORY]: tree }
    assert.deepEqual(stateOf('pancakeswap_infinity_bin', partly, { pricing, address: id }), {
      price: { kind: 'bin', id: ACTIVE },
      reserves: undefined,
    })
    const empty = { [FACTORY]: { [load(slot, slot + 4n)]: loaded(0n, 0n) } }
    assert.equal(stateOf('pancakeswap_infinity_bin', empty, { pricing, address: id }), undefined)
  })

  test('with bins without number has no reserves', () => {
    const all = 2n ** 256n - 1n
    const wide = {
      [load(slot, slot + 4n)]: loaded(BigInt(ACTIVE), 1n << 0x80n),
      [load(entry(0x80, 5n))]: loaded(all),
    }
    for (let at = 0; at < 256; at += 28) {
      const nodes = Array.from({ length: Math.min(28, 256 - at) }, (_, more) => 0x80_00 + at + more)
      Object.assign(wide, {
        [load(...nodes.map((node) => entry(node, 6n)))]: loaded(...nodes.map(() => all)),
      })
    }
    const state = stateOf('pancakeswap_infinity_bin', { [FACTORY]: wide }, { pricing, address: id })
    assert.deepEqual(state?.reserves, undefined)
    assert.ok(state !== undefined)
  })
})

/** Where their managers store their pools. */
const SINGLETONS = { uniswap_v4: 6, pancakeswap_infinity_cl: 4 } as const

for (const [protocol, place] of Object.entries(SINGLETONS))
  describe(`a pool of ${protocol}`, () => {
    const id = `0x${'4f'.repeat(32)}`
    const tick = 12

    /** Storage of the manager, as it answers `extsload`. */
    function storage(slots: ReadonlyMap<bigint, bigint>): Contracts {
      const manager = new Proxy({} as Record<string, string>, {
        get: (_, data: string) => {
          if (!data.startsWith('0xdbd035ff')) return undefined
          const asked = (data.slice(10 + 128).match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`))
          return words(32n, BigInt(asked.length), ...asked.map((slot) => slots.get(slot) ?? 0n))
        },
      })
      return { [FACTORY]: manager }
    }

    function slotsOf(
      positions: readonly { lower: number; upper: number; liquidity: bigint }[],
      spacing: number,
    ) {
      const pool = BigInt(keccakOfPacked(id, callData('0x', place)))
      const entry = (key: number, mapping: bigint) => BigInt(keccakOfPacked(callData('0x', key, mapping)))
      const nets = new Map<number, bigint>()
      for (const { lower, upper, liquidity } of positions) {
        nets.set(lower, (nets.get(lower) ?? 0n) + liquidity)
        nets.set(upper, (nets.get(upper) ?? 0n) - liquidity)
      }
      const fee = 3_000n << 208n
      const slots = new Map([[pool, fee | (BigInt(tick) << 160n) | sqrtPriceAtTick(tick)]])
      for (const [at, net] of nets) {
        const compressed = at / spacing
        const word = entry(compressed >> 8, pool + 5n)
        slots.set(word, (slots.get(word) ?? 0n) | (1n << BigInt(compressed & 255)))
        slots.set(entry(at, pool + 4n), (BigInt.asUintN(128, net) << 128n) | 9n)
      }
      return slots
    }

    const position = fc
      .record({
        lower: fc.integer({ min: -14_000, max: 13_999 }),
        width: fc.integer({ min: 1, max: 500 }),
        liquidity: fc.bigInt(1n, 10n ** 24n),
      })
      .map(({ lower, width, liquidity }) => ({ lower: lower * 60, upper: (lower + width) * 60, liquidity }))
      .filter(({ upper }) => upper <= 14_000 * 60)

    test('holds what its positions are worth at its price', () => {
      const pricing = { kind: 'sqrtPrice' } as const
      fc.assert(
        fc.property(fc.array(position, { maxLength: 12 }), (positions) => {
          const contracts = storage(slotsOf(positions, 60))
          const state = stateOf(protocol, contracts, { pricing, tickSpacing: 60, address: id })
          const sqrtPriceX96 = sqrtPriceAtTick(tick)
          assert.deepEqual(state?.price, { kind: 'sqrt', sqrtPriceX96, tick })
          const expected = positions.map(({ lower, upper, liquidity }) =>
            amountsOfLiquidity(liquidity, sqrtPriceX96, tick, lower, upper),
          )
          for (const [side, name] of (['amount0', 'amount1'] as const).entries()) {
            const sum = expected.reduce((total, amounts) => total + amounts[name], 0n)
            const off = sum - (state?.reserves?.[side] ?? -1n)
            // Each range is rounded: up when it is added, down when the pool is read.
            assert.ok(off >= 0n && off <= 4n * BigInt(positions.length), `${name}: off by ${off}`)
          }
        }),
        { numRuns: 40 },
      )
    })

    test('has only a price without its tick spacing, and no state before it is initialized', () => {
      const pricing = { kind: 'sqrtPrice' } as const
      const state = stateOf(protocol, storage(slotsOf([], 60)), { pricing, address: id })
      assert.equal(state?.price?.kind, 'sqrt')
      assert.equal(state.reserves, undefined)
      assert.equal(
        stateOf(protocol, storage(new Map()), { pricing, tickSpacing: 60, address: id }),
        undefined,
      )
    })

    test('ticks that do not add up are no reserves', () => {
      const price = { sqrtPriceX96: sqrtPriceAtTick(0), tick: 0 }
      assert.equal(amountsOfTicks([{ tick: -60, liquidityNet: 5n }], price), undefined)
      assert.equal(amountsOfTicks([{ tick: -60, liquidityNet: -5n }], price), undefined)
      assert.deepEqual(amountsOfTicks([], price), [0n, 0n])
    })

    test('the words of the bitmap have every usable tick', () => {
      for (const spacing of [1, 10, 60, 200, 16_383]) {
        const last = Math.floor(887_272 / spacing) * spacing
        const all = bitmapWords(spacing)
        for (const usable of [-last, 0, last]) {
          const word = Math.floor(usable / spacing / 256)
          assert.ok(all.includes(word))
          const bit = usable / spacing - word * 256
          assert.deepEqual(ticksOfWord(word, 1n << BigInt(bit), spacing), [usable])
        }
      }
    })
  })
