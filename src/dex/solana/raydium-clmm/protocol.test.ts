import { BorshWriter } from '../../../../test/support/builders/borsh-writer.ts'
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
const created = new BorshWriter('195e4b2f7063353f')
  .key(MINT0, MINT1)
  .u8(1, 0)
  .key(POOL)
  .u128(PRICE)
  .u8(0, 0, 0, 0)
  .bytes()
const swapped = new BorshWriter('40c6cde8260871e2')
  .key(POOL, USER, USER, USER)
  .u64(100n, 0n, 50n, 0n)
  .bool(true)
  .u128(PRICE)
  .u128(1n)
  .u8(0, 0, 0, 0)
  // trade_fee_0 and trade_fee_1, which the program appends since May 2026
  .u64(1n, 0n)
  .bytes()
const atOne = { price: { kind: 'sqrt', sqrtPriceX96: 1n << 96n, tick: 0 } } as const
const creation = { of: 13, pool: 2, mints: [3, 4], vaults: [5, 6] } as const
const increased = { of: 12, pool: 2, user: 0, vaults: [9, 10] } as const
const decreased = { of: 12, pool: 3, user: 0, vaults: [5, 6] } as const
/** Liquidity and two limits; with no liquidity, a position's fees are collected. */
const args = (liquidity: bigint): Uint8Array => new BorshWriter('').u128(liquidity).u64(0n, 0n).bytes()

proveProgram('raydium_clmm', 'source raydium-clmm 03b44b7 (July 2026)', {
  swap: real('4DPfdCKCd3MLtWTUnBa2LSEXRjXo2nF79R4ediFuTL2sU38DfETX1c6yhAk6KofGhjdPEBGJtrzh8QZEiFvwe7Ng', {
    type: 'swapped',
    pool: '5s7njN2X6k3trkibTKX6LJFu4PnybYhCuADP9LD2fhuP',
    delta0: 239975667n,
    delta1: -20959636n,
    price: { kind: 'sqrt', sqrtPriceX96: 23438043435211383459220029440n, tick: -24361 },
  }),
  swap_v2: real('4DMVTwqpaSKhYrfB4DRwvrpwHnJhBQzkkxtnZRReYJi4Tn4e6y6x19vXvctrzodUm3ezvynER58cSquDMSpAPi3k', {
    type: 'swapped',
    pool: 'FBv7PtQ9FH1NepbVCh4ojZEKXa15jLQBreuxMeT9uERb',
    delta0: 1386000n,
    delta1: -115548n,
  }),
  // Six fixed accounts, then amm_config, pool, user output, input vault and output vault of the hop.
  swap_router_base_in: synthetic(
    'swap',
    { of: 14, user: 0, pool: 7, vaults: [9, 10] },
    {
      emits: [swapped],
      events: [{ type: 'swapped', pool: POOL, recipient: USER, delta0: 100n, delta1: -50n, ...atOne }],
    },
  ),
  create_pool: synthetic('create', creation, {
    emits: [created],
    events: [{ type: 'poolCreated', pool: POOL, tokens: [MINT0, MINT1], ...atOne }],
  }),
  create_customizable_pool: synthetic('create', creation, { emits: [created] }),
  open_position: synthetic('add', { of: 19, pool: 5, user: 1, vaults: [12, 13] }),
  open_position_v2: synthetic('add', { of: 22, pool: 5, user: 1, vaults: [12, 13] }),
  open_position_with_token22_nft: synthetic('add', { of: 20, pool: 4, user: 1, vaults: [11, 12] }),
  increase_liquidity: synthetic('add', increased),
  increase_liquidity_v2: synthetic('add', { ...increased, of: 15 }),
  decrease_liquidity: [
    synthetic('remove', decreased, { args: args(5n) }),
    synthetic('remove', decreased, {
      args: args(0n),
      events: [{ type: 'feesCollected', pool: POOL, provider: USER }],
    }),
  ],
  decrease_liquidity_v2: real(
    '5HzJs4E3KobYW4dfDAvxzuUPriKdK71iPG7g7w3VQBC1bgpQmHjeevkBBmp8WFf3FeosqMkcgSHV5LPqwDfmvr2X',
    {
      type: 'liquidityRemoved',
      pool: 'GQsPr4RJk9AZkkfWHud7v4MtotcxhaYzZHdsPCg9vNvW',
      provider: '7T8ckKtdc5DH7ACS5AnCny7rVXYJPEsaAbdBri1FhPxY',
      amounts: [
        { token: 0, amount: 7912976n },
        { token: 1, amount: 1162659n },
      ],
    },
  ),
})
