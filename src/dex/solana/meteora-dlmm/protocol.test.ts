import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BorshWriter } from '../../../../test/support/builders/borsh-writer.ts'
import { keyBytes, keyOf } from '../../../../test/support/builders/parsed-transaction.ts'
import {
  MINT0,
  MINT1,
  type Places,
  POOL,
  proveProgram,
  real,
  synthetic,
  USER,
} from '../../../../test/support/recorded/solana-evidence.ts'
import { meteoraDlmm } from './protocol.ts'

const MIDDLE_BIN = 2 ** 23
const DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'
const i32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}
/** The program emits both events for one swap. */
const swapEvents = [
  Buffer.concat([new BorshWriter('516ce3becdd00ac4').key(POOL, USER).bytes(), i32(-3), i32(-7)]),
  Buffer.concat([new BorshWriter('2e7452d7941b544d').key(POOL, USER).bytes(), i32(-3), i32(-7)]),
]
const swapped = {
  emits: swapEvents,
  events: [
    {
      type: 'swapped',
      pool: POOL,
      recipient: USER,
      delta0: 100n,
      delta1: -50n,
      price: { kind: 'bin', id: MIDDLE_BIN - 7 },
    },
  ],
} as const
const created = new BorshWriter('b94afc7d1bd7bc6f').key(POOL).u8(25, 0).key(MINT0, MINT1).bytes()
const create = {
  emits: [created],
  events: [
    { type: 'poolCreated', pool: POOL, tokens: [MINT0, MINT1], pricing: { kind: 'bins', binStep: 25 } },
  ],
} as const
const liquidity = (discriminator: string): Uint8Array =>
  Buffer.concat([
    new BorshWriter(discriminator).key(POOL, USER, keyOf('position')).u64(100n, 50n).bytes(),
    i32(0),
  ])
const amounts = [
  { token: 0, amount: 100n },
  { token: 1, amount: 50n },
]
const added = {
  emits: [liquidity('1f5e7d5ae3343dba')],
  events: [{ type: 'liquidityAdded', pool: POOL, provider: USER, amounts }],
} as const
const removed = {
  emits: [liquidity('74f461e8671f983a')],
  events: [{ type: 'liquidityRemoved', pool: POOL, provider: USER, amounts }],
} as const
const moved = Buffer.concat([new BorshWriter('3b8a4c448a83b043').key(POOL).bytes(), i32(5), i32(9)])

const swap: Places = { of: 16, pool: 0, user: 10, vaults: [2, 3] }
const position: Places = { of: 16, pool: 1, vaults: [5, 6] }
const pair: Places = { of: 16, pool: 0, mints: [2, 3] }
const add = synthetic('add', position, added)
const remove = synthetic('remove', position, removed)

proveProgram('meteora_dlmm', 'IDL lb_clmm 0.12.0 of @meteora-ag/dlmm 1.9.14', {
  swap: real('4eWF8WK57QGexCzadLbpBh2F1oM6zYjAko6yvP7qgC4z59LAJuqkNYzs31ZWsRzSnSnSofjj9LLKjucr8RjLEJMb', {
    type: 'swapped',
    pool: '6ApYpULgY2vwjxmz3E8XrAfRs2gEaa5uUYxPHD6V2ncp',
    delta0: 1000000n,
    delta1: -195483n,
    price: { kind: 'bin', id: 8387520 },
  }),
  swap2: real('5kyUnzdBivovkbGfvvTKbnPeQT9GtiCuun87eD9ALzxsFuoxFx5xdng64r6mP8wkKXx7aLPkP3rSs4srLi5fvqiQ', {
    type: 'swapped',
    pool: 'BiEX9eUewkbyRoP2iZNTcEzKQy1pJH9PHU6gV9qWcKDp',
    delta0: 124382665133n,
    delta1: -26358928n,
    price: { kind: 'bin', id: 8387549 },
  }),
  swap_exact_out: synthetic('swap', swap, swapped),
  swap_exact_out2: synthetic('swap', swap, swapped),
  swap_with_price_impact: synthetic('swap', swap, swapped),
  swap_with_price_impact2: synthetic('swap', swap, swapped),
  initialize_lb_pair: synthetic('create', pair, create),
  initialize_lb_pair2: synthetic('create', pair, create),
  initialize_customizable_permissionless_lb_pair: synthetic('create', pair, create),
  initialize_customizable_permissionless_lb_pair2: synthetic('create', pair, create),
  initialize_permission_lb_pair: synthetic('create', { of: 18, pool: 1, mints: [3, 4] }, create),
  add_liquidity: add,
  add_liquidity2: add,
  add_liquidity_by_strategy: add,
  add_liquidity_by_strategy2: add,
  add_liquidity_by_weight: add,
  add_liquidity_by_weight2: add,
  add_liquidity_one_side: add,
  add_liquidity_by_strategy_one_side: add,
  add_liquidity_one_side_precise: add,
  add_liquidity_one_side_precise2: add,
  remove_liquidity: remove,
  remove_liquidity2: remove,
  remove_all_liquidity: remove,
  remove_liquidity_by_range: remove,
  remove_liquidity_by_range2: real(
    '5zYnEBQ5iwp4YhZzk1ChrKPXb4LWoynSh9o1D2q89KDNTuauNz1NirzAEo4hCEdEFdHzqFc8jxC7r6ZUxUgjgi9W',
    {
      type: 'liquidityRemoved',
      pool: 'Bnqt67es7GZP2wzM56VJTnR1vVtboSRTikghaTYP34dH',
      provider: '2L8p3dBDZghgPnbMTJF3Kb1x5C93D65TcFC5NM9cHWzV',
      amounts: [
        { token: 0, amount: 0n },
        { token: 1, amount: 1500001496n },
      ],
    },
  ),
  rebalance_liquidity: synthetic('add', { of: 17, pool: 1, user: 9, vaults: [5, 6] }),
  go_to_a_bin: synthetic(
    'close',
    { of: 6, pool: 0 },
    {
      emits: [moved],
      events: [{ type: 'priceSet', pool: POOL, price: { kind: 'bin', id: MIDDLE_BIN + 9 } }],
    },
  ),
})

test('the size of a bin and the mints come from the account of the pair (synthetic)', () => {
  // StaticParameters and VariableParameters take 32 bytes each, after the discriminator.
  const account = Buffer.concat([
    Buffer.from('210b3162b565b10d', 'hex'),
    Buffer.alloc(64),
    // bump_seed, bin_step_seed, pair_type, active_id
    Buffer.alloc(1 + 2 + 1 + 4),
    Buffer.of(25, 0),
    // status, require_base_factor_seed, base_factor_seed, activation_type, creator_pool_on_off_control
    Buffer.alloc(1 + 1 + 2 + 1 + 1),
    keyBytes(MINT0),
    keyBytes(MINT1),
    Buffer.alloc(64),
  ])
  const deployment = { amm: 'meteora_dlmm', protocol: 'meteora_dlmm', factory: DLMM }
  const log = { index: 0, address: DLMM, topics: ['0xf8c69e91e17587c8'], data: new Uint8Array() }
  const answered = (data: Uint8Array | undefined) => {
    const inquiry = meteoraDlmm.identify(POOL, [deployment], log)
    assert.deepEqual(inquiry.next([]).value, [{ to: POOL, data: '0x' }])
    return inquiry.next([data]).value
  }
  assert.deepEqual(answered(account), {
    factory: DLMM,
    tokens: [MINT0, MINT1],
    pricing: { kind: 'bins', binStep: 25 },
    reservesBefore: undefined,
  })
  const other = Buffer.from(account)
  other[0] = 0
  for (const data of [undefined, other, account.subarray(0, 100)]) assert.equal(answered(data), undefined)
})
