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

/** A trade on a curve with virtual reserves of 10,000 and 1,000; `status` 1 waits for its migration. */
function trade(before: readonly [bigint, bigint], after: readonly [bigint, bigint], status = 0): Uint8Array {
  return new BorshWriter('bddb7fd34ee661ee')
    .key(POOL)
    .u64(8_000n, 10_000n, 1_000n, ...before, ...after)
    .u64(1n, 1n, 0n, 0n, 0n, 0n)
    .u8(0, status, 1)
    .bytes()
}
const created = new BorshWriter('97d7e20976a173ae')
  .key(POOL, USER, USER)
  .u8(6)
  .text('Name', 'SYM', 'uri')
  .u8(0)
  .u64(10_000n, 8_000n, 4_000n, 0n)
  .bytes()
const traded = { of: 18, user: 0, pool: 4, vaults: [7, 8], mints: [9, 10] } as const
const creation = { of: 18, pool: 5, mints: [6, 7], vaults: [8, 9] } as const
const launched = {
  emits: [created],
  events: [{ type: 'poolCreated', pool: POOL, tokens: [MINT0, MINT1], goalRaw: 4_000n }],
} as const
const bought = { type: 'swapped', pool: POOL, recipient: USER, delta0: -100n, delta1: 50n } as const

proveProgram(
  'raydium_launchlab',
  'two public copies of the IDL that agree; the program has no public source',
  {
    buy_exact_in: synthetic('swap', traded, {
      flow: [-100n, 50n],
      emits: [trade([0n, 0n], [100n, 10n])],
      events: [{ ...bought, reserves: [7_900n, 10n] }],
    }),
    // The last purchase.
    buy_exact_out: synthetic('swap', traded, {
      flow: [-100n, 50n],
      emits: [trade([7_900n, 3_762n], [8_000n, 4_000n], 1)],
      events: [
        { ...bought, reserves: [0n, 4_000n] },
        { type: 'curveClosed', pool: POOL },
      ],
    }),
    sell_exact_in: real(
      '3s8VMVAguPxA8uGa3vJvsVqyzP5Vw912Mydf9WAFfbpjSrVTkhwBQLn3Gqa9RPUKRFj5vrW3DBwoKUr7w2qkJ2dY',
      {
        type: 'swapped',
        pool: '4sNV7i2BNHYbhenTJyXNxMdfVxhvESs8sWNGyfbeNev7',
        delta0: 20261126631n,
        delta1: -3791454n,
        reserves: [46728395181546n, 1381601715n],
      },
    ),
    sell_exact_out: synthetic('swap', traded, { emits: [trade([100n, 10n], [0n, 0n])] }),
    initialize: synthetic('create', creation, launched),
    initialize_v2: synthetic('create', creation, launched),
    initialize_with_token_2022: synthetic('create', creation, launched),
    migrate_to_amm: synthetic('close', { of: 32, pool: 23 }),
    migrate_to_cpswap: synthetic('close', { of: 28, pool: 17 }),
  },
)
