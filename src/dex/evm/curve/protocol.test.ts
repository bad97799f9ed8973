import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeAbiParameters, parseAbiParameters, toEventSelector } from 'viem'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import { curve } from './protocol.ts'

const POOL = '0xbebc44782c7db0a1a60cb6fe97d0b483032ff1c7'
const SOMEONE = '0x7a250d5630b4cf539739df2c5dacb4c659f2488d'

const EXCHANGE = toEventSelector('TokenExchange(address,int128,uint256,int128,uint256)')
const EXCHANGE_CRYPTO = toEventSelector('TokenExchange(address,uint256,uint256,uint256,uint256)')
const EXCHANGE_CRYPTO_NG = toEventSelector(
  'TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)',
)
const UNDERLYING = toEventSelector('TokenExchangeUnderlying(address,int128,uint256,int128,uint256)')

const exchange = rawLog(
  '0x7f90122bf0700f9e7e1f688fe926940e8839f353',
  [EXCHANGE, padded('0xf5ab9bf279284fb8e3de1c3bf0b0b4a6fb0bb538')],
  '0x0000000000000000000000000000000000000000000000000000000000000000' +
    '0000000000000000000000000000000000000000000000003ec5629cdaeab3cf' +
    '0000000000000000000000000000000000000000000000000000000000000002' +
    '00000000000000000000000000000000000000000000000000000000004500e3',
)
const exchangeUnderlying = rawLog(
  '0x0cfe5c777a7438c9dd8add53ed671cec7a5faee5',
  [UNDERLYING, padded('0xdef171fe48cf0115b1d80b88dc8eab59176fee57')],
  '0x0000000000000000000000000000000000000000000000000000000000000000' +
    '000000000000000000000000000000000000000000000534e1071901606ea73d' +
    '0000000000000000000000000000000000000000000000000000000000000002' +
    '00000000000000000000000000000000000000000000000000000005aaf7fa40',
)
const addedToTwo = rawLog(
  '0x7f90122bf0700f9e7e1f688fe926940e8839f353',
  [
    toEventSelector('AddLiquidity(address,uint256[2],uint256[2],uint256,uint256)'),
    padded('0x59dd71ce4bdd66021ca712fab13f72c6a5a2f502'),
  ],
  '0x0000000000000000000000000000000000000000000000000000000000c1a702' +
    '0000000000000000000000000000000000000000000000000000000000000000' +
    '0000000000000000000000000000000000000000000000000000000000000023' +
    '0000000000000000000000000000000000000000000000000000000000000023' +
    '0000000000000000000000000000000000000000000362c1b4b1ec5fb17a20af' +
    '0000000000000000000000000000000000000000000351c76e42a8fbded62fcb',
)
const addedToThree = rawLog(
  '0x445fe580ef8d70ff569ab36e80c647af338db351',
  [
    toEventSelector('AddLiquidity(address,uint256[3],uint256[3],uint256,uint256)'),
    padded('0x1c362dfe864a4c4b3311ec97bf0b8320cb0a4952'),
  ],
  '0x0000000000000000000000000000000000000000000000000000000000000000' +
    '0000000000000000000000000000000000000000000000000000000000000000' +
    '0000000000000000000000000000000000000000000000000000000000205940' +
    '00000000000000000000000000000000000000000000000000005fbbceb2be00' +
    '0000000000000000000000000000000000000000000000000000000000000073' +
    '0000000000000000000000000000000000000000000000000000000000000144' +
    '00000000000000000000000000000000000000000005d3365e3fdc9878290b4e' +
    '00000000000000000000000000000000000000000005277b02eaea624947adc1',
)
const addedToList = rawLog(
  '0x1116898dda4015ed8ddefb84b6e8bc24528af2d8',
  [
    toEventSelector('AddLiquidity(address,uint256[],uint256[],uint256,uint256)'),
    padded('0x6571d6be3d8460cf5f7d6711cd9961860029d85f'),
  ],
  '0x0000000000000000000000000000000000000000000000000000000000000080' +
    '0000000000000000000000000000000000000000000000000000000000000100' +
    '0000000000000000000000000000000000000000003c0b3f690709a9ce7fc62c' +
    '0000000000000000000000000000000000000000003bf87bf388565e3c053196' +
    '0000000000000000000000000000000000000000000000000000000000000003' +
    '0000000000000000000000000000000000000000000000000000000000000000' +
    '000000000000000000000000000000000000000000000000000000004025c059' +
    '0000000000000000000000000000000000000000000000000000000000000000' +
    '0000000000000000000000000000000000000000000000000000000000000003' +
    '00000000000000000000000000000000000000000000000000312dfd08c690f4' +
    '00000000000000000000000000000000000000000000000000000000000062d2' +
    '0000000000000000000000000000000000000000000000000000000000002cbd',
)

function read(log: RawLog) {
  return curve.events[log.topics[0] ?? '']?.(log)
}

function exchanged(topic: string, buyer: string, ...words: bigint[]): RawLog {
  const data = words.map((word) => word.toString(16).padStart(64, '0')).join('')
  return rawLog(POOL, [topic, padded(buyer)], `0x${data}`)
}

function amountsOf(...amounts: bigint[]) {
  return amounts.map((amount, token) => ({ token, amount }))
}

describe('recorded trades match the transfers', () => {
  test('Gnosis 0x4b1fcb8836d7cc323015c0d019f595273d176bd6024f7b59b4b15d3f7071ef71: a stable pool', () => {
    assert.deepEqual(read(exchange), {
      type: 'swapped',
      pool: '0x7f90122bf0700f9e7e1f688fe926940e8839f353',
      sender: '0xf5ab9bf279284fb8e3de1c3bf0b0b4a6fb0bb538',
      recipient: undefined,
      token0: 0,
      token1: 2,
      delta0: 4_523_129_826_590_766_031n,
      delta1: -4_522_211n,
      price: undefined,
    })
  })

  test('Gnosis 0xa251a5069f7bddf590381ed6716f122f09df18ac89a6479ca6086b7981539a7e: a crypto pool', () => {
    const buyer = '0xe3fff29d4dc930ebb787fecd49ee5963dadf60b6'
    const log = exchanged(EXCHANGE_CRYPTO, buyer, 0n, 0x94a4b69371f4973b9en, 1n, 0xa0012262e8e5be8d85n)
    const event = read(log)
    assert.ok(event?.type === 'swapped')
    assert.deepEqual([event.sender, event.token0, event.token1], [buyer, 0, 1])
    assert.equal(event.delta0, 2_741_986_958_894_639_299_486n)
    assert.equal(event.delta1, -2_951_560_788_289_200_754_053n)
  })

  test('Base 0x6fee2438337aefe297a69d4361ff4d743865ef7fce6637e9e3e544af0c19184f: a crypto pool of the next generation', () => {
    const log = exchanged(
      EXCHANGE_CRYPTO_NG,
      '0xd6681e74eea20d196c15038c580f721ef2ab6320',
      2n,
      0x3c77998e13c000n,
      0n,
      0x346b1688a08ac44d6n,
      0x1cfc22b4cbb97d9n,
      0xc1a40306409ba0fed30000000000000e6101b1bc39f5db82ban,
    )
    const event = read(log)
    assert.ok(event?.type === 'swapped')
    assert.deepEqual([event.token0, event.token1], [2, 0])
    assert.equal(event.delta0, 17_020_000_000_000_000n)
    assert.equal(event.delta1, -60_434_199_816_721_679_574n)
  })

  test('Ethereum 0x9c529e46976ce23d1caf3dc1c062ee3c9ec9c327014f5447761409788e842294: TUSD for the second coin of the base pool', () => {
    const event = read(exchangeUnderlying)
    assert.ok(event?.type === 'swapped')
    // TUSD, the LP token of FRAX and USDC, FRAX, USDC.
    assert.deepEqual([event.token0, event.token1], [0, 3])
    assert.equal(event.delta0, 24_587_278_062_658_197_038_909n)
    assert.equal(event.delta1, -24_343_214_656n)
  })

  test('Optimism 0x83ac5abc6819fca458f614e4fdbca6fe324bbea8b7ce5fb072bf99407cd8c031: 16000.007289 USDT are sold, unlike the event reports', () => {
    const buyer = '0xdef171fe48cf0115b1d80b88dc8eab59176fee57'
    const log = exchanged(UNDERLYING, buyer, 3n, 0x34bb753ff47433f6c14n, 0n, 0x364cb145739cb7c6a9an)
    assert.equal(read(log), undefined)
  })

  test('a trade between coins of the base pool is not counted twice', () => {
    assert.equal(read(withWord(exchangeUnderlying, 0, 1n)), undefined)
  })
})

describe('recorded liquidity events', () => {
  test('Arbitrum 0x03177504cf5ed18c8cc29bc19a08c9f3ffb23d7f66b62ca43cdcba92346d621c: two coins', () => {
    assert.deepEqual(read(addedToTwo), {
      type: 'liquidityAdded',
      pool: '0x7f90122bf0700f9e7e1f688fe926940e8839f353',
      provider: '0x59dd71ce4bdd66021ca712fab13f72c6a5a2f502',
      amounts: amountsOf(12_691_202n, 0n),
    })
  })

  test('Polygon 0x6cb9d7ceb55a1063c17b58cb643e699525ca6037e711c34283cf0f3d6e81716e: three coins', () => {
    const event = read(addedToThree)
    assert.ok(event?.type === 'liquidityAdded')
    assert.deepEqual(event.amounts, amountsOf(0n, 0n, 2_120_000n))
  })

  test('Ethereum 0x45552aea90d9a8ce86291a9b786d2b6106e625ccac44bb1984b9346ae84e50dc: a list', () => {
    const event = read(addedToList)
    assert.ok(event?.type === 'liquidityAdded')
    assert.deepEqual(event.amounts, amountsOf(0n, 1_076_215_897n, 0n))
  })

  test('older events for one coin do not identify the coin', () => {
    for (const parameters of ['address,uint256,uint256', 'address,uint256,uint256,uint256']) {
      assert.equal(curve.events[toEventSelector(`RemoveLiquidityOne(${parameters})`)], undefined)
    }
  })
})

/** Every other form: its parameters except the first, their values and the expected amounts. */
const FORMS = [
  [
    'AddLiquidity',
    'uint256[4],uint256[4],uint256,uint256',
    [[1n, 2n, 3n, 4n], [5n, 6n, 7n, 8n], 9n, 9n],
    [1n, 2n, 3n, 4n],
  ],
  ['AddLiquidity', 'uint256[2],uint256,uint256', [[1n, 2n], 9n, 9n], [1n, 2n]],
  ['AddLiquidity', 'uint256[3],uint256,uint256', [[1n, 2n, 3n], 9n, 9n], [1n, 2n, 3n]],
  ['AddLiquidity', 'uint256[2],uint256,uint256,uint256', [[1n, 2n], 9n, 9n, 9n], [1n, 2n]],
  ['AddLiquidity', 'uint256[3],uint256,uint256,uint256', [[1n, 2n, 3n], 9n, 9n, 9n], [1n, 2n, 3n]],
  ['RemoveLiquidity', 'uint256[2],uint256[2],uint256', [[1n, 2n], [5n, 6n], 9n], [1n, 2n]],
  ['RemoveLiquidity', 'uint256[3],uint256[3],uint256', [[1n, 2n, 3n], [5n, 6n, 7n], 9n], [1n, 2n, 3n]],
  [
    'RemoveLiquidity',
    'uint256[4],uint256[4],uint256',
    [[1n, 2n, 3n, 4n], [5n, 6n, 7n, 8n], 9n],
    [1n, 2n, 3n, 4n],
  ],
  ['RemoveLiquidity', 'uint256[],uint256[],uint256', [[1n, 2n, 3n], [], 9n], [1n, 2n, 3n]],
  ['RemoveLiquidity', 'uint256[2],uint256', [[1n, 2n], 9n], [1n, 2n]],
  ['RemoveLiquidity', 'uint256[3],uint256', [[1n, 2n, 3n], 9n], [1n, 2n, 3n]],
  [
    'RemoveLiquidityImbalance',
    'uint256[2],uint256[2],uint256,uint256',
    [[1n, 2n], [5n, 6n], 9n, 9n],
    [1n, 2n],
  ],
  [
    'RemoveLiquidityImbalance',
    'uint256[3],uint256[3],uint256,uint256',
    [[1n, 2n, 3n], [5n, 6n, 7n], 9n, 9n],
    [1n, 2n, 3n],
  ],
  [
    'RemoveLiquidityImbalance',
    'uint256[4],uint256[4],uint256,uint256',
    [[1n, 2n, 3n, 4n], [5n, 6n, 7n, 8n], 9n, 9n],
    [1n, 2n, 3n, 4n],
  ],
  ['RemoveLiquidityImbalance', 'uint256[],uint256[],uint256,uint256', [[1n, 2n], [], 9n, 9n], [1n, 2n]],
  ['RemoveLiquidityImbalance', 'uint256,uint256[2],uint256,uint256', [9n, [1n, 2n], 9n, 9n], [1n, 2n]],
] as const

describe('every form of liquidity event', () => {
  test('is read coin by coin', () => {
    for (const [name, parameters, values, expected] of FORMS) {
      const data = encodeAbiParameters(parseAbiParameters(parameters), values as never)
      const event = read(
        rawLog(POOL, [toEventSelector(`${name}(address,${parameters})`), padded(SOMEONE)], data),
      )
      const type = name === 'AddLiquidity' ? 'liquidityAdded' : 'liquidityRemoved'
      assert.ok(event?.type === type, `${name}(${parameters})`)
      assert.deepEqual(event.amounts, amountsOf(...expected))
      assert.equal(event.provider, SOMEONE)
    }
  })

  test('for one coin is read with the given coin', () => {
    for (const [parameters, values] of [
      ['address,int128,uint256,uint256,uint256', [2n, 9n, 5n, 9n]],
      ['address,uint256,uint256,uint256,uint256,uint256', [9n, 2n, 5n, 9n, 9n]],
    ] as const) {
      const topic = toEventSelector(`RemoveLiquidityOne(${parameters})`)
      assert.deepEqual(read(exchanged(topic, SOMEONE, ...values)), {
        type: 'liquidityRemoved',
        pool: POOL,
        provider: SOMEONE,
        amounts: [{ token: 2, amount: 5n }],
        isPaidOut: true,
      })
    }
  })
})

describe('hostile logs', () => {
  test('truncated or dirty logs are refused', () => {
    const logs: [RawLog, number][] = [
      [exchange, 4],
      [exchangeUnderlying, 4],
      [addedToTwo, 2],
      [addedToThree, 3],
      [addedToList, 8],
    ]
    for (const [log, words] of logs) {
      const whole = { ...log, data: log.data.subarray(0, words * 32) }
      assert.deepEqual(read(whole), read(log))
      for (const bad of spoiled(whole)) assert.equal(read(bad), undefined)
    }
  })

  test('an impossible coin index is refused', () => {
    for (const coin of [-1n, 2n ** 32n, 2n ** 255n]) {
      assert.equal(read(withWord(exchange, 0, coin)), undefined)
      assert.equal(read(withWord(exchange, 2, coin)), undefined)
    }
  })

  test('a list that points nowhere or has no end is refused', () => {
    for (const offset of [1n, 0x81n, 2n ** 20n, 2n ** 64n, 2n ** 256n - 32n]) {
      assert.equal(read(withWord(addedToList, 0, offset)), undefined)
    }
    for (const length of [9n, 65n, 2n ** 31n, 2n ** 256n - 1n]) {
      assert.equal(read(withWord(addedToList, 4, length)), undefined)
    }
  })
})
