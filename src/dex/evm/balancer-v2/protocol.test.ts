import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
  toEventSelector,
} from 'viem'
import { type Contracts, lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { DexDeployment } from '../../protocol.ts'
import { balancerV2 } from './protocol.ts'

const VAULT = '0xba12222222228d8ba445958a75a0704d566bf2c8'
const POOL = '0xf16aee6a71af1a9bc8f56975a4c2705ca7a782bc'
const POOL_ID = '0xf16aee6a71af1a9bc8f56975a4c2705ca7a782bc0002000000000000000004bb'
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const ALCX = '0xdbdb4d16eda451d0503b854cf79d55697f90c8df'
const SOMEONE = '0x7a250d5630b4cf539739df2c5dacb4c659f2488d'

const SWAP = toEventSelector('Swap(bytes32,address,address,uint256,uint256)')
const CHANGED = toEventSelector('PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])')
const REGISTERED = toEventSelector('TokensRegistered(bytes32,address[],address[])')

const swap = rawLog(
  VAULT,
  [SWAP, POOL_ID, padded(WETH), padded(ALCX)],
  '0x000000000000000000000000000000000000000000000000291067feff9fd040' +
    '000000000000000000000000000000000000000000000023ee4d6bc0863482dd',
)

function changed(id: string, provider: string, tokens: string[], deltas: bigint[], fees: bigint[]): RawLog {
  const parameters = parseAbiParameters('address[], int256[], uint256[]')
  const data = encodeAbiParameters(parameters, [tokens as Hex[], deltas, fees])
  return rawLog(VAULT, [CHANGED, id, padded(provider)], data)
}

function registered(...tokens: string[]): RawLog {
  const data = encodeAbiParameters(parseAbiParameters('address[], address[]'), [
    tokens as Hex[],
    tokens as Hex[],
  ])
  return rawLog(VAULT, [REGISTERED, POOL_ID], data)
}

function read(log: RawLog) {
  const topic = log.topics[0] ?? ''
  return (balancerV2.events[topic] ?? balancerV2.announcements[topic])?.(log)
}

describe('recorded logs match the transfers', () => {
  test('Ethereum 0x551d3cebe0c1bb655d5427b9a827156e3ce40157107c191882d1de1551904961: WETH for ALCX', () => {
    assert.deepEqual(read(swap), {
      type: 'swapped',
      pool: POOL,
      sender: undefined,
      recipient: undefined,
      token0: WETH,
      token1: ALCX,
      delta0: 2_958_979_300_090_433_600n,
      delta1: -662_807_542_008_697_357_021n,
      price: undefined,
    })
  })

  const joined = '0x024e1da9dc2bf7ff88dd22643857979fcd954103860698203257b6db27778482'
  test(`Gnosis ${joined}: a swap into the pool's LP token is a join, and out of it an exit`, () => {
    const usdc = '0xddafbb505ad214d7b80b1f830fccc89b60fb7a83'
    const into = '0xe7f88d7d4ef2eb18fcf9dd7216ba7da1c46f3dd6'
    const join = rawLog(
      VAULT,
      [SWAP, `${into}00000000000000000000000a`, padded(usdc), padded(into)],
      '0x0000000000000000000000000000000000000000000000000000000002da8eac' +
        '0000000000000000000000000000000000000000000000029835fbb85f880dd4',
    )
    assert.deepEqual(read(join), {
      type: 'liquidityAdded',
      pool: into,
      provider: undefined,
      amounts: [{ token: usdc, amount: 47_877_804n }],
    })
    const gno = '0x9c58bacc331c9aa871afd802db6379a98e80cedb'
    const from = '0xffff76a3280e95dc855696111c2562da09db2ac0'
    const exit = rawLog(
      VAULT,
      [SWAP, `${from}00000000000000000000000c`, padded(from), padded(gno)],
      '0x00000000000000000000000000000000000000000000000005e67b3e9529b65f' +
        '00000000000000000000000000000000000000000000000005e6ce2b81f86a7d',
    )
    assert.deepEqual(read(exit), {
      type: 'liquidityRemoved',
      pool: from,
      provider: undefined,
      amounts: [{ token: gno, amount: 425_253_901_092_547_197n }],
      isPaidOut: true,
    })
  })

  test('Gnosis 0x1915189b0ad23d6c8e6f23df298e92504ec7537dfa8d52571c60193bc598a8b8: a join, without the LP token', () => {
    const pool = '0xc9f00c3a713008ddf69b768d90d4978549bfdf94'
    const crc = '0xabef652195f98a91e490f047a5006b71c85f058d'
    const sdai = '0xaf204776c7245bf4147c2612bf6e5972ee483701'
    const provider = '0x63a49b0ca8b5b907dd083ada6d9f6853522bb975'
    const deltas = [0n, 0x78d9a41beefc9c6135n, 0n]
    const join = changed(`${pool}00000000000000000000006d`, provider, [crc, sdai, pool], deltas, [0n, 0n, 0n])
    assert.deepEqual(read(join), {
      type: 'liquidityAdded',
      pool,
      provider,
      amounts: [
        { token: crc, amount: 0n },
        { token: sdai, amount: 2_229_291_979_360_811_376_949n },
      ],
    })
  })

  test('Ethereum 0xcc1636487bd419892133c0e1245e2f427819193fbaef68270111580291c0b285: an exit', () => {
    const pool = '0x848a5564158d84b8a8fb68ab5d004fae11619a54'
    const tokens = [
      '0xbf5495efe5db9ce00f80364c8b423567e58d2110',
      '0xcd5fe23c85820f7b72d0926fc9b05b43e359b7ee',
      '0xfae103dc9cf190ed75350761e95403b7b8afa6c0',
    ]
    const provider = '0x2e1336f7710b89153afe979cd14644afcfb32212'
    const out = -14_953_427_656_474_271_108n
    const none = [0n, 0n, 0n, 0n]
    const exit = changed(
      `${pool}00000000000000000000066a`,
      provider,
      [pool, ...tokens],
      [0n, 0n, 0n, out],
      none,
    )
    assert.deepEqual(read(exit), {
      type: 'liquidityRemoved',
      pool,
      provider,
      amounts: tokens.map((token, at) => ({ token, amount: at === 2 ? -out : 0n })),
      isPaidOut: true,
    })
  })
})

describe('registration', () => {
  test('announces a pool of the registered tokens', () => {
    assert.deepEqual(read(registered(WETH, ALCX, POOL)), {
      type: 'poolCreated',
      pool: POOL,
      tokens: [WETH, ALCX, POOL],
      pricing: { kind: 'trades' },
    })
  })

  test('of one more token announces nothing', () => {
    assert.equal(read(registered(WETH)), undefined)
    assert.equal(read(registered()), undefined)
  })
})

describe('hostile logs', () => {
  test('truncated or dirty logs are refused', () => {
    const join = changed(POOL_ID, SOMEONE, [WETH, ALCX], [1n, 2n], [])
    const tokens = registered(WETH, ALCX)
    const logs: [RawLog, number][] = [
      [swap, 2],
      [join, 9],
      [tokens, 5],
    ]
    for (const [log, words] of logs) {
      const whole = { ...log, data: log.data.subarray(0, words * 32) }
      assert.deepEqual(read(whole), read(log))
      for (const bad of spoiled(whole)) {
        // Any 32 bytes are an id.
        const isOtherId = bad.topics[1] !== POOL_ID && bad.topics[1]?.length === 66
        if (!isOtherId) assert.equal(read(bad), undefined)
      }
    }
  })

  test('a change with both signs, or with none, is refused', () => {
    assert.equal(read(changed(POOL_ID, SOMEONE, [WETH, ALCX], [1n, -1n], [0n, 0n])), undefined)
    assert.equal(read(changed(POOL_ID, SOMEONE, [WETH, ALCX], [0n, 0n], [0n, 0n])), undefined)
  })

  test('lists that do not match, point nowhere or have no end are refused', () => {
    const join = changed(POOL_ID, SOMEONE, [WETH, ALCX], [1n, 2n], [0n, 0n])
    assert.equal(read(changed(POOL_ID, SOMEONE, [WETH, ALCX], [1n], [0n])), undefined)
    for (const word of [0, 1]) {
      for (const offset of [1n, 2n ** 20n, 2n ** 256n - 32n]) {
        assert.equal(read(withWord(join, word, offset)), undefined)
      }
    }
    for (const length of [65n, 2n ** 31n, 2n ** 256n - 1n]) {
      assert.equal(read(withWord(join, 3, length)), undefined)
      assert.equal(read(withWord(join, 6, length)), undefined)
    }
    assert.equal(read(withWord(join, 4, 2n ** 200n)), undefined)
  })
})

describe('identify', () => {
  const abi = parseAbi(['function getPoolId()', 'function getPoolTokens(bytes32)'])
  const deployments: DexDeployment[] = [{ amm: 'balancer_v2', protocol: 'balancer_v2', factory: VAULT }]
  const GET_ID = encodeFunctionData({ abi, functionName: 'getPoolId' })
  const GET_TOKENS = encodeFunctionData({ abi, functionName: 'getPoolTokens', args: [POOL_ID] })
  const tokens = encodeAbiParameters(parseAbiParameters('address[], uint256[], uint256'), [
    [WETH, ALCX],
    [5n, 6n],
    7n,
  ])

  function identify(contracts: Contracts) {
    return lead(balancerV2.identify(POOL, deployments), contracts).found
  }

  test('a pool has the tokens that the vault returns for its id', () => {
    assert.deepEqual(identify({ [POOL]: { [GET_ID]: POOL_ID }, [VAULT]: { [GET_TOKENS]: tokens } }), {
      factory: VAULT,
      tokens: [WETH, ALCX],
      pricing: { kind: 'trades' },
      reservesBefore: undefined,
    })
  })

  test("a foreign contract cannot use another pool's id", () => {
    const other = `${SOMEONE}0002000000000000000004bb` as Hex
    const asked = encodeFunctionData({ abi, functionName: 'getPoolTokens', args: [other] })
    assert.equal(identify({ [POOL]: { [GET_ID]: other }, [VAULT]: { [asked]: tokens } }), undefined)
  })

  test('a pool without an answer is refused', () => {
    assert.equal(identify({}), undefined)
    assert.equal(identify({ [VAULT]: { [GET_TOKENS]: tokens } }), undefined)
    assert.equal(identify({ [POOL]: { [GET_ID]: POOL_ID } }), undefined)
    assert.equal(identify({ [POOL]: { [GET_ID]: '0x' }, [VAULT]: { [GET_TOKENS]: tokens } }), undefined)
    const cut = tokens.slice(0, 2 + 64 * 4)
    assert.equal(identify({ [POOL]: { [GET_ID]: POOL_ID }, [VAULT]: { [GET_TOKENS]: cut } }), undefined)
  })
})
