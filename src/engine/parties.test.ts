import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CHAIN, FIRST_BLOCK, id } from '../../test/support/arbitraries/market-arbitraries.ts'
import { hashOf, words } from '../../test/support/builders/abi-words.ts'
import { padded, rawLog } from '../../test/support/builders/raw-log.ts'
import { EngineRun } from '../../test/support/rigs/engine-run.ts'
import { DexRegistry } from '../dex/registry.ts'
import type { BlockEnvelope, Fact, PoolFact, RawLog } from '../domain/envelope.ts'
import { ZERO_ADDRESS } from '../domain/known-addresses.ts'
import type { EngineSettings } from './settings.ts'

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const CURVE_EXCHANGE = '0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140'
const VAULT_SWAP = '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b'
const V4_SWAP = '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f'
const INFINITY_SWAP = '0x04206ad2b7c0f463bff3dd4f33c5735b0f2957a351e4f79763a4fa9e775dd237'
const PURCHASE = '0x7db52723a3b2cdd6164364b3b766e65e540d7be48ffa89582956d8eaebe62942'
const V2_SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'

const [USD, COIN, THIRD] = [id(0xa0, 20), id(0xa1, 20), id(0xa2, 20)]
const [WALLET, ROUTER, ALICE, COLLECTOR] = [id(0xe0, 20), id(0xe1, 20), id(0xe2, 20), id(0xe3, 20)]
const CURVE_FACTORY = id(0xf0, 20)
const CURVE_POOL = id(0x10, 20)
const BALANCER_VAULT = id(0xf1, 20)
const BALANCER_POOL = id(0x11, 20)
const V4_MANAGER = id(0xf2, 20)
const [V4_POOL, V4_NATIVE, V4_SECOND] = [id(0x12, 32), id(0x13, 32), id(0x14, 32)]
const CL_MANAGER = id(0xf3, 20)
const INFINITY_VAULT = '0x238a358808379702088667322f80ac48bad5e6c4'
const INFINITY_POOL = id(0x15, 32)
const LAUNCHER = id(0xf4, 20)
const BONDING_CURVE = hashOf(LAUNCHER, COIN)
const V2_FACTORY = id(0xf5, 20)
const V2_POOL = id(0x16, 20)
const SQRT_PRICE = 2n ** 96n

const settings: EngineSettings = {
  chain: CHAIN,
  registry: new DexRegistry([
    { amm: 'curve', protocol: 'curve', factory: CURVE_FACTORY },
    { amm: 'balancer_v2', protocol: 'balancer_v2', factory: BALANCER_VAULT },
    { amm: 'uniswap_v4', protocol: 'uniswap_v4', factory: V4_MANAGER },
    { amm: 'infinity', protocol: 'pancakeswap_infinity_cl', factory: CL_MANAGER },
    { amm: 'four_meme', protocol: 'four_meme', factory: LAUNCHER },
    { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: V2_FACTORY },
  ]),
  quoteAssets: [{ address: USD, kind: 'stable' }],
  minDepthUsd: 0n,
  lockers: new Set(),
  hasParties: true,
}

const pool = (
  address: string,
  factory: string,
  tokens: readonly string[],
  kind: 'trades' | 'sqrtPrice' | 'reserves' = 'trades',
): PoolFact => ({
  type: 'pool',
  address,
  factory,
  tokens,
  pricing: { kind } as PoolFact['pricing'],
  reservesBefore: undefined,
})

const facts: readonly Fact[] = [
  ...[USD, COIN, THIRD, ZERO_ADDRESS].map((address): Fact => {
    const name = Buffer.from('Coin')
    return { type: 'token', address, nameRaw: name, symbolRaw: name, decimals: 18, supplyRaw: undefined }
  }),
  pool(CURVE_POOL, CURVE_FACTORY, [USD, COIN, THIRD]),
  pool(BALANCER_POOL, BALANCER_VAULT, [USD, COIN]),
  pool(V4_POOL, V4_MANAGER, [USD, COIN], 'sqrtPrice'),
  pool(V4_NATIVE, V4_MANAGER, [ZERO_ADDRESS, USD], 'sqrtPrice'),
  pool(V4_SECOND, V4_MANAGER, [COIN, THIRD], 'sqrtPrice'),
  pool(INFINITY_POOL, CL_MANAGER, [USD, COIN], 'sqrtPrice'),
  pool(BONDING_CURVE, LAUNCHER, [COIN, ZERO_ADDRESS]),
  pool(V2_POOL, V2_FACTORY, [USD, COIN], 'reserves'),
]

const transfer = (token: string, from: string, to: string, amount: bigint): RawLog =>
  rawLog(token, [TRANSFER, padded(from), padded(to)], words(amount))

/** Sells 100 of one coin for `bought` of another. */
const curveSwap = (sold: bigint, boughtId: bigint, bought: bigint): RawLog =>
  rawLog(CURVE_POOL, [CURVE_EXCHANGE, padded(ROUTER)], words(sold, 100n, boughtId, bought))
const vaultSwap = (bought: bigint): RawLog =>
  rawLog(
    BALANCER_VAULT,
    [VAULT_SWAP, `${BALANCER_POOL}${'0'.repeat(24)}`, padded(USD), padded(COIN)],
    words(100n, bought),
  )
/** The signs are the swapper's. */
const v4Swap = (id32: string, delta0: bigint, delta1: bigint): RawLog =>
  rawLog(
    V4_MANAGER,
    [V4_SWAP, id32, padded(ROUTER)],
    words(BigInt.asUintN(256, delta0), BigInt.asUintN(256, delta1), SQRT_PRICE, 1n, 0n, 3_000n),
  )

type Parties = readonly [sender: string, to: string]

/** Folds one transaction of WALLET, after a block with all facts. */
function partiesOf(logs: readonly RawLog[], own: Partial<EngineSettings> = {}, more: readonly Fact[] = []) {
  const run = new EngineRun({ ...settings, ...own })
  const block = (number: number, blockLogs: readonly RawLog[], all: readonly Fact[]): BlockEnvelope => ({
    ...{ kind: 'block', chain: CHAIN, number, hash: id(number, 32), parentHash: id(number - 1, 32) },
    ...{ time: 1_700_000_000 + number, facts: all },
    transactions: [
      {
        index: 0,
        hash: id(0x77, 32),
        from: WALLET,
        logs: blockLogs.map((log, index) => ({ ...log, index })),
      },
    ],
  })
  run.apply(block(FIRST_BLOCK, [], [...facts, ...more]))
  const before = run.stateHash()
  const set = run.apply(block(FIRST_BLOCK + 1, logs, []))
  const lastValid = { number: FIRST_BLOCK, hash: id(FIRST_BLOCK, 32) }
  run.apply({ kind: 'undo', chain: CHAIN, lastValid })
  assert.equal(run.stateHash(), before)
  return set.changes.flatMap((change): Parties[] =>
    change.type === 'trade' ? [[change.trade.sender, change.trade.recipient]] : [],
  )
}

describe('sender and recipient of a swap', () => {
  test('Curve reports its caller; the recipient is where the coins went', () => {
    const logs = [
      transfer(COIN, CURVE_POOL, ROUTER, 90n),
      curveSwap(0n, 1n, 90n),
      transfer(COIN, ROUTER, WALLET, 90n),
    ]
    assert.deepEqual(partiesOf(logs), [[ROUTER, WALLET]])
  })

  test("Balancer reports neither: the sender is the transaction's", () => {
    const logs = [vaultSwap(90n), transfer(COIN, BALANCER_VAULT, ALICE, 90n)]
    assert.deepEqual(partiesOf(logs), [[WALLET, ALICE]])
  })

  test('Uniswap V4 settles after the event', () => {
    const logs = [
      v4Swap(V4_POOL, -100n, 90n),
      transfer(USD, ROUTER, V4_MANAGER, 100n),
      transfer(COIN, V4_MANAGER, WALLET, 90n),
    ]
    assert.deepEqual(partiesOf(logs), [[ROUTER, WALLET]])
  })

  test('PancakeSwap Infinity pays out of its vault', () => {
    const data = words(BigInt.asUintN(256, -100n), 90n, SQRT_PRICE, 1n, 0n, 3_000n, 0n)
    const swap = rawLog(CL_MANAGER, [INFINITY_SWAP, INFINITY_POOL, padded(ROUTER)], data)
    assert.deepEqual(partiesOf([swap, transfer(COIN, INFINITY_VAULT, WALLET, 90n)]), [[ROUTER, WALLET]])
    assert.deepEqual(partiesOf([swap, transfer(COIN, CL_MANAGER, WALLET, 90n)]), [[ROUTER, '']])
  })

  test('a bonding curve reports the trader; the transaction has the sender', () => {
    const logs = [rawLog(LAUNCHER, [PURCHASE], words(COIN, ALICE, 1n, 90n, 100n, 1n, 1_000n, 100n))]
    assert.deepEqual(partiesOf(logs), [[WALLET, ALICE]])
  })

  test('what an event reports stays, whatever transfers say', () => {
    const logs = [
      rawLog(V2_POOL, [V2_SWAP, padded(ROUTER), padded(ALICE)], words(100n, 0n, 0n, 90n)),
      transfer(COIN, V2_POOL, COLLECTOR, 90n),
    ]
    assert.deepEqual(partiesOf(logs), [[ROUTER, ALICE]])
  })

  test('two hops: the coin between two pools of a singleton has no recipient', () => {
    const logs = [
      v4Swap(V4_POOL, -100n, 90n),
      v4Swap(V4_SECOND, -90n, 80n),
      transfer(USD, WALLET, V4_MANAGER, 100n),
      transfer(THIRD, V4_MANAGER, WALLET, 80n),
    ]
    assert.deepEqual(partiesOf(logs), [
      [ROUTER, ''],
      [ROUTER, WALLET],
    ])
  })

  test('two hops: from Curve into the pool that sells it on', () => {
    const logs = [
      transfer(COIN, CURVE_POOL, ROUTER, 90n),
      curveSwap(0n, 1n, 90n),
      transfer(COIN, ROUTER, V4_MANAGER, 90n),
      v4Swap(V4_SECOND, -90n, 80n),
      transfer(THIRD, V4_MANAGER, WALLET, 80n),
    ]
    assert.deepEqual(partiesOf(logs), [
      [ROUTER, V4_MANAGER],
      [ROUTER, WALLET],
    ])
  })

  test('several swaps of one token: paid out one by one, together, or to several addresses', () => {
    const swaps = [vaultSwap(90n), vaultSwap(40n)]
    const paid = (...amounts: readonly [string, bigint][]) =>
      amounts.map(([to, amount]) => transfer(COIN, BALANCER_VAULT, to, amount))
    const both = (to: string) => [
      [WALLET, to],
      [WALLET, to],
    ]
    assert.deepEqual(partiesOf([...swaps, ...paid([ALICE, 90n], [ALICE, 40n])]), both(ALICE))
    assert.deepEqual(partiesOf([...swaps, ...paid([ALICE, 130n])]), both(''))
    assert.deepEqual(partiesOf([...swaps, ...paid([ALICE, 90n], [WALLET, 40n])]), both(''))
  })

  test('a native coin leaves no transfer', () => {
    assert.deepEqual(partiesOf([v4Swap(V4_NATIVE, 90n, -100n)]), [[ROUTER, '']])
  })

  test('a fee of the router or of the token leaves it open', () => {
    const fee = [transfer(COIN, ROUTER, WALLET, 89n), transfer(COIN, ROUTER, COLLECTOR, 1n)]
    const routed = [transfer(COIN, CURVE_POOL, ROUTER, 90n), curveSwap(0n, 1n, 90n), ...fee]
    assert.deepEqual(partiesOf(routed), [[ROUTER, '']])
    const taxed = [transfer(COIN, CURVE_POOL, WALLET, 81n), transfer(COIN, CURVE_POOL, COIN, 9n)]
    assert.deepEqual(partiesOf([...taxed, curveSwap(0n, 1n, 90n)]), [[ROUTER, '']])
  })

  test('a token that misreports its balances proves nothing', () => {
    const logs = [vaultSwap(90n), transfer(COIN, BALANCER_VAULT, ALICE, 90n)]
    const contradiction: Fact[] = [
      {
        ...{ type: 'transfers', address: COIN, gains: [], first: undefined },
        ...{ upTo: 1, isLast: true, issuedRaw: 0n, burnedRaw: 0n, mintedToZeroRaw: 0n },
      },
      { type: 'balance', address: COIN, holder: ALICE, amountRaw: 7n },
    ]
    assert.deepEqual(partiesOf(logs, {}, contradiction), [[WALLET, '']])
  })

  test('amounts at the limit, and swaps that move nothing, are no problem', () => {
    const most = 2n ** 256n - 1n
    const logs = [vaultSwap(most), transfer(COIN, BALANCER_VAULT, ALICE, most)]
    assert.deepEqual(partiesOf(logs), [[WALLET, ALICE]])
    assert.deepEqual(partiesOf([vaultSwap(0n), transfer(COIN, BALANCER_VAULT, ALICE, 0n)]), [])
    assert.deepEqual(partiesOf([curveSwap(0n, 9n, 90n), curveSwap(1n, 1n, 90n)]), [])
  })

  test('by the first rules they are unknown', () => {
    const logs = [vaultSwap(90n), transfer(COIN, BALANCER_VAULT, ALICE, 90n)]
    assert.deepEqual(partiesOf(logs, { hasParties: false }), [['', '']])
  })
})
