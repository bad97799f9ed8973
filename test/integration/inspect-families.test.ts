import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  createTestClient,
  encodeAbiParameters,
  type Hex,
  http,
  keccak256,
  parseAbiParameters,
  toHex,
  zeroAddress,
} from 'viem'
import { foundry } from 'viem/chains'
import { compile } from '../../dev/market/artifacts.ts'
import { Market } from '../../dev/market/market.ts'
import { inspectToken } from '../../src/chain/evm/inspect/inspect-token.ts'
import type { MarketPair } from '../../src/chain/evm/inspect/market.ts'
import { createEvmRpc } from '../../src/chain/evm/rpc/rpc.ts'
import { flap } from '../../src/dex/evm/flap/protocol.ts'
import { fourMeme } from '../../src/dex/evm/four-meme/protocol.ts'
import { infinityCl } from '../../src/dex/evm/pancakeswap-infinity/protocol.ts'
import type { Inspection, TrialMethod } from '../../src/domain/inspection.ts'
import { isHoneypot } from '../../src/domain/risk-score.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { artifact, INSPECTED_TOKENS, takesPools } from '../support/tokens/inspected-tokens.ts'

/**
 * Trades in models of exchanges whose bytecode is not available. They prove that the calls fit these families, and not how
 * the real contracts compute a price.
 */

const MODELS = new URL('../support/pools/ModelPools.sol', import.meta.url)
const TOKENS_IN_POOL = 10n ** 24n
const COINS_IN_POOL = 100n * 10n ** 18n
const METHODS = ['simulate', 'call'] as const
const NAMES = ['PlainToken', 'FeeToken', 'BlacklistToken', 'MaxSaleToken', 'RewritingToken', 'RebasingToken']
const TOLERANCE_PPM = 1_000

let stack: Stack
let market: Market

before(async () => {
  stack = await startStack({ services: ['anvil'], anvil: ['--no-mining'] })
  market = await Market.deploy(stack.rpcUrl)
  await market.wrap(5_000n * 10n ** 18n)
  await market.mine()
})

after(() => stack?.stop())

function lower(address: string): string {
  return address.toLowerCase()
}

function isFirst(token: Hex): boolean {
  return lower(token) < lower(market.weth)
}

async function deployToken(name: string): Promise<Hex> {
  return market.deploy(artifact(name), [])
}

/** Deploys a model with the token's liquidity; it is a pool to the token. */
async function open(token: Hex, name: string, model: string, args: readonly unknown[]): Promise<Hex> {
  const { abi, bytecode } = compile(model, MODELS)
  const pool = await market.deploy({ abi, bytecode }, args)
  await fund(token, name, pool)
  if (model === 'SolidlyPairModel') await market.send({ to: pool, abi, name: 'sync', args: [] })
  await market.mine()
  return pool
}

async function fund(token: Hex, name: string, pool: Hex): Promise<void> {
  await market.transfer(token, pool, TOKENS_IN_POOL)
  await market.transfer(market.weth, pool, COINS_IN_POOL)
  if (takesPools(name)) {
    await market.send({ to: token, abi: artifact(name).abi, name: 'setPool', args: [pool] })
  }
  await market.mine()
}

async function openInfinity(token: Hex, name: string, hooks: Hex = zeroAddress): Promise<MarketPair> {
  const vault = await market.deploy(compile('InfinityVaultModel', MODELS), [])
  const { abi, bytecode } = compile('InfinityManagerModel', MODELS)
  const manager = await market.deploy({ abi, bytecode }, [vault])
  await fund(token, name, vault)
  const [currency0, currency1] = isFirst(token) ? [token, market.weth] : [market.weth, token]
  const parameters = toHex(60n << 16n, { size: 32 })
  const key = { currency0, currency1, hooks, poolManager: manager, fee: 3_000, parameters }
  const reserves = isFirst(token) ? [TOKENS_IN_POOL, COINS_IN_POOL] : [COINS_IN_POOL, TOKENS_IN_POOL]
  await market.send({ to: manager, abi, name: 'open', args: [key, ...reserves] })
  await market.mine()
  const types = parseAbiParameters('address, address, address, address, uint24, bytes32')
  const id = keccak256(encodeAbiParameters(types, [currency0, currency1, hooks, manager, 3_000, parameters]))
  const factory = lower(manager)
  const { readMarket } = infinityCl
  assert.ok(readMarket)
  const deployment = { amm: 'infinity', protocol: 'pancakeswap_infinity_cl', factory }
  return {
    ...{ address: id, kind: 'vault', quote: lower(market.weth), manager: factory },
    read: () => readMarket(id, deployment, undefined),
  }
}

async function inspect(token: Hex, pair: MarketPair, method: TrialMethod): Promise<Inspection> {
  const { logger } = createTestCommon()
  const metrics = { answered: () => undefined, up: () => undefined }
  const { signal } = new AbortController()
  const nodes = createEvmRpc({ urls: [stack.rpcUrl], chainId: 31_337, logger, signal, metrics })
  return inspectToken(nodes, { token: lower(token), block: await market.head(), pairs: [pair] }, { method })
}

type Family = {
  readonly open: (token: Hex, name: string) => Promise<MarketPair>
  /** Accepts tokens that take a tax. */
  readonly takesTaxed: boolean
}

function pairOf(address: Hex, kind: 'solidly' | 'algebra'): MarketPair {
  return { address: lower(address), kind, quote: lower(market.weth) }
}

async function openAlgebra(token: Hex, name: string, plugin: Hex): Promise<MarketPair> {
  return pairOf(await open(token, name, 'AlgebraPoolModel', [token, market.weth, plugin]), 'algebra')
}

const FAMILIES: Readonly<Record<string, Family>> = {
  'a volatile Solidly pair': {
    open: async (token, name) =>
      pairOf(await open(token, name, 'SolidlyPairModel', [token, market.weth, false]), 'solidly'),
    takesTaxed: true,
  },
  // With reserves of 10,000 to 1, the price is far from their ratio.
  'a stable Solidly pair': {
    open: async (token, name) =>
      pairOf(await open(token, name, 'SolidlyPairModel', [token, market.weth, true]), 'solidly'),
    takesTaxed: true,
  },
  'an Algebra pool': { open: (token, name) => openAlgebra(token, name, zeroAddress), takesTaxed: false },
  'an Infinity pool': { open: (token, name) => openInfinity(token, name), takesTaxed: true },
}

for (const [family, { open: openPool, takesTaxed }] of Object.entries(FAMILIES)) {
  describe(`a model of ${family}`, () => {
    for (const name of NAMES) {
      test(name, async () => {
        const expected = INSPECTED_TOKENS[name]
        assert.ok(expected)
        const token = await deployToken(name)
        const pair = await openPool(token, name)
        const sell = (!takesTaxed && expected.sellConcentrated) || (expected.sell ?? 0)
        const wanted = [expected.buy ?? 0, expected.transfer ?? 0, sell]
        const taxes = [expected.buy ?? 0, expected.transfer ?? 0, expected.sellTax ?? sell]
        for (const method of METHODS) {
          const inspection = await inspect(token, pair, method)
          const { trial } = inspection
          assert.ok(typeof trial === 'object', `not tried: ${JSON.stringify(trial)}`)
          for (const [at, step] of [trial.buy, trial.transfer, trial.sell].entries()) {
            assert.deepEqual([step?.works, step?.reason], reasonOf(wanted[at]), `${method}, step ${at}`)
            const tax = taxes[at]
            if (typeof tax !== 'number') continue
            const difference = Math.abs((step?.taxPpm ?? Number.NaN) - tax)
            assert.ok(difference < TOLERANCE_PPM, `${method}, step ${at}: a tax of ${step?.taxPpm}`)
          }
          assert.equal(isHoneypot(inspection), typeof sell === 'string')
        }
      })
    }
  })
}

function reasonOf(expected: number | string | undefined): [boolean, string | undefined] {
  return typeof expected === 'string' ? [false, expected] : [true, undefined]
}

describe('a plugin or hook that prevents sales leaves the result unknown', () => {
  for (const [family, openWith] of [
    ['a model of an Algebra pool', openAlgebra],
    ['a model of an Infinity pool', openInfinity],
  ] as const)
    test(family, async () => {
      const token = await deployToken('PlainToken')
      const plugin = await market.deploy(compile('StubbornPlugin', MODELS), [isFirst(token)])
      const pair = await openWith(token, 'PlainToken', plugin)
      for (const method of METHODS) {
        const inspection = await inspect(token, pair, method)
        const { trial } = inspection
        assert.ok(typeof trial === 'object', `not tried: ${JSON.stringify(trial)}`)
        assert.deepEqual([trial.buy.works, trial.transfer?.works, trial.sell], [true, true, undefined])
        assert.equal(isHoneypot(inspection), undefined)
      }
    })

  test('but not if the token is the cause', async () => {
    const token = await deployToken('BlacklistToken')
    const plugin = await market.deploy(compile('StubbornPlugin', MODELS), [isFirst(token)])
    const pair = await openAlgebra(token, 'BlacklistToken', plugin)
    for (const method of METHODS) {
      const { trial } = await inspect(token, pair, method)
      assert.equal(typeof trial === 'object' && trial.sell?.reason, 'blacklisted')
    }
  })
})

describe('a token of a launch platform can be bought and sold, and its taxes are unknown', () => {
  const platforms = { FourMemeModel: fourMeme.readCurve, FlapModel: flap.readCurve }
  for (const [model, readCurve] of Object.entries(platforms))
    for (const isNative of [true, false]) {
      if (model === 'FourMemeModel' && !isNative) continue
      test(`${model}, for ${isNative ? 'native coins' : 'tokens'}`, async () => {
        for (const hasSales of [true, false]) {
          const quote = isNative ? zeroAddress : market.weth
          const platform = await market.deploy(compile(model, MODELS), [quote, hasSales])
          const token = lower(await market.deploy(compile('LaunchedToken', MODELS), [platform])) as Hex
          await fundPlatform(platform)
          assert.ok(readCurve)
          const deployment = { amm: model, protocol: model, factory: lower(platform) }
          const read = () => readCurve(token, deployment)
          const about = { address: keccak256(token), quote: lower(quote), manager: deployment.factory }
          for (const method of METHODS) {
            const inspection = await inspect(token, { ...about, kind: 'curve', read }, method)
            const { trial } = inspection
            assert.ok(typeof trial === 'object', `not tried: ${JSON.stringify(trial)}`)
            assert.deepEqual([trial.buy.works, trial.transfer], [true, undefined], trial.buy.reason)
            assert.deepEqual([trial.buy.taxPpm, trial.sell?.taxPpm], [undefined, undefined])
            assert.equal(trial.sell?.works, hasSales ? true : undefined, 'its platform refuses sales')
            assert.equal(isHoneypot(inspection), hasSales ? false : undefined)
          }
        }
      })
    }
})

async function fundPlatform(platform: Hex): Promise<void> {
  await market.transfer(market.weth, platform, COINS_IN_POOL)
  const client = createTestClient({ mode: 'anvil', chain: foundry, transport: http(stack.rpcUrl) })
  await client.setBalance({ address: platform, value: COINS_IN_POOL })
  await market.mine()
}
