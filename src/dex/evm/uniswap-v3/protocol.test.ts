import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeAbiParameters, encodeFunctionData, type Hex, parseAbi, toEventSelector } from 'viem'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { DexDeployment } from '../../protocol.ts'
import { uniswapV3 } from './protocol.ts'

const POOL = '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640'
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const FACTORY = '0x1f98431c8ad98523631ae4a59f267346ea31f984'
const SOMEONE = '0x7a250d5630b4cf539739df2c5dacb4c659f2488d'
const PRICE = 1n << 96n

const INITIALIZE = toEventSelector('Initialize(uint160,int24)')
const SWAP = toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24)')
const MINT = toEventSelector('Mint(address,address,int24,int24,uint128,uint256,uint256)')
const BURN = toEventSelector('Burn(address,int24,int24,uint128,uint256,uint256)')
const COLLECT = toEventSelector('Collect(address,address,int24,int24,uint128,uint128)')
const COLLECT_PROTOCOL = toEventSelector('CollectProtocol(address,address,uint128,uint128)')
const FLASH = toEventSelector('Flash(address,address,uint256,uint256,uint256,uint256)')
const POOL_CREATED = toEventSelector('PoolCreated(address,address,uint24,int24,address)')

const swap = rawLog(
  POOL,
  [
    SWAP,
    padded('0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45'),
    padded('0x4fd39c9e151e50580779bd04b1f7ecc310079fd3'),
  ],
  '0x000000000000000000000000000000000000000000000000000000006a143dee' +
    'fffffffffffffffffffffffffffffffffffffffffffffffff51fb666300f5b18' +
    '00000000000000000000000000000000000051fde2e16df48cb7232e401582a8' +
    '000000000000000000000000000000000000000000000000acd43e0e7cf808c5' +
    '0000000000000000000000000000000000000000000000000000000000030985',
)
const mint = rawLog(
  '0xbcc489a50f0e2f09aec2d6f33ffe950cb6c39295',
  [
    MINT,
    padded('0x6b75d8af000000e20b7a7ddf000ba900b4009a80'),
    '0x000000000000000000000000000000000000000000000000000000000003ecb0',
    '0x000000000000000000000000000000000000000000000000000000000003ee40',
  ],
  '0x0000000000000000000000006b75d8af000000e20b7a7ddf000ba900b4009a80' +
    '0000000000000000000000000000000000000000000dad26b0f0000000000000' +
    '000000000000000000000000000000000000000000000000034f809a3c314ebe' +
    '000000000000000000000000000000000000000128f0d5d5b32d88bd54e5dbf3',
)
const burn = rawLog(
  '0xb011e4eb4111ef00b620a5ed195836dcd69db1ff',
  [
    BURN,
    padded('0xc36442b4a4522e871399cd717abdd847ab11fe88'),
    '0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffee24c',
    '0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff1294',
  ],
  '0x000000000000000000000000000000000000000000000005b3dd233ff7efd16f' +
    '000000000000000000000000000000000000000000000064cbdfa8485bcb33cc' +
    '000000000000000000000000000000000000000000000000002d53040d9cd36f',
)
const collect = rawLog(
  burn.address,
  [COLLECT, ...burn.topics.slice(1)],
  '0x000000000000000000000000c36442b4a4522e871399cd717abdd847ab11fe88' +
    '00000000000000000000000000000000000000000000007253c0b848e73e4472' +
    '0000000000000000000000000000000000000000000000000374988933cbd678',
)
// Synthetic, because the recorded blocks contain none.
const initialize = rawLog(POOL, [INITIALIZE], words(PRICE, -887_272n))
const flash = rawLog(POOL, [FLASH, padded(SOMEONE), padded(SOMEONE)], words(1000n, 0n, 1n, 2n))
const collectProtocol = rawLog(POOL, [COLLECT_PROTOCOL, padded(SOMEONE), padded(SOMEONE)], words(7n, 8n))
const created = rawLog(
  FACTORY,
  [POOL_CREATED, padded(USDC), padded(WETH), words(500n)],
  words(10n, BigInt(POOL)),
)

function words(...values: bigint[]): Hex {
  return encodeAbiParameters(
    values.map(() => ({ type: 'int256' })),
    values,
  )
}

function read(log: typeof swap) {
  return uniswapV3.events[log.topics[0] ?? '']?.(log)
}

describe('recorded logs', () => {
  test('Ethereum 0x3c78e0a92d12b38375da794749bcf8e3e6ac25de29f4ffdf5a9a21f72e0dafde: a swap', () => {
    assert.deepEqual(read(swap), {
      type: 'swapped',
      pool: POOL,
      sender: '0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45',
      recipient: '0x4fd39c9e151e50580779bd04b1f7ecc310079fd3',
      token0: 0,
      token1: 1,
      delta0: 1_779_711_470n,
      delta1: -783_707_260_129_944_808n,
      price: { kind: 'sqrt', sqrtPriceX96: 0x51fde2e16df48cb7232e401582a8n, tick: 199_045 },
    })
  })

  test('Ethereum 0x122f25a52c76682fb0e6b904b3b666e6a9bf5008af0d4c3b474d4e3010c4d5f9: liquidity is added', () => {
    assert.deepEqual(read(mint), {
      type: 'liquidityAdded',
      pool: mint.address,
      provider: '0x6b75d8af000000e20b7a7ddf000ba900b4009a80',
      amounts: [
        { token: 0, amount: 0x034f809a3c314eben },
        { token: 1, amount: 0x128f0d5d5b32d88bd54e5dbf3n },
      ],
    })
  })

  test('Ethereum 0xc34838f0aaf0145b7721435b7c7e42808eb3660ad97323505e598d05b017c7df: liquidity is removed, then paid out with its fees', () => {
    const provider = '0xc36442b4a4522e871399cd717abdd847ab11fe88'
    assert.deepEqual(read(burn), {
      type: 'liquidityRemoved',
      pool: burn.address,
      provider,
      amounts: [
        { token: 0, amount: 0x64cbdfa8485bcb33ccn },
        { token: 1, amount: 0x2d53040d9cd36fn },
      ],
      isPaidOut: false,
    })
    assert.deepEqual(read(collect), {
      type: 'feesCollected',
      pool: burn.address,
      provider,
      amounts: [
        { token: 0, amount: 0x7253c0b848e73e4472n },
        { token: 1, amount: 0x374988933cbd678n },
      ],
    })
  })
})

describe('rare logs', () => {
  test('a first price at the end of the range', () => {
    const price = { kind: 'sqrt', sqrtPriceX96: PRICE, tick: -887_272 }
    assert.deepEqual(read(initialize), { type: 'priceSet', pool: POOL, price })
  })

  test('a flash loan leaves only its fee', () => {
    assert.deepEqual(read(flash), {
      type: 'donated',
      pool: POOL,
      amounts: [
        { token: 0, amount: 1n },
        { token: 1, amount: 2n },
      ],
    })
  })

  test('protocol fees have no provider', () => {
    assert.deepEqual(read(collectProtocol), {
      type: 'feesCollected',
      pool: POOL,
      provider: undefined,
      amounts: [
        { token: 0, amount: 7n },
        { token: 1, amount: 8n },
      ],
    })
  })

  test('a pool is created', () => {
    assert.deepEqual(uniswapV3.announcements[POOL_CREATED]?.(created), {
      type: 'poolCreated',
      pool: POOL,
      tokens: [USDC, WETH],
      pricing: { kind: 'sqrtPrice' },
    })
  })

  test('a burn of zero is not a removal', () => {
    const poke = withWord(withWord(withWord(burn, 0, 0n), 1, 0n), 2, 0n)
    assert.equal(read(poke), undefined)
    assert.notEqual(read(withWord(poke, 2, 1n)), undefined)
  })
})

describe('hostile logs', () => {
  test('an incomplete log is refused', () => {
    for (const log of [swap, mint, burn, collect, initialize, flash, collectProtocol]) {
      for (const bad of spoiled(log)) assert.equal(read(bad), undefined)
    }
    for (const bad of spoiled(created)) assert.equal(uniswapV3.announcements[POOL_CREATED]?.(bad), undefined)
  })

  test('an address with dirty upper bytes is refused', () => {
    const dirty = (1n << 160n) + BigInt(SOMEONE)
    assert.equal(read(withWord(mint, 0, dirty)), undefined)
    assert.equal(read(withWord(collect, 0, dirty)), undefined)
    assert.equal(uniswapV3.announcements[POOL_CREATED]?.(withWord(created, 1, dirty)), undefined)
  })

  test('impossible prices and ticks are refused', () => {
    for (const tick of [887_273n, -887_273n, 1n << 31n, 1n << 200n]) {
      assert.equal(read(withWord(swap, 4, tick)), undefined)
      assert.equal(read(withWord(initialize, 1, tick)), undefined)
      for (const topic of [2, 3]) {
        for (const log of [mint, burn, collect]) {
          assert.equal(read({ ...log, topics: log.topics.with(topic, words(tick)) }), undefined)
        }
      }
    }
    for (const price of [0n, 1n << 160n, -1n]) {
      assert.equal(read(withWord(swap, 2, price)), undefined)
      assert.equal(read(withWord(initialize, 0, price)), undefined)
    }
  })
})

describe('an older pool', () => {
  const abi = parseAbi([
    'function factory()',
    'function token0()',
    'function token1()',
    'function fee()',
    'function getPool(address, address, uint24)',
    'function balanceOf(address)',
  ])
  const ask = (functionName: string, ...args: unknown[]) =>
    encodeFunctionData({ abi, functionName, args } as Parameters<typeof encodeFunctionData>[0])
  const claims = {
    [ask('factory')]: padded(FACTORY),
    [ask('token0')]: padded(USDC),
    [ask('token1')]: padded(WETH),
    [ask('fee')]: words(500n),
  }
  const getPool = ask('getPool', USDC, WETH, 500)
  const balanceOf = ask('balanceOf', POOL)
  const tokens = { [USDC]: { [balanceOf]: words(11n) }, [WETH]: { [balanceOf]: words(1n << 70n) } }
  const asked: DexDeployment = { amm: 'uniswap', protocol: 'uniswap_v3', factory: FACTORY }
  const proven: DexDeployment = {
    ...asked,
    initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
  }
  const found = {
    factory: FACTORY,
    tokens: [USDC, WETH],
    pricing: { kind: 'sqrtPrice' },
    reservesBefore: [11n, 1n << 70n],
  }

  test('is confirmed by its factory', () => {
    const contracts = { [POOL]: claims, [FACTORY]: { [getPool]: padded(POOL) }, ...tokens }
    const { found: pool, rounds } = lead(uniswapV3.identify(POOL, [asked]), contracts)
    assert.deepEqual(pool, found)
    assert.deepEqual(
      rounds.map((calls) => calls.length),
      [4, 3],
    )
    const before = rounds.flat().filter((call) => call.before)
    assert.deepEqual(
      before.map(({ to }) => to),
      [USDC, WETH],
    )
  })

  test('is confirmed by its address, without a call to the factory', () => {
    const { found: pool, rounds } = lead(uniswapV3.identify(POOL, [proven]), { [POOL]: claims, ...tokens })
    assert.deepEqual(pool, found)
    assert.deepEqual(
      rounds.map((calls) => calls.length),
      [4, 2],
    )
  })

  test('is matched to one of several exchanges', () => {
    const other = { ...asked, factory: SOMEONE }
    const contracts = { [POOL]: claims, [FACTORY]: { [getPool]: padded(POOL) }, ...tokens }
    assert.deepEqual(lead(uniswapV3.identify(POOL, [other, asked]), contracts).found, found)
    const { found: none, rounds } = lead(uniswapV3.identify(POOL, [other]), contracts)
    assert.equal(none, undefined)
    assert.equal(rounds.length, 1)
  })

  test('is refused if the factory does not confirm it', () => {
    const liar = SOMEONE
    const contracts = { [liar]: claims, [FACTORY]: { [getPool]: padded(POOL) }, ...tokens }
    assert.equal(lead(uniswapV3.identify(liar, [asked]), contracts).found, undefined)
    const { found: none, rounds } = lead(uniswapV3.identify(liar, [proven]), contracts)
    assert.equal(none, undefined)
    assert.equal(rounds.length, 1)
    const otherFee = { [POOL]: { ...claims, [ask('fee')]: words(3000n) } }
    assert.equal(lead(uniswapV3.identify(POOL, [proven]), otherFee).found, undefined)
  })

  test('is refused if it does not answer', () => {
    const contracts = { [FACTORY]: { [getPool]: padded(POOL) }, ...tokens }
    for (const missing of Object.keys(claims)) {
      const rest = Object.fromEntries(Object.entries(claims).filter(([data]) => data !== missing))
      for (const deployment of [asked, proven]) {
        const { found: none } = lead(uniswapV3.identify(POOL, [deployment]), { ...contracts, [POOL]: rest })
        assert.equal(none, undefined)
      }
    }
    assert.equal(lead(uniswapV3.identify(POOL, [asked]), { [POOL]: claims, ...tokens }).found, undefined)
  })

  test('has unknown reserves if a token does not answer', () => {
    for (const silent of [USDC, WETH]) {
      const contracts = { [POOL]: claims, ...tokens, [silent]: {} }
      const { found: pool } = lead(uniswapV3.identify(POOL, [proven]), contracts)
      assert.deepEqual(pool, { ...found, reservesBefore: undefined })
    }
  })
})
