import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Hex, zeroAddress } from 'viem'
import { uniswapV2Router } from '../../dev/market/artifacts.ts'
import { Market } from '../../dev/market/market.ts'
import { rangeAround, sqrtPrice, UniswapV3 } from '../../dev/market/uniswap-v3.ts'
import { type InspectionRequest, inspectToken } from '../../src/chain/evm/inspect/inspect-token.ts'
import type { MarketPair } from '../../src/chain/evm/inspect/market.ts'
import { createEvmRpc } from '../../src/chain/evm/rpc/rpc.ts'
import {
  CONTRACT_FLAGS,
  type ContractFlag,
  type Inspection,
  type TradeTrial,
  type TrialMethod,
} from '../../src/domain/inspection.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { FaultyProxy } from '../support/rigs/faulty-proxy.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { artifact, INSPECTED_TOKENS, takesPools } from '../support/tokens/inspected-tokens.ts'

const TOKENS_IN_POOL = 10n ** 24n
const COINS_IN_POOL = 100n * 10n ** 18n
const FEE = 3_000
const SPACING = 60
/** A tenth of a percent point. */
const TOLERANCE_PPM = 1_000

const OTHER_TOKENS = ['SwapBackToken', 'VanishingToken', 'BombToken', 'BeaconToken']

let stack: Stack
let market: Market
let v3: UniswapV3
let dollar: Hex
const tokens = new Map<string, Hex>()
const implementations = new Map<string, Hex>()

before(async () => {
  stack = await startStack({ services: ['anvil'], anvil: ['--no-mining'] })
  market = await Market.deploy(stack.rpcUrl)
  v3 = await UniswapV3.deploy(market)
  await market.wrap(5_000n * 10n ** 18n)
  await market.approve(market.weth, v3.positions)
  for (const name of ['FirstVersion', 'MaliciousVersion'])
    implementations.set(name, await market.deploy(artifact(name), []))
  tokens.set('StubbornToken', await market.deploy(artifact('StubbornToken'), []))
  for (const name of [...Object.keys(INSPECTED_TOKENS), ...OTHER_TOKENS]) {
    const args = /^(Proxy|Beacon)Token$/.test(name) ? [implementations.get('FirstVersion')] : []
    const token = await market.deploy(artifact(name), args)
    tokens.set(name, token)
    await openPools(token)
    if (!takesPools(name)) continue
    for (const { address } of await pairsOf(token))
      await market.send({ to: token, abi: artifact(name).abi, name: 'setPool', args: [address] })
    await market.mine()
  }
  for (const name of ['RenouncedToken', 'TrapdoorToken']) {
    const call = { to: tokenOf(name), abi: artifact(name).abi, name: 'renounceOwnership', args: [] }
    await market.send(call)
  }
  const { abi } = artifact('RebasingToken')
  await market.send({ to: tokenOf('RebasingToken'), abi, name: 'rebase', args: [93n] })
  dollar = await market.createToken({ name: 'Dollar', symbol: 'USDT', decimals: 6, supply: 10n ** 15n })
  await market.mine()
})

after(() => stack?.stop())

function tokenOf(name: string): Hex {
  const token = tokens.get(name)
  assert.ok(token, name)
  return token
}

/** A pool with the wrapped native coin on either exchange, at the same price. */
async function openPools(token: Hex): Promise<void> {
  await market.approve(token, market.router)
  await market.approve(token, v3.positions)
  await market.addLiquidityNative(token, TOKENS_IN_POOL, COINS_IN_POOL)
  await v3.createPool(token, market.weth, FEE, sqrtPrice(token, TOKENS_IN_POOL, market.weth, COINS_IN_POOL))
  await market.mine()
  const pool = await v3.poolOf(token, market.weth, FEE)
  const { tick } = await v3.slot0(pool)
  const [amount0, amount1] =
    pool.token0 === token ? [TOKENS_IN_POOL, COINS_IN_POOL] : [COINS_IN_POOL, TOKENS_IN_POOL]
  await v3.addLiquidity(pool, rangeAround(tick, SPACING, 100), amount0, amount1)
  await market.mine()
}

async function pairsOf(token: Hex): Promise<[MarketPair, MarketPair]> {
  const quote = lower(market.weth)
  const pool = await v3.poolOf(token, market.weth, FEE)
  return [
    { address: lower(await market.pairOf(token, market.weth)), kind: 'v2', quote },
    { address: lower(pool.address), kind: 'v3', quote },
  ]
}

function lower(address: string): string {
  return address.toLowerCase()
}

async function inspect(...args: Tail<Parameters<typeof inspectAt>>): Promise<Inspection> {
  return inspectAt(await market.head(), ...args)
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never

function inspectAt(
  block: InspectionRequest['block'],
  token: Hex,
  pairs: readonly MarketPair[],
  method?: TrialMethod,
  urls: readonly string[] = [stack.rpcUrl],
): Promise<Inspection> {
  const { logger } = createTestCommon()
  const metrics = { answered: () => undefined, up: () => undefined }
  const { signal } = new AbortController()
  const nodes = createEvmRpc({ urls, chainId: 31_337, logger, signal, metrics })
  const request = { token: lower(token), block, pairs }
  return inspectToken(nodes, request, method === undefined ? {} : { method })
}

function trialOf({ trial }: Inspection): TradeTrial {
  assert.ok(typeof trial === 'object', `not tried: ${JSON.stringify(trial)}`)
  return trial
}

function flagsOf({ findings }: Inspection): ContractFlag[] {
  return CONTRACT_FLAGS.filter((flag) => findings[flag].length > 0)
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

for (const kind of ['v2', 'v3'] as const) {
  for (const method of ['simulate', 'call'] as const) {
    describe(`in a pool of ${kind}, by ${method}`, () => {
      for (const [name, expected] of Object.entries(INSPECTED_TOKENS)) {
        test(name, async () => {
          const token = tokenOf(name)
          const pair = (await pairsOf(token)).find((one) => one.kind === kind)
          assert.ok(pair)
          const inspection = await inspect(token, [pair], method)
          assert.deepEqual(flagsOf(inspection), expected.flags ?? [], JSON.stringify(inspection.findings))
          const owners = { deployer: lower(market.owner), zero: zeroAddress, none: undefined }
          assert.equal(inspection.owner, owners[expected.owner ?? 'none'])
          const trial = trialOf(inspection)
          assert.deepEqual([trial.pair, trial.method], [pair.address, method])
          assertStep(trial.buy, expected.buy ?? 0, 'buy')
          assertStep(trial.transfer, expected.transfer ?? 0, 'transfer')
          const sell = (kind === 'v3' && expected.sellConcentrated) || (expected.sell ?? 0)
          assertStep(trial.sell, sell, 'sell', expected.sellTax)
          for (const step of [trial.buy, trial.transfer, trial.sell]) {
            if (method === 'call') assert.equal(step?.gas, undefined)
            else assert.ok(step?.gas !== undefined && step.gas > 21_000 && step.gas < 250_000, `${step?.gas}`)
          }
        })
      }
    })
  }
}

test('each finding has its evidence', async () => {
  const { findings } = await inspect(tokenOf('TrapdoorToken'), [])
  assert.deepEqual(findings.takeBackOwnership, ['0x6bcf52ab takeBackOwnership()'])
  assert.match(findings.selfdestruct.join(), /^SELFDESTRUCT at 0x[0-9a-f]+$/)
  assert.match(findings.callsOutInTransfer.join(), /^(STATIC)?CALL at 0x[0-9a-f]+$/)
  assert.ok(findings.hiddenOwner.every((evidence) => evidence.endsWith(` is for ${lower(market.owner)}`)))
  const { findings: ofFees } = await inspect(tokenOf('FeeToken'), [])
  assert.deepEqual(ofFees.setFees, ['0x0b78f9c0 setFees(uint256,uint256)'])
})

test('no false alarm on contracts that everybody uses', async () => {
  const pair = (await pairsOf(tokenOf('PlainToken')))[0].address as Hex
  assert.deepEqual(flagsOf(await inspect(market.weth, [])), [])
  assert.deepEqual(
    flagsOf(await inspect(pair, [])),
    ['mint'],
    'its shares can be minted; its factory is named',
  )
})

test('a token that sells its fees during the sale of another account', async () => {
  const token = tokenOf('SwapBackToken')
  const [pair] = await pairsOf(token)
  for (const method of ['simulate', 'call'] as const) {
    const inspection = await inspect(token, [pair], method)
    const { buy, transfer, sell } = trialOf(inspection)
    assertStep(buy, 50_000, 'buy')
    assertStep(transfer, 0, 'transfer')
    assertStep(sell, 50_000, 'sell')
    assert.deepEqual(flagsOf(inspection), ['callsOutInTransfer'])
  }
})

test('a balance that is gone after the purchase is found by simulation', async () => {
  const token = tokenOf('VanishingToken')
  const { sell } = trialOf(await inspect(token, await pairsOf(token)))
  assert.deepEqual([sell?.works, sell?.reason], [false, 'the balance shrank by itself'])
})

test('a megabyte of an answer is the token’s fault, not the node’s', async () => {
  const token = tokenOf('BombToken')
  for (const pair of await pairsOf(token)) {
    for (const method of ['simulate', 'call'] as const) {
      const { buy, transfer, sell } = trialOf(await inspect(token, [pair], method))
      assert.deepEqual([buy.works, transfer?.works, sell?.works], [true, false, false])
      assert.ok((sell?.reason ?? '').length < 100)
    }
  }
})

describe('a proxy', () => {
  const first = () => lower(implementations.get('FirstVersion') ?? '')
  const second = () => lower(implementations.get('MaliciousVersion') ?? '')

  test('by a beacon', async () => {
    const { proxy, findings, trial } = await inspect(
      tokenOf('BeaconToken'),
      await pairsOf(tokenOf('BeaconToken')),
    )
    assert.deepEqual([proxy?.kind, proxy?.implementation], ['beacon', first()])
    assert.ok(Object.values(findings).every((evidence) => evidence.length === 0))
    assert.ok(typeof trial === 'object' && trial.sell?.works)
  })

  test('before and after an upgrade, each at its block', async () => {
    const token = tokenOf('ProxyToken')
    const pairs = await pairsOf(token)
    const before = await inspect(token, pairs)
    assert.deepEqual(
      [before.proxy?.kind, before.proxy?.implementation, before.proxy?.admin],
      ['eip1967', first(), lower(market.owner)],
    )
    assert.deepEqual(flagsOf(before), [])
    assert.equal(trialOf(before).sell?.works, true)
    const blockBefore = await market.head()

    const { abi } = artifact('ProxyToken')
    await market.send({ to: token, abi, name: 'upgradeTo', args: [second()] })
    await market.mine()
    for (const method of ['simulate', 'call'] as const) {
      for (const pair of pairs) {
        const after = await inspect(token, [pair], method)
        assert.equal(after.proxy?.implementation, second())
        assert.equal(after.codeHash, before.codeHash)
        assert.notEqual(after.proxy?.implementationCodeHash, before.proxy?.implementationCodeHash)
        assert.deepEqual(after.findings.mint, ['0x40c10f19 mint(address,uint256) of the implementation'])
        const { buy, transfer, sell } = trialOf(after)
        assert.deepEqual(
          [buy.works, transfer?.works, sell?.works, sell?.reason],
          [true, true, false, 'upgraded'],
        )
      }
    }
    assert.deepEqual(await inspectAt(blockBefore, token, pairs), before, 'the block before is as it was')
  })
})

describe('where it is tried', () => {
  test('with a stablecoin as the quote token', async () => {
    const token = tokenOf('FeeToken')
    const { abi } = uniswapV2Router
    const liquidity = [token, dollar, TOKENS_IN_POOL, 10n ** 12n, 0n, 0n, market.owner, 2n ** 64n]
    await market.send({ to: market.router, abi, name: 'addLiquidity', args: liquidity, gas: 5_000_000n })
    await market.mine()
    const address = lower(await market.pairOf(token, dollar))
    await market.send({ to: token, abi: artifact('FeeToken').abi, name: 'setPool', args: [address] })
    await market.mine()
    const pair: MarketPair = { address, kind: 'v2', quote: lower(dollar) }
    const { buy, transfer, sell } = trialOf(await inspect(token, [pair]))
    assertStep(buy, 30_000, 'buy')
    assertStep(transfer, 10_000, 'transfer')
    assertStep(sell, 70_000, 'sell')
  })

  test('an empty pool gives no result; the next one is tried', async () => {
    const token = tokenOf('PlainToken')
    const [good] = await pairsOf(token)
    const quote = lower(market.weth)
    const empty: MarketPair = { address: `0x${'ab'.repeat(20)}`, kind: 'v2', quote }
    assert.equal((await inspect(token, [empty])).trial, 'no_liquidity')
    assert.equal(trialOf(await inspect(token, [empty, good])).pair, good.address)
    assert.equal((await inspect(token, [])).trial, 'no_pair')
  })

  test('a quote token whose balances cannot be overridden', async () => {
    const token = tokenOf('PlainToken')
    const [, pair] = await pairsOf(token)
    const strange = { ...pair, quote: lower(tokenOf('StubbornToken')) }
    for (const method of ['simulate', 'call'] as const)
      assert.equal((await inspect(token, [strange], method)).trial, 'no_funds')
  })

  test('an address without a contract', async () => {
    const { trial, owner, proxy } = await inspect(`0x${'cd'.repeat(20)}`, [])
    assert.deepEqual([trial, owner, proxy], ['no_contract', undefined, undefined])
  })
})

describe('nodes', () => {
  test('without simulation are asked by calls, with the same taxes', async () => {
    const token = tokenOf('FeeToken')
    const pairs = await pairsOf(token)
    const proxy = await FaultyProxy.start(stack.rpcUrl, 0)
    try {
      proxy.fault = { kind: 'no_method', method: 'eth_simulateV1' }
      const called = await inspect(token, pairs, undefined, [proxy.url])
      const simulated = await inspect(token, pairs)
      assert.deepEqual([trialOf(called).method, trialOf(simulated).method], ['call', 'simulate'])
      const taxes = ({ buy, transfer, sell }: TradeTrial) => [buy.taxPpm, transfer?.taxPpm, sell?.taxPpm]
      assert.deepEqual(taxes(trialOf(called)), taxes(trialOf(simulated)))
      assert.deepEqual({ ...called, trial: simulated.trial }, simulated)
    } finally {
      await proxy.close()
    }
  })

  test('with simulation are preferred', async () => {
    const proxy = await FaultyProxy.start(stack.rpcUrl, 0)
    try {
      proxy.fault = { kind: 'no_method', method: 'eth_simulateV1' }
      const token = tokenOf('PlainToken')
      const inspection = await inspect(token, await pairsOf(token), undefined, [proxy.url, stack.rpcUrl])
      assert.equal(trialOf(inspection).method, 'simulate')
    } finally {
      await proxy.close()
    }
  })

  test('without the block do not answer', async () => {
    const block = { number: 1, hash: `0x${'ef'.repeat(32)}`, time: 1 }
    await assert.rejects(inspectAt(block, tokenOf('PlainToken'), []), { code: 'node_unavailable' })
  })
})
