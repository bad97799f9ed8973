import { BorshWriter } from '../../../../test/support/builders/borsh-writer.ts'
import {
  POOL,
  proveProgram,
  real,
  synthetic,
  USER,
} from '../../../../test/support/recorded/solana-evidence.ts'

const PRICE = 1n << 64n
const swapped = (discriminator: string): Uint8Array =>
  new BorshWriter(discriminator)
    .key(POOL, USER)
    .u8(1, 0)
    // SwapParameters2 and SwapResult2
    .u64(100n, 50n)
    .u8(0)
    .u64(100n, 99n, 0n, 50n)
    .u128(PRICE)
    .u64(1n, 0n, 0n)
    // quote_reserve_amount, migration_threshold, current_timestamp
    .u64(77n, 500n, 1n)
    .bytes()
const complete = new BorshWriter('e5e756549c864b18').key(POOL, USER).u64(1n, 1n).bytes()
const completeWithHook = new BorshWriter('3b2f6dcd0d1f2c9f').key(POOL, USER).u64(1n, 1n).bytes()
const swap = { of: 15, pool: 2, user: 9, vaults: [5, 6], mints: [7, 8] } as const
const event = {
  type: 'swapped',
  pool: POOL,
  recipient: USER,
  delta0: 100n,
  delta1: -50n,
  reserves: [1_100n, 77n],
  price: { kind: 'sqrt', sqrtPriceX96: 1n << 96n, tick: 0 },
} as const
const closed = { type: 'curveClosed', pool: POOL } as const
const creation = { of: 16, pool: 5, mints: [3, 4], vaults: [6, 7] } as const

proveProgram(
  'meteora_dbc',
  'IDL dynamic_bonding_curve 0.2.1 of @meteora-ag/dynamic-bonding-curve-sdk 1.5.12',
  {
    swap: real('4wqy6ETLLwP9jFDKryiEbhXjCQgXBGFkgHTDAka6yVU9eV4EJ1JEruWwe4X7X1A7Z2hWq9A7qXKqkZNZa9wMYn2T', {
      type: 'swapped',
      pool: 'FAcaaTLLgrQpdD8cCEf5yXzA6fGRvfe6x4ii1ZEXFkPS',
      delta0: 2431999n,
      delta1: -2n,
      reserves: [999999997568001n, 11n],
    }),
    swap2: synthetic('swap', swap, {
      emits: [swapped('bd4233a826507599'), complete],
      events: [event, closed],
    }),
    swap2_with_transfer_hook: synthetic('swap', swap, {
      emits: [swapped('863ba8785e3372e7'), completeWithHook],
      events: [event, closed],
    }),
    initialize_virtual_pool_with_spl_token: synthetic('create', creation),
    initialize_virtual_pool_with_token2022: synthetic('create', { ...creation, of: 14 }),
    initialize_virtual_pool_with_token2022_transfer_hook: synthetic('create', { ...creation, of: 15 }),
    migrate_meteora_damm: synthetic('close', { of: 31, pool: 0 }),
    migration_damm_v2: synthetic('close', { of: 25, pool: 0 }),
  },
)
