import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Hex } from 'viem'
import { type Artifact, compile, uniswapV2Factory, uniswapV2Pair } from '../../dev/market/artifacts.ts'
import { Market } from '../../dev/market/market.ts'
import { EvmFacts } from '../../src/chain/evm/facts/facts.ts'
import { Multicall } from '../../src/chain/evm/rpc/multicall.ts'
import { createEvmRpc } from '../../src/chain/evm/rpc/rpc.ts'
import { createEvmSource } from '../../src/chain/evm/source.ts'
import type { KnownFacts } from '../../src/chain/source.ts'
import { DexRegistry } from '../../src/dex/registry.ts'
import type { Fact, PoolFact, TokenFact } from '../../src/domain/envelope.ts'
import { shownText } from '../../src/domain/token-text.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

const SOURCE = new URL('../support/tokens/HostileTokens.sol', import.meta.url)
const HOSTILE = [
  'Bytes32Token',
  'RevertingToken',
  'GasEater',
  'MegabyteToken',
  'LongToken',
  'UglyToken',
  'LyingToken',
] as const
const ETHER = { name: 'Ether', symbol: 'ETH', decimals: 18 }
const NOTHING_KNOWN: KnownFacts = { knowsPool: () => false, knowsToken: () => false }

let stack: Stack
let market: Market
const tokens = new Map<string, string>()

before(async () => {
  stack = await startStack({ services: ['anvil'], anvil: ['--no-mining'] })
  market = await Market.deploy(stack.rpcUrl)
  for (const name of HOSTILE) tokens.set(name, lower(await market.deploy(artifact(name), [])))
  const spec = { name: 'Test Dollar', symbol: 'USDT', decimals: 6, supply: 10n ** 15n }
  tokens.set('plain', lower(await market.createToken(spec)))
})

after(() => stack?.stop())

function artifact(name: string): Artifact {
  return compile(name, SOURCE)
}

function lower(address: string): string {
  return address.toLowerCase()
}

/** All that a reader asks for a block; `createPairs` of each token with WETH are its only transactions. */
async function gather(known: KnownFacts = NOTHING_KNOWN, initCodeHash?: string) {
  const { logger } = createTestCommon()
  let requests = 0
  const signal = new AbortController().signal
  const rpc = createEvmRpc({
    urls: [stack.rpcUrl],
    chainId: 31_337,
    logger,
    signal,
    metrics: {
      answered: () => {
        requests += 1
      },
      up: () => undefined,
    },
  })
  const source = createEvmSource(rpc, { finalityDepth: 10, receiptsRoot: 'verified' })
  const registry = new DexRegistry([
    { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: lower(market.factory), initCodeHash },
  ])
  const header = await source.head()
  const transactions = await source.transactions(header)
  requests = 0
  const asker = new Multicall(rpc, { gas: 1_000_000, answerBytes: 1_024 })
  const gathered = await new EvmFacts(asker, registry, ETHER).gather(header, transactions, known)
  return { ...gathered, requests, header }
}

function tokenFact(facts: readonly Fact[], name: string): TokenFact {
  const fact = facts.find(({ address }) => address === tokens.get(name))
  assert.ok(fact?.type === 'token', `no fact of ${name}`)
  return fact
}

const isPool = (fact: Fact): fact is PoolFact => fact.type === 'pool'

describe('tokens that do not want to be asked', () => {
  let facts: readonly Fact[]
  let requests: number

  before(async () => {
    const { abi } = uniswapV2Factory
    for (const token of tokens.values()) {
      await market.send({ to: market.factory, abi, name: 'createPair', args: [token, market.weth] })
    }
    await market.mine()
    ;({ facts, requests } = await gather())
  })

  test('do not keep the others from answering', () => {
    const { nameRaw, symbolRaw, decimals, supplyRaw } = tokenFact(facts, 'plain')
    assert.deepEqual(
      [shownText(nameRaw), shownText(symbolRaw), decimals, supplyRaw],
      ['Test Dollar', 'USDT', 6, 10n ** 15n],
    )
    assert.equal(facts.filter(isPool).length, HOSTILE.length + 1)
  })

  test('are asked together, in few requests', () => {
    assert.ok(requests <= 8, `${requests} requests for ${facts.length} facts`)
  })

  test('bytes32 instead of a string', () => {
    const { nameRaw, symbolRaw, decimals, supplyRaw } = tokenFact(facts, 'Bytes32Token')
    assert.deepEqual([shownText(nameRaw), shownText(symbolRaw)], ['Maker', 'MKR'])
    assert.deepEqual([decimals, supplyRaw], [18, 1_000_000n])
  })

  test('calls that revert are omitted', () => {
    const { nameRaw, symbolRaw, decimals, supplyRaw } = tokenFact(facts, 'RevertingToken')
    assert.deepEqual([nameRaw.length, symbolRaw.length, decimals, supplyRaw], [0, 0, 7, 5n])
  })

  test('one that burns all gas gives no answer', () => {
    const { nameRaw, symbolRaw, decimals, supplyRaw } = tokenFact(facts, 'GasEater')
    assert.deepEqual([nameRaw.length, symbolRaw.length, decimals, supplyRaw], [0, 0, undefined, undefined])
  })

  test('one that returns a megabyte gives no answer either', () => {
    const { nameRaw, decimals, supplyRaw } = tokenFact(facts, 'MegabyteToken')
    assert.deepEqual([nameRaw.length, decimals, supplyRaw], [0, undefined, undefined])
  })

  test('a long response is truncated at the limit', () => {
    const { nameRaw, decimals, supplyRaw } = tokenFact(facts, 'LongToken')
    assert.equal(nameRaw.length, 1_024 - 64)
    assert.equal(shownText(nameRaw), 'X'.repeat(64))
    assert.deepEqual([decimals, supplyRaw], [32, 32n], 'the first word of its answer, as any caller reads it')
  })

  test('the raw name is kept as it is, the one to be shown is clean', () => {
    const { nameRaw, symbolRaw, decimals, supplyRaw } = tokenFact(facts, 'UglyToken')
    assert.equal(Buffer.from(nameRaw).toString('hex'), '0055e280ae53e2808b4400ff43')
    assert.equal(shownText(nameRaw), 'USDC')
    assert.equal(shownText(symbolRaw), 'ＵＳＤＣ')
    assert.deepEqual([decimals, supplyRaw], [undefined, 2n ** 256n - 1n])
  })

  test('offsets and lengths that lie', () => {
    const { nameRaw, symbolRaw, decimals, supplyRaw } = tokenFact(facts, 'LyingToken')
    assert.deepEqual(
      [nameRaw.length, shownText(symbolRaw), decimals, supplyRaw],
      [0, '', undefined, undefined],
    )
  })
})

describe('a pool met in mid-life', () => {
  let pair: string
  let falsePool: Hex

  before(async () => {
    const plain = tokens.get('plain') as Hex
    pair = lower(await market.pairOf(plain, market.weth))
    falsePool = await market.deploy(artifact('FalsePool'), [market.factory, plain, market.weth])
    await market.send({ to: falsePool, abi: artifact('FalsePool').abi, name: 'sync', args: [] })
    await market.send({ to: pair as Hex, abi: uniswapV2Pair.abi, name: 'sync', args: [] })
    await market.mine()
  })

  const initCodeHash = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'
  for (const hash of [undefined, initCodeHash]) {
    test(`is known by its ${hash === undefined ? 'factory' : 'address'}; one that only claims to be is not`, async () => {
      const { facts, transactions } = await gather(NOTHING_KNOWN, hash)
      assert.deepEqual(
        facts.filter(isPool).map(({ address }) => address),
        [pair],
      )
      const emitters = transactions.flatMap(({ logs }) => logs.map(({ address }) => address))
      assert.deepEqual(emitters, [pair])
    })
  }

  test('is not asked again', async () => {
    const known = { knowsPool: (address: string) => address === pair, knowsToken: () => true }
    const { facts, transactions } = await gather(known)
    assert.deepEqual(facts, [])
    assert.equal(transactions.length, 1)
  })
})
