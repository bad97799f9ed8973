import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeAbiParameters, encodeFunctionData, type Hex, parseAbi, toEventSelector } from 'viem'
import { type Contracts, lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { DexDeployment } from '../../protocol.ts'
import { solidly } from './protocol.ts'

const POOL = '0x58e6433a6903886e440ddf519ecc573c4046a6b2'
const WETH = '0x4200000000000000000000000000000000000006'
const VELO = '0x9560e827af36c94d2ac33a39bce1fe78631088db'
const FACTORY = '0xf1046053aa5682b4f9a81b5481394da16be5ff5a'
const FIRST_FACTORY = `0x${'f1'.repeat(20)}`
const SOMEONE = '0x7a250d5630b4cf539739df2c5dacb4c659f2488d'

const SYNC = toEventSelector('Sync(uint256,uint256)')
const SWAP = toEventSelector('Swap(address,address,uint256,uint256,uint256,uint256)')
const SWAP_V1 = toEventSelector('Swap(address,uint256,uint256,uint256,uint256,address)')
const MINT = toEventSelector('Mint(address,uint256,uint256)')
const BURN = toEventSelector('Burn(address,address,uint256,uint256)')
const BURN_V1 = toEventSelector('Burn(address,uint256,uint256,address)')
const CLAIM = toEventSelector('Claim(address,address,uint256,uint256)')
const POOL_CREATED = toEventSelector('PoolCreated(address,address,bool,address,uint256)')
const PAIR_CREATED = toEventSelector('PairCreated(address,address,bool,address,uint256)')

const swap = rawLog(
  POOL,
  [
    SWAP,
    padded('0xa062ae8a9c5e11aaa026fc2670b0d65ccc8b2858'),
    padded('0xb63aae6c353636d66df13b89ba4425cfe13d10ba'),
  ],
  '0x0000000000000000000000000000000000000000000000000000000000000000' +
    '00000000000000000000000000000000000000000000000466f818fef57691a7' +
    '000000000000000000000000000000000000000000000000000668d56cf221fa' +
    '0000000000000000000000000000000000000000000000000000000000000000',
)
const sync = rawLog(
  POOL,
  [SYNC],
  '0x000000000000000000000000000000000000000000000002b9c75e83da0b7a63' +
    '00000000000000000000000000000000000000000001da7a580892ac94f8151d',
)
const mint = rawLog(
  '0xa6385c73961dd9c58db2ef0c4eb98ce4b60651e8',
  [MINT, padded('0xcf77a3ba9a5ca399b7c97c74d54e5b1beb874e43')],
  '0x000000000000000000000000000000000000000000000000298e9a9167c9dc7c' +
    '00000000000000000000000000000000000000000000000024046893349bd9e4',
)
const burn = rawLog(
  '0x2223f9fe624f69da4d8256a7bcc9104fba7f8f75',
  [
    BURN,
    padded('0xcf77a3ba9a5ca399b7c97c74d54e5b1beb874e43'),
    padded('0x61d90de4fa8cfbbd7a7650ae01a39fd1b1863503'),
  ],
  '0x00000000000000000000000000000000000000000000000a52b23bb4606d62ef' +
    '0000000000000000000000000000000000000000000000000000000000e56aeb',
)
const amounts = encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [5n, 7n])
const claim = rawLog(POOL, [CLAIM, padded(SOMEONE), padded(VELO)], amounts)
const poolCreated = rawLog(
  FACTORY,
  [POOL_CREATED, padded(WETH), padded(VELO), padded('0x0')],
  encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [POOL, 3n]),
)
const pairCreated = rawLog(
  FIRST_FACTORY,
  [PAIR_CREATED, padded(WETH), padded(VELO)],
  encodeAbiParameters([{ type: 'bool' }, { type: 'address' }, { type: 'uint256' }], [false, POOL, 3n]),
)

function read(log: RawLog) {
  const topic = log.topics[0] ?? ''
  return (solidly.events[topic] ?? solidly.announcements[topic])?.(log)
}

function moved(amount0: bigint, amount1: bigint) {
  return [
    { token: 0, amount: amount0 },
    { token: 1, amount: amount1 },
  ]
}

describe('recorded logs', () => {
  const optimism = '0x3cb68ee7dae76c0ca6466e3a593b32144d25eabb27c1ba416c83f154627d84d8'

  test(`Optimism ${optimism}: VELO in and WETH out, matching the transfers`, () => {
    assert.deepEqual(read(swap), {
      type: 'swapped',
      pool: POOL,
      sender: '0xa062ae8a9c5e11aaa026fc2670b0d65ccc8b2858',
      recipient: '0xb63aae6c353636d66df13b89ba4425cfe13d10ba',
      token0: 0,
      token1: 1,
      delta0: -1_804_115_725_394_426n,
      delta1: 81_206_684_164_250_046_887n,
      price: undefined,
    })
    assert.deepEqual(read(sync), {
      type: 'reservesSet',
      pool: POOL,
      reserve0: 50_280_260_485_193_103_971n,
      reserve1: 2_240_658_559_138_549_479_249_181n,
    })
  })

  test('Base 0xb71a1339c700a110d61655387d422bb982252a3b55de7f571ced3b9f00d9beee: liquidity is added', () => {
    assert.deepEqual(read(mint), {
      type: 'liquidityAdded',
      pool: '0xa6385c73961dd9c58db2ef0c4eb98ce4b60651e8',
      provider: '0xcf77a3ba9a5ca399b7c97c74d54e5b1beb874e43',
      amounts: moved(2_994_500_751_550_176_380n, 2_595_314_266_724_358_628n),
    })
  })

  test('Base 0x847ed0b6bd3f1b030cc84eee74c2c238dd93e0b689c87d44bce7f3591173ef0d: liquidity is removed', () => {
    assert.deepEqual(read(burn), {
      type: 'liquidityRemoved',
      pool: '0x2223f9fe624f69da4d8256a7bcc9104fba7f8f75',
      provider: '0xcf77a3ba9a5ca399b7c97c74d54e5b1beb874e43',
      amounts: moved(190_426_331_639_958_037_231n, 15_035_115n),
      isPaidOut: true,
    })
  })
})

describe('other forms', () => {
  test('pools of the first version emit the same data under other topics', () => {
    assert.deepEqual(read({ ...swap, topics: swap.topics.with(0, SWAP_V1) }), read(swap))
    assert.deepEqual(read({ ...burn, topics: burn.topics.with(0, BURN_V1) }), read(burn))
  })

  test('claimed fees go to the claimer', () => {
    const event = { type: 'feesCollected', pool: POOL, provider: SOMEONE, amounts: moved(5n, 7n) }
    assert.deepEqual(read(claim), event)
  })

  test('factories of both versions announce pools; only pools that are not stable are priced by reserves', () => {
    const event = { type: 'poolCreated', pool: POOL, tokens: [WETH, VELO], pricing: { kind: 'reserves' } }
    assert.deepEqual(read(poolCreated), event)
    assert.deepEqual(read(pairCreated), event)
    const stable = { ...event, pricing: { kind: 'trades' } }
    assert.deepEqual(read({ ...poolCreated, topics: poolCreated.topics.with(3, padded('0x1')) }), stable)
    assert.deepEqual(read(withWord(pairCreated, 0, 1n)), stable)
  })
})

describe('hostile logs', () => {
  test('truncated or dirty logs are refused', () => {
    const lastUnread = { ...poolCreated, data: poolCreated.data.subarray(0, 32) }
    const lastUnreadPair = { ...pairCreated, data: pairCreated.data.subarray(0, 64) }
    for (const log of [swap, sync, mint, burn, claim, lastUnread, lastUnreadPair]) {
      assert.notEqual(read(log), undefined)
      for (const bad of spoiled(log)) assert.equal(read(bad), undefined)
    }
  })

  test('a pool with an invalid stable flag or without an address is not announced', () => {
    assert.equal(read({ ...poolCreated, topics: poolCreated.topics.with(3, padded('0x2')) }), undefined)
    assert.equal(read(withWord(pairCreated, 0, 2n)), undefined)
    assert.equal(read(withWord(pairCreated, 0, 2n ** 255n + 1n)), undefined)
    assert.equal(read(withWord(poolCreated, 0, 2n ** 200n)), undefined)
  })
})

describe('identify', () => {
  const abi = parseAbi([
    'function token0()',
    'function token1()',
    'function stable()',
    'function isPool(address)',
    'function isPair(address)',
  ])
  const deployments: DexDeployment[] = [
    { amm: 'solidly', protocol: 'solidly', factory: FIRST_FACTORY },
    { amm: 'velodrome_v2', protocol: 'solidly', factory: FACTORY },
  ]
  const yes = padded('0x1')
  const no = padded('0x0')
  const isPool = encodeFunctionData({ abi, functionName: 'isPool', args: [POOL as Hex] })
  const isPair = encodeFunctionData({ abi, functionName: 'isPair', args: [POOL as Hex] })
  const pool = {
    [encodeFunctionData({ abi, functionName: 'token0' })]: padded(WETH),
    [encodeFunctionData({ abi, functionName: 'token1' })]: padded(VELO),
    [encodeFunctionData({ abi, functionName: 'stable' })]: no,
  }
  const found = { tokens: [WETH, VELO], pricing: { kind: 'reserves' }, reservesBefore: undefined }

  function identify(contracts: Contracts) {
    return lead(solidly.identify(POOL, deployments), contracts)
  }

  test('a pool belongs to the factory that confirms it, in one round of calls', () => {
    const { found: second, rounds } = identify({
      [POOL]: pool,
      [FIRST_FACTORY]: { [isPair]: no },
      [FACTORY]: { [isPool]: yes, [isPair]: yes },
    })
    assert.deepEqual(second, { factory: FACTORY, ...found })
    assert.equal(rounds.length, 1)
  })

  test('factories of the first version are queried with isPair', () => {
    const contracts = { [POOL]: pool, [FIRST_FACTORY]: { [isPair]: yes }, [FACTORY]: { [isPool]: no } }
    assert.deepEqual(identify(contracts).found, { factory: FIRST_FACTORY, ...found })
  })

  test('a stable pool is priced by its trades', () => {
    const stable = { ...pool, [encodeFunctionData({ abi, functionName: 'stable' })]: yes }
    const contracts = { [POOL]: stable, [FACTORY]: { [isPool]: yes } }
    assert.deepEqual(identify(contracts).found?.pricing, { kind: 'trades' })
  })

  test('a foreign contract is refused, whatever it claims', () => {
    assert.equal(identify({ [POOL]: pool }).found, undefined)
    const contracts = { [POOL]: pool, [FIRST_FACTORY]: { [isPair]: no }, [FACTORY]: { [isPool]: no } }
    assert.equal(identify(contracts).found, undefined)
    const invalid = { [POOL]: pool, [FACTORY]: { [isPool]: padded(WETH) } }
    assert.equal(identify(invalid).found, undefined)
  })

  test('a pool with an unanswered call is refused', () => {
    for (const question of Object.keys(pool)) {
      const { [question]: _, ...rest } = pool
      assert.equal(identify({ [POOL]: rest, [FACTORY]: { [isPool]: yes } }).found, undefined)
    }
  })
})
