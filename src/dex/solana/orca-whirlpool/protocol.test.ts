import { BorshWriter } from '../../../../test/support/builders/borsh-writer.ts'
import { keyOf } from '../../../../test/support/builders/parsed-transaction.ts'
import {
  MINT0,
  MINT1,
  POOL,
  proveProgram,
  real,
  synthetic,
  USER,
} from '../../../../test/support/recorded/solana-evidence.ts'

const PRICE = 1n << 64n
const atOne = { price: { kind: 'sqrt', sqrtPriceX96: 1n << 96n, tick: 0 } } as const
const OTHER = keyOf('other pool')
const initialized = new BorshWriter('6476ad570cc6fee5')
  .key(POOL, USER, MINT0, MINT1)
  .u8(1, 0)
  .key(USER, USER)
  .u8(6, 6)
  .u128(PRICE)
  .bytes()
const traded = (pool: string): Uint8Array =>
  new BorshWriter('e1ca49af932ba096')
    .key(pool)
    .bool(true)
    .u128(PRICE)
    .u128(PRICE)
    .u64(100n, 50n, 0n, 0n, 0n, 0n)
    .bytes()
const create = {
  emits: [initialized],
  events: [{ type: 'poolCreated', pool: POOL, tokens: [MINT0, MINT1], ...atOne }],
} as const
/** Only the hop whose vaults move is decoded: no swap has one side. */
const firstHop = { emits: [traded(POOL), traded(OTHER)] } as const
const hop = { type: 'swapped', pool: POOL, recipient: USER, delta0: 100n, delta1: -50n, ...atOne } as const
const v1 = { of: 11, pool: 0, user: 2, vaults: [7, 8] } as const
const v2 = { of: 15, pool: 0, user: 4, vaults: [11, 12] } as const

proveProgram('orca_whirlpool', 'IDL whirlpool 0.9.0 of @orca-so/whirlpools-sdk 0.22.0', {
  swap: real('66NAH8RtPGibQg7MQFr2J9fhTz5uEV3TQj2gKyZZjDw5BHS9QpniknGCuAKdiyev1o2m3KHm9DKfo62TeMDB2RDb', {
    type: 'swapped',
    pool: 'ERcyMw5fgPM1RJXqcWKWcUsfbgSWsvyTWNdxvRxmai4D',
    delta0: 1034165n,
    delta1: -24780995n,
    price: { kind: 'sqrt', sqrtPriceX96: 387913718198348029558989520896n, tick: 31770 },
  }),
  swap_v2: real('4DMVTwqpaSKhYrfB4DRwvrpwHnJhBQzkkxtnZRReYJi4Tn4e6y6x19vXvctrzodUm3ezvynER58cSquDMSpAPi3k', {
    type: 'swapped',
    pool: 'AhhoxZDmsg2snm85vPjqzYzEYESoKfb4KmTj4HrBBNwY',
    delta0: 441000n,
    delta1: -36583n,
    reserves: [137449396573n, 2537977501n],
  }),
  two_hop_swap: [
    synthetic(
      'swap',
      { of: 20, user: 1, pool: 2, vaults: [5, 7], named: { 3: OTHER } },
      { ...firstHop, events: [hop, undefined] },
    ),
    synthetic(
      'swap',
      { of: 20, user: 1, pool: 3, vaults: [9, 11], named: { 2: OTHER } },
      { ...firstHop, events: [undefined, hop] },
    ),
  ],
  two_hop_swap_v2: [
    synthetic(
      'swap',
      { of: 24, user: 14, pool: 0, vaults: [9, 10], named: { 1: OTHER } },
      { ...firstHop, events: [hop, undefined] },
    ),
    synthetic(
      'swap',
      { of: 24, user: 14, pool: 1, vaults: [11, 12], named: { 0: OTHER } },
      { ...firstHop, events: [undefined, hop] },
    ),
  ],
  initialize_pool: synthetic('create', { of: 11, pool: 4, mints: [1, 2] }, create),
  initialize_pool_v2: synthetic('create', { of: 14, pool: 6, mints: [1, 2] }, create),
  initialize_pool_with_adaptive_fee: synthetic('create', { of: 16, pool: 7, mints: [1, 2] }, create),
  increase_liquidity: synthetic('add', v1),
  increase_liquidity_v2: synthetic('add', v2),
  increase_liquidity_by_token_amounts_v2: synthetic('add', v2),
  decrease_liquidity: synthetic('remove', v1),
  decrease_liquidity_v2: synthetic('remove', v2),
  reposition_liquidity_v2: synthetic('add', { of: 19, pool: 0, user: 4, vaults: [12, 13] }),
})
