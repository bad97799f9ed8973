import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createTestClient, type Hex, http, zeroAddress } from 'viem'
import { foundry } from 'viem/chains'
import { compile } from '../../dev/market/artifacts.ts'
import { Market } from '../../dev/market/market.ts'
import { rangeAround, sqrtPrice } from '../../dev/market/uniswap-v3.ts'
import { idOf, type PoolKey, poolKey, UniswapV4 } from '../../dev/market/uniswap-v4.ts'
import { inspectToken } from '../../src/chain/evm/inspect/inspect-token.ts'
import { evmInspector } from '../../src/chain/evm/inspect/inspector.ts'
import type { MarketPair } from '../../src/chain/evm/inspect/market.ts'
import { createEvmRpc, type EvmNodes } from '../../src/chain/evm/rpc/rpc.ts'
import { announcedKey } from '../../src/dex/evm/uniswap-v4/pool-key.ts'
import { uniswapV4 } from '../../src/dex/evm/uniswap-v4/protocol.ts'
import { DexRegistry } from '../../src/dex/registry.ts'
import type { Inspection, TradeTrial, TrialMethod } from '../../src/domain/inspection.ts'
import { isHoneypot } from '../../src/domain/risk-score.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { rawLog } from '../support/builders/raw-log.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { artifact, INSPECTED_TOKENS, takesPools } from '../support/tokens/inspected-tokens.ts'

/** Trades in pools of Uniswap V4, with the bytecode that its authors publish. */

const HOOKS = new URL('../support/pools/TestHooks.sol', import.meta.url)
const TOKENS_IN_POOL = 10n ** 24n
const COINS_IN_POOL = 100n * 10n ** 18n
const LIQUIDITY = 10n ** 22n
const FEE = 3_000
const SPACING = 60
const TOLERANCE_PPM = 1_000
const BEFORE_SWAP = 1n << 7n
const AFTER_SWAP = 1n << 6n
const AFTER_SWAP_RETURNS_DELTA = 1n << 2n
const METHODS = ['simulate', 'call'] as const

let stack: Stack
let market: Market
let v4: UniswapV4
let hooksMade = 0n

before(async () => {
  stack = await startStack({ services: ['anvil'], anvil: ['--no-mining'] })
  market = await Market.deploy(stack.rpcUrl)
  v4 = await UniswapV4.deploy(market)
  await market.wrap(5_000n * 10n ** 18n)
  for (const spender of v4.spenders) await market.approve(market.weth, spender)
})

after(() => stack?.stop())

function lower(address: string): string {
  return address.toLowerCase()
}

async function deployToken(name: string): Promise<Hex> {
  const args = name === 'ProxyToken' ? [await market.deploy(artifact('FirstVersion'), [])] : []
  const token = await market.deploy(artifact(name), args)
  for (const spender of v4.spenders) await market.approve(token, spender)
  if (takesPools(name))
    await market.send({ to: token, abi: artifact(name).abi, name: 'setPool', args: [v4.manager] })
  if (name === 'RenouncedToken' || name === 'TrapdoorToken')
    await market.send({ to: token, abi: artifact(name).abi, name: 'renounceOwnership', args: [] })
  await market.mine()
  return token
}

/** A hook is called for the events that the last bits of its address name. */
async function placeHooks(name: string): Promise<Hex> {
  const bits = BEFORE_SWAP | AFTER_SWAP | AFTER_SWAP_RETURNS_DELTA
  const address: Hex = `0x${((++hooksMade << 32n) | (0xbeefn << 64n) | bits).toString(16).padStart(40, '0')}`
  const client = createTestClient({ mode: 'anvil', chain: foundry, transport: http(stack.rpcUrl) })
  await client.setCode({ address, bytecode: compile(name, HOOKS).runtime })
  return address
}

async function openPool(token: Hex, quote: Hex, hooks: Hex = zeroAddress): Promise<PoolKey> {
  const key = { ...poolKey(token, quote, FEE, SPACING), hooks }
  await v4.createPool(key, sqrtPrice(token, TOKENS_IN_POOL, quote, COINS_IN_POOL))
  await market.mine()
  const { tick } = await v4.slot0(key)
  const native = quote === zeroAddress ? 10n * COINS_IN_POOL : 0n
  await v4.modifyLiquidity(key, rangeAround(tick, SPACING, 100), LIQUIDITY, 0, native)
  await market.mine()
  return key
}

function pairOf(key: PoolKey, token: Hex): MarketPair {
  const address = idOf(key)
  const quote = lower(key.currency0) === lower(token) ? key.currency1 : key.currency0
  const fee = key.fee.toString(16).padStart(64, '0')
  const spacing = key.tickSpacing.toString(16).padStart(64, '0')
  const [currency0, currency1, hooks] = [key.currency0, key.currency1, key.hooks].map(
    (each) => `0x${lower(each).slice(2).padStart(64, '0')}`,
  )
  const words = [currency0, currency1, `0x${fee}`, `0x${spacing}`, hooks] as string[]
  const factory = lower(v4.manager)
  const deployment = { amm: 'uniswap_v4', protocol: 'uniswap_v4', factory }
  const { readMarket } = uniswapV4
  assert.ok(readMarket)
  return {
    ...{ address, kind: 'vault', quote: lower(quote), manager: factory },
    read: () => readMarket(address, deployment, words),
  }
}

function connect(): EvmNodes {
  const { logger } = createTestCommon()
  const metrics = { answered: () => undefined, up: () => undefined }
  const { signal } = new AbortController()
  return createEvmRpc({ urls: [stack.rpcUrl], chainId: 31_337, logger, signal, metrics })
}

async function inspect(token: Hex, pairs: readonly MarketPair[], method: TrialMethod): Promise<Inspection> {
  return inspectToken(connect(), { token: lower(token), block: await market.head(), pairs }, { method })
}

function trialOf({ trial }: Inspection): TradeTrial {
  assert.ok(typeof trial === 'object', `not tried: ${JSON.stringify(trial)}`)
  return trial
}

function assertStep(step: TradeTrial['sell'], expected: number | string, what: string, tax?: number): void {
  assert.ok(step, `${what}: not tried`)
  assert.equal(step.works, typeof expected === 'number', `${what}: ${step.reason}`)
  if (typeof expected === 'string') assert.equal(step.reason, expected, what)
  const wanted = typeof expected === 'number' ? expected : tax
  if (wanted === undefined) return
  const difference = Math.abs((step.taxPpm ?? Number.NaN) - wanted)
  assert.ok(difference < TOLERANCE_PPM, `${what}: ${step.taxPpm} instead of ${wanted}`)
}

describe('in a pool without hooks', () => {
  for (const [name, expected] of Object.entries(INSPECTED_TOKENS)) {
    test(name, async () => {
      const token = await deployToken(name)
      for (const quote of [zeroAddress, market.weth]) {
        const pair = pairOf(await openPool(token, quote), token)
        for (const method of METHODS) {
          const inspection = await inspect(token, [pair], method)
          const trial = trialOf(inspection)
          assert.deepEqual([trial.pair, trial.method], [pair.address, method])
          assertStep(trial.buy, expected.buy ?? 0, 'buy')
          assertStep(trial.transfer, expected.transfer ?? 0, 'transfer')
          assertStep(trial.sell, expected.sell ?? 0, 'sell', expected.sellTax)
          assert.equal(isHoneypot(inspection), typeof expected.sell === 'string')
        }
      }
    })
  }

  test('without liquidity around the price, or without a pool, nothing is known', async () => {
    const token = await deployToken('PlainToken')
    const key = poolKey(token, zeroAddress, FEE, SPACING)
    assert.equal((await inspect(token, [pairOf(key, token)], 'simulate')).trial, 'no_pair')
    await v4.createPool(key, sqrtPrice(token, TOKENS_IN_POOL, zeroAddress, COINS_IN_POOL))
    await market.mine()
    assert.equal((await inspect(token, [pairOf(key, token)], 'simulate')).trial, 'no_liquidity')
  })
})

test('the inspector of the reader finds the key of a pool in its announcement', async () => {
  const token = await deployToken('BlacklistToken')
  const from = (await market.head()).number
  const key = await openPool(token, zeroAddress)
  const receipts = await market.receipts(from + 1)
  const logs = receipts.flatMap((receipt) => receipt.logs)
  const keys = logs.flatMap(({ address, topics, data }) => announcedKey(rawLog(address, topics, data)) ?? [])
  assert.deepEqual(
    keys.map(({ pool }) => pool),
    [idOf(key)],
  )
  const factory = lower(v4.manager)
  const registry = new DexRegistry([{ amm: 'uniswap_v4', protocol: 'uniswap_v4', factory }])
  const head = await market.head()
  for (const announced of [keys[0]?.key, undefined]) {
    const inspector = evmInspector(connect(), {
      poolsOf: () => [{ address: idOf(key), factory, quote: zeroAddress }],
      deploymentOf: (address) => registry.deploymentOf(address, head.number),
      keyOf: () => announced,
    })
    const inspection = await inspector(lower(token), { ...head, parentHash: head.hash })
    assert.equal(isHoneypot(inspection), announced === undefined ? undefined : true)
    if (announced === undefined) assert.equal(inspection.trial, 'no_pair')
  }
})

describe('in a pool with hooks', () => {
  test('that do nothing, the result is known', async () => {
    const hooks = await placeHooks('QuietHooks')
    for (const [name, isStuck] of [
      ['PlainToken', false],
      ['FeeToken', false],
      ['BlacklistToken', true],
      ['RewritingToken', true],
    ] as const) {
      const token = await deployToken(name)
      const pair = pairOf(await openPool(token, zeroAddress, hooks), token)
      for (const method of METHODS) {
        const inspection = await inspect(token, [pair], method)
        assert.equal(isHoneypot(inspection), isStuck, `${name} by ${method}`)
        if (name === 'BlacklistToken') assert.equal(trialOf(inspection).sell?.reason, 'blacklisted')
      }
    }
  })

  for (const name of [
    ...['OneWayHooks', 'GreedyHooks', 'BurningHooks'],
    ...['BombHooks', 'ReenteringHooks', 'IndebtedHooks'],
  ])
    test(`${name} prevent the sale: unknown, and the next pool is tried`, async () => {
      const token = await deployToken('PlainToken')
      const pair = pairOf(await openPool(token, zeroAddress, await placeHooks(name)), token)
      for (const method of METHODS) {
        const inspection = await inspect(token, [pair], method)
        const { buy, transfer, sell } = trialOf(inspection)
        assert.deepEqual([buy.works, transfer?.works, sell], [true, true, undefined])
        assert.equal(isHoneypot(inspection), undefined)
      }
      const good = pairOf(await openPool(token, market.weth), token)
      const { pair: tried, sell } = trialOf(await inspect(token, [pair, good], 'simulate'))
      assert.deepEqual([tried, sell?.works], [good.address, true])
    })

  test('ClosedHooks prevent the purchase: unknown', async () => {
    const token = await deployToken('PlainToken')
    const pair = pairOf(await openPool(token, zeroAddress, await placeHooks('ClosedHooks')), token)
    for (const method of METHODS) assert.equal((await inspect(token, [pair], method)).trial, 'no_pair')
  })
})
