import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiItem,
  toEventSelector,
} from 'viem'
import { type Contracts, lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { DexDeployment } from '../../protocol.ts'
import { balancerV3 } from './protocol.ts'

const VAULT = '0xba1333333333a1ba1108e8412f11850a5c319ba9'
const POOL = '0x8523bcadcda4bd329435940dcc49a7c4c0a14d94'
const LINK = '0x514910771af9ca656af840dff83e8264ecf986ca'
const WBTC = '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599'
const SOMEONE = '0x7a250d5630b4cf539739df2c5dacb4c659f2488d'

const REGISTERED = parseAbiItem([
  'event PoolRegistered(address indexed pool, address indexed factory, TokenConfig[] tokenConfig, uint256 swapFeePercentage, uint32 pauseWindowEndTime, PoolRoleAccounts roleAccounts, HooksConfig hooksConfig, LiquidityManagement liquidityManagement)',
  'struct TokenConfig { address token; uint8 tokenType; address rateProvider; bool paysYieldFees; }',
  'struct PoolRoleAccounts { address pauseManager; address swapFeeManager; address poolCreator; }',
  'struct HooksConfig { bool a; bool b; bool c; bool d; bool e; bool f; bool g; bool h; bool i; bool j; address hooksContract; }',
  'struct LiquidityManagement { bool a; bool b; bool c; bool d; }',
])
const SWAP = toEventSelector('Swap(address,address,address,uint256,uint256,uint256,uint256)')
const ADDED = toEventSelector('LiquidityAdded(address,address,uint8,uint256,uint256[],uint256[])')
const REMOVED = toEventSelector('LiquidityRemoved(address,address,uint8,uint256,uint256[],uint256[])')

const swap = rawLog(
  VAULT,
  [SWAP, padded(POOL), padded(LINK), padded(WBTC)],
  '0x000000000000000000000000000000000000000000000000028d21b5d2b60600' +
    '0000000000000000000000000000000000000000000000000000000000000946' +
    '000000000000000000000000000000000000000000000000000aa87bee538000' +
    '0000000000000000000000000000000000000000000000000001f59ae9d91f40',
)
const added = rawLog(
  VAULT,
  [
    ADDED,
    padded('0xf2d8ad2984aa8050dd1ca1e74b862b165f7a622a'),
    padded('0x18b5602e067e8d21a077b81914a48f84fe82be82'),
    padded('0x1'),
  ],
  '0x00000000000000000000000000000000000000000000054ff6327c25f7f14b23' +
    '0000000000000000000000000000000000000000000000000000000000000060' +
    '00000000000000000000000000000000000000000000000000000000000000c0' +
    '0000000000000000000000000000000000000000000000000000000000000002' +
    '0000000000000000000000000000000000000000000000000000000000000000' +
    '00000000000000000000000000000000000000000000000048320a7268592c08' +
    '0000000000000000000000000000000000000000000000000000000000000002' +
    '0000000000000000000000000000000000000000000000000000000000000000' +
    '0000000000000000000000000000000000000000000000000024f6fdad3bc1ee',
)
const removed = rawLog(
  VAULT,
  [
    REMOVED,
    padded('0x88c044fb203b58b12252be7242926b1eeb113b4a'),
    padded('0xdda0e94955c637e30052cb28e73ce04c265f328b'),
    padded('0x1'),
  ],
  '0x00000000000000000000000000000000000000000000033e788e4391e1e9156c' +
    '0000000000000000000000000000000000000000000000000000000000000060' +
    '00000000000000000000000000000000000000000000000000000000000000c0' +
    '0000000000000000000000000000000000000000000000000000000000000002' +
    '0000000000000000000000000000000000000000000000000000000000000000' +
    '0000000000000000000000000000000000000000000000000000000070e5faf3' +
    '0000000000000000000000000000000000000000000000000000000000000002' +
    '0000000000000000000000000000000000000000000000000000000000000000' +
    '00000000000000000000000000000000000000000000000000000000000062b5',
)

function registered(...tokens: string[]): RawLog {
  const flags = { a: true, b: true, c: true, d: true }
  const hooks = {
    ...flags,
    e: true,
    f: true,
    g: true,
    h: true,
    i: true,
    j: true,
    hooksContract: SOMEONE,
  } as const
  const data = encodeAbiParameters(
    REGISTERED.inputs.filter((input) => !('indexed' in input && input.indexed)),
    [
      tokens.map((token) => {
        return { token: token as Hex, tokenType: 1, rateProvider: SOMEONE, paysYieldFees: true }
      }),
      10n ** 16n,
      1_900_000_000,
      { pauseManager: SOMEONE, swapFeeManager: SOMEONE, poolCreator: SOMEONE },
      hooks,
      flags,
    ] as never,
  )
  return rawLog(VAULT, [toEventSelector(REGISTERED), padded(POOL), padded(SOMEONE)], data)
}

function read(log: RawLog) {
  const topic = log.topics[0] ?? ''
  return (balancerV3.events[topic] ?? balancerV3.announcements[topic])?.(log)
}

describe('recorded logs match the transfers', () => {
  test('Ethereum 0xbd2aeb7ea4c4a341b13a477fd8c254b9d6f79da51619c0c69007adff45f86938: LINK for WBTC at a fee of 0.3%', () => {
    const event = read(swap)
    assert.deepEqual(event, {
      type: 'swapped',
      pool: POOL,
      sender: undefined,
      recipient: undefined,
      token0: LINK,
      token1: WBTC,
      delta0: 183_840_224_600_000_000n,
      delta1: -2_374n,
      price: undefined,
      feePpm: 3_000,
    })
    // The event also reports the fee amount.
    assert.equal((183_840_224_600_000_000n * 3_000n) / 1_000_000n, 0x1f59ae9d91f40n)
  })

  test('Ethereum 0xbc89bf067bc7ca7cff308538c90401fce967bbfeb11c588454011ff5e1aa21a9: liquidity is added', () => {
    assert.deepEqual(read(added), {
      type: 'liquidityAdded',
      pool: '0xf2d8ad2984aa8050dd1ca1e74b862b165f7a622a',
      provider: '0x18b5602e067e8d21a077b81914a48f84fe82be82',
      amounts: [
        { token: 0, amount: 0n },
        { token: 1, amount: 5_202_232_006_059_568_136n },
      ],
    })
  })

  test('Base 0x8c6721fe24583cc69a64aa656e2c2235c3a8631ae6d4573807e24cb7ed7ec342: liquidity is removed', () => {
    assert.deepEqual(read(removed), {
      type: 'liquidityRemoved',
      pool: '0x88c044fb203b58b12252be7242926b1eeb113b4a',
      provider: '0xdda0e94955c637e30052cb28e73ce04c265f328b',
      amounts: [
        { token: 0, amount: 0n },
        { token: 1, amount: 1_894_120_179n },
      ],
      isPaidOut: true,
    })
  })

  test('a registered pool has its configured tokens', () => {
    assert.deepEqual(read(registered(LINK, WBTC, SOMEONE)), {
      type: 'poolCreated',
      pool: POOL,
      tokens: [LINK, WBTC, SOMEONE],
      pricing: { kind: 'trades' },
    })
  })
})

describe('hostile logs', () => {
  test('truncated or dirty logs are refused', () => {
    const announced = registered(LINK, WBTC)
    const logs: [RawLog, number][] = [
      [swap, 3],
      [added, 6],
      [removed, 6],
    ]
    for (const [log, words] of logs) {
      const whole = { ...log, data: log.data.subarray(0, words * 32) }
      assert.deepEqual(read(whole), read(log))
      for (const bad of spoiled(whole)) assert.equal(read(bad), undefined)
    }
    assert.equal(read({ ...announced, topics: announced.topics.slice(0, 1) }), undefined)
    assert.equal(
      read({ ...announced, data: announced.data.subarray(0, announced.data.length - 4 * 32) }),
      undefined,
    )
    assert.equal(read(registered(LINK)), undefined)
  })

  test('a fee above 100 % is refused', () => {
    assert.equal(read(withWord(swap, 2, 10n ** 18n + 1n)), undefined)
  })

  test('lists that point nowhere or have no end are refused', () => {
    for (const offset of [1n, 2n ** 20n, 2n ** 256n - 32n]) {
      assert.equal(read(withWord(added, 1, offset)), undefined)
      assert.equal(read(withWord(registered(LINK, WBTC), 0, offset)), undefined)
    }
    for (const length of [65n, 2n ** 31n, 2n ** 256n - 1n]) {
      assert.equal(read(withWord(added, 3, length)), undefined)
    }
  })
})

describe('identify', () => {
  const abi = parseAbi(['function getPoolTokens(address)'])
  const deployments: DexDeployment[] = [{ amm: 'balancer_v3', protocol: 'balancer_v3', factory: VAULT }]
  const GET_TOKENS = encodeFunctionData({ abi, functionName: 'getPoolTokens', args: [POOL] })
  const tokens = encodeAbiParameters([{ type: 'address[]' }], [[LINK, WBTC]])

  function identify(contracts: Contracts) {
    return lead(balancerV3.identify(POOL, deployments), contracts).found
  }

  test('a pool has the tokens that the vault returns', () => {
    assert.deepEqual(identify({ [VAULT]: { [GET_TOKENS]: tokens } }), {
      factory: VAULT,
      tokens: [LINK, WBTC],
      pricing: { kind: 'trades' },
      reservesBefore: undefined,
    })
  })

  test('an unregistered contract is refused', () => {
    assert.equal(identify({}), undefined)
    assert.equal(identify({ [POOL]: { [GET_TOKENS]: tokens } }), undefined)
    for (const answer of [encodeAbiParameters([{ type: 'address[]' }], [[]]), tokens.slice(0, -2), '0x']) {
      assert.equal(identify({ [VAULT]: { [GET_TOKENS]: answer } }), undefined)
    }
  })
})
