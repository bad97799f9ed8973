import assert from 'node:assert/strict'
import { concatHex, createTestClient, type Hex, http, numberToHex, padHex, zeroAddress } from 'viem'
import { foundry } from 'viem/chains'
import { compile, uniswapV2Router } from '../../../dev/market/artifacts.ts'
import { HUGE, scripted, TRANSFER } from './hostile-corpus.ts'
import type { HostileWorld, Row } from './hostile-world.ts'

/** Things that contracts say of tokens and pools, their own and others', and what has to come of them. */

export type EventCase = {
  readonly why: string
  /** What is done with a plain token, or what there is instead of one. */
  readonly prepare?: (world: HostileWorld, token: Hex) => Promise<void>
  readonly make?: (world: HostileWorld) => Promise<Hex>
  /** Nothing is to be known of it. */
  readonly isNone?: true
  readonly check: (world: HostileWorld, token: Hex) => Promise<void>
}

export const SUPPLY = 10n ** 27n
const UPGRADED: Hex = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'
const PAIR_CREATED: Hex = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
const NOBODY = padHex('0xb0d1', { size: 20 })
/** Private key of anvil's first account, which creates all of it. */
const OWNER: Hex = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

const topic = (address: Hex): Hex => padHex(address, { size: 32 })
const amount = (value: bigint): Hex => numberToHex(value, { size: 32 })

async function hasUnknownHolders(world: HostileWorld, token: Hex): Promise<void> {
  const row = await world.rowOf(token)
  assert.deepEqual([row['holders'], row['market_cap'], row['burn_amount']], [undefined, undefined, undefined])
  const { headers } = await world.pipeline.get(`/v2/tokens/top100/${token}-local`)
  assert.equal(headers.get('X-Holders-Complete'), 'false')
  const contract = await world.get<{ risk_factors: { code: string }[] }>(`/v2/contracts/${token}-local`)
  assert.ok(contract.risk_factors.some(({ code }) => code === 'odd_balances'))
}

async function isUnknown(world: HostileWorld, kind: 'tokens' | 'pairs', address: Hex): Promise<void> {
  const { status, body } = await world.pipeline.get(`/v2/${kind}/${address}-local`)
  const code = kind === 'tokens' ? 'unknown_token' : 'unknown_pair'
  assert.deepEqual([status, (body as Row)['code']], [400, code])
}

function loop({ market }: HostileWorld): Promise<Hex> {
  return market.deploy(scripted('LoopingProxy'), [])
}

export const EVENT_CASES: readonly EventCase[] = [
  {
    why: 'a transfer beyond the supply',
    prepare: (world, token) => world.say(token, [TRANSFER, topic(OWNER), topic(NOBODY)], amount(HUGE)),
    check: hasUnknownHolders,
  },
  {
    why: 'mints that sum to more than 2^256',
    prepare: async (world, token) => {
      await world.say(token, [TRANSFER, topic(zeroAddress), topic(NOBODY)], amount(HUGE))
      await world.say(token, [TRANSFER, topic(zeroAddress), topic(NOBODY)], amount(HUGE))
    },
    check: async (world, token) => {
      await hasUnknownHolders(world, token)
      assert.equal((await world.rowOf(token))['total'], undefined)
    },
  },
  {
    why: 'a transfer from an empty account',
    prepare: (world, token) => world.say(token, [TRANSFER, topic(NOBODY), topic(OWNER)], amount(5n)),
    check: hasUnknownHolders,
  },
  {
    why: 'a burn beyond the supply',
    prepare: (world, token) =>
      world.say(token, [TRANSFER, topic(NOBODY), topic(zeroAddress)], amount(2n * SUPPLY)),
    check: async (world, token) => {
      await hasUnknownHolders(world, token)
      assert.equal((await world.rowOf(token))['total'], undefined)
    },
  },
  {
    why: 'malformed Transfer events: too few words, too many topics',
    prepare: async (world, token) => {
      await world.say(token, [TRANSFER], '0x')
      await world.say(token, [TRANSFER, topic(NOBODY)], amount(1n))
      await world.say(token, [TRANSFER, topic(NOBODY), topic(OWNER)], '0x')
      await world.say(token, [TRANSFER, topic(NOBODY), topic(OWNER)], '0x01')
      await world.say(token, [TRANSFER, topic(NOBODY), topic(OWNER), amount(1n)], '0x')
      await world.say(token, [], '0xff')
    },
    check: async (world, token) => {
      const row = await world.rowOf(token)
      assert.deepEqual([row['holders'], row['total'], row['burn_amount']], [2, '1000000000', '0'])
    },
  },
  {
    why: 'transfers of zero, and from an account to itself',
    prepare: async (world, token) => {
      await world.say(token, [TRANSFER, topic(NOBODY), topic(NOBODY)], amount(0n))
      await world.say(token, [TRANSFER, topic(NOBODY), topic(NOBODY)], amount(7n))
      await world.say(token, [TRANSFER, topic(zeroAddress), topic(zeroAddress)], amount(0n))
    },
    check: async (world, token) => assert.equal((await world.rowOf(token))['holders'], 2),
  },
  {
    why: 'a Transfer event with an invalid sender',
    prepare: (world, token) => world.say(token, [TRANSFER, amount(HUGE), topic(NOBODY)], amount(0n)),
    check: async (world, token) => assert.equal((await world.rowOf(token))['holders'], 2),
  },
  {
    why: 'a contract without a pool emits Transfer events',
    make: async (world) => {
      const foreign = await world.market.deploy(scripted('Shouter'), [])
      await world.say(foreign, [TRANSFER, topic(zeroAddress), topic(NOBODY)], amount(1n))
      return foreign
    },
    isNone: true,
    check: (world, foreign) => isUnknown(world, 'tokens', foreign),
  },
  {
    why: 'an unknown factory announces an existing pair',
    prepare: async (world, token) => {
      const factory = await world.market.deploy(scripted('Shouter'), [])
      const pair = await world.market.pairOf(token, world.market.weth)
      await world.say(
        factory,
        [PAIR_CREATED, topic(NOBODY), topic(token)],
        concatHex([topic(pair), amount(1n)]),
      )
    },
    check: async (world, token) => {
      const pair = await world.get(`/v2/pairs/${await world.market.pairOf(token, world.market.weth)}-local`)
      assert.deepEqual(
        [pair['amm'], [pair['token0_address'], pair['token1_address']].includes(token.toLowerCase())],
        ['uniswap_v2', true],
      )
      await isUnknown(world, 'tokens', NOBODY)
    },
  },
  {
    why: 'an unknown factory announces a pair that does not exist',
    prepare: async (world, token) => {
      const factory = await world.market.deploy(scripted('Shouter'), [])
      const data = concatHex([topic(NOBODY), amount(1n)])
      await world.say(factory, [PAIR_CREATED, topic(token), topic(world.market.weth)], data)
    },
    check: (world) => isUnknown(world, 'pairs', NOBODY),
  },
  {
    why: 'a pool that only says it is of the factory',
    make: async ({ market, scenario }) => {
      const artifact = compile('FalsePool', new URL('./HostileTokens.sol', import.meta.url))
      const pool = await market.deploy(artifact, [market.factory, scenario.token, market.weth])
      await market.send({ to: pool, abi: artifact.abi, name: 'sync', args: [] })
      return pool
    },
    isNone: true,
    check: (world, pool) => isUnknown(world, 'pairs', pool),
  },
  {
    why: 'a concentrated pool that only says it is of the factory',
    make: async ({ market, scenario, v3 }) => {
      const artifact = compile('FakeV3Pool', new URL('./FakeV3Pool.sol', import.meta.url))
      const pool = await market.deploy(artifact, [v3.factory, scenario.token, market.weth, 3_000])
      await market.send({ to: pool, abi: artifact.abi, name: 'swap', args: [] })
      return pool
    },
    isNone: true,
    check: (world, pool) => isUnknown(world, 'pairs', pool),
  },
  {
    why: 'a pool at a ratio of somebody’s choosing',
    make: async ({ market, scenario: { token, stable } }) => {
      const { abi } = uniswapV2Router
      const args = [token, stable, 10n ** 6n, 10n ** 9n, 0n, 0n, market.owner, 2n ** 64n]
      await market.send({ to: market.router, abi, name: 'addLiquidity', args, gas: 5_000_000n })
      return token
    },
    check: async (world, token) => {
      const row = await world.rowOf(token)
      const pair = await world.get(`/v2/pairs/${world.scenario.tokenPair}-local`)
      const side = pair['token0_address'] === token ? 'token0_price_usd' : 'token1_price_usd'
      assert.deepEqual([row['main_pair'], row['current_price_usd']], [world.scenario.tokenPair, pair[side]])
    },
  },
  {
    why: 'a contract that is gone',
    prepare: async (world, token) => {
      const client = createTestClient({ mode: 'anvil', chain: foundry, transport: http(world.stack.rpcUrl) })
      await client.setCode({ address: token, bytecode: '0x' })
    },
    check: async (world, token) => {
      const contract = await world.get<Row & { risk_factors: object[] }>(`/v2/contracts/${token}-local`)
      assert.equal(contract['is_honeypot'], -1)
      const factor = { code: 'trade_not_tried', points: 10, evidence: ['no_contract'] }
      assert.deepEqual(contract.risk_factors[0], factor)
    },
  },
  {
    why: 'a contract that says a hundred times in a block that it changed',
    prepare: async (world, token) => {
      for (let time = 0; time < 100; time++) await world.say(token, [UPGRADED, topic(NOBODY)], '0x')
    },
    check: async (world, token) => {
      const contract = await world.get(`/v2/contracts/${token}-local`)
      assert.deepEqual([contract['is_honeypot'], contract['is_proxy']], [0, 0])
    },
  },
  ...(['itself', 'another one that does the same'] as const).map(
    (whom): EventCase => ({
      why: `a proxy that runs the code of ${whom}`,
      make: async (world) => {
        const [first, second] = [await loop(world), await loop(world)]
        const ends = whom === 'itself' ? [first, first] : [second, first]
        for (const [index, proxy] of [first, second].entries()) {
          const args = [ends[index]]
          await world.market.send({ to: proxy, abi: scripted('LoopingProxy').abi, name: 'point', args })
        }
        await world.mine()
        await world.pool(first)
        return first
      },
      check: async (world, token) => {
        const contract = await world.get(`/v2/contracts/${token}-local`)
        assert.deepEqual([contract['is_proxy'], contract['is_honeypot'], contract['token_name']], [1, -1, ''])
      },
    }),
  ),
]
