import { BorshWriter } from '../../../../test/support/builders/borsh-writer.ts'
import { keyOf } from '../../../../test/support/builders/parsed-transaction.ts'
import {
  MINT0,
  MINT1,
  POOL,
  proveProgram,
  real,
  synthetic,
} from '../../../../test/support/recorded/solana-evidence.ts'

const created = new BorshWriter('ca2c295868dc9d52').key(keyOf('lp'), MINT0, MINT1).u8(0).key(POOL).bytes()
const create = { emits: [created] } as const
const liquidity = { of: 16, pool: 0, user: 13, vaults: [9, 10] } as const

proveProgram('meteora_damm_v1', 'IDL amm 0.5.3 of @meteora-ag/dynamic-bonding-curve-sdk 1.5.12', {
  swap: real('4PqHvshiZK68eeMrtHAnjPW2nWAFwvVYpbiKU1YfRxRELAQqQEz4JCU9y4c7PxvUoBsUczNEYRUAcALy742JqDeB', {
    type: 'swapped',
    pool: '7EJSgV2pthhDfb4UiER9vzTqe2eojei9GEQAQnkqJ96e',
    delta0: 61560443n,
    delta1: -50481733n,
    price: undefined,
  }),
  add_balance_liquidity: synthetic('add', liquidity),
  add_imbalance_liquidity: synthetic('add', liquidity),
  bootstrap_liquidity: synthetic('add', liquidity),
  remove_balance_liquidity: synthetic('remove', liquidity),
  remove_liquidity_single_side: synthetic(
    'remove',
    { of: 15, pool: 0, user: 12, vaults: [9, 10] },
    { flow: [-100n, 0n] },
  ),
  initialize_permissionless_pool: synthetic('create', { of: 26, pool: 0, mints: [2, 3] }, create),
  initialize_permissionless_pool_with_fee_tier: synthetic(
    'create',
    { of: 26, pool: 0, mints: [2, 3] },
    create,
  ),
  initialize_permissionless_constant_product_pool_with_config: synthetic(
    'create',
    { of: 26, pool: 0, mints: [3, 4] },
    create,
  ),
  initialize_permissionless_constant_product_pool_with_config2: synthetic(
    'create',
    { of: 26, pool: 0, mints: [3, 4] },
    create,
  ),
  initialize_customizable_permissionless_constant_product_pool: synthetic(
    'create',
    { of: 25, pool: 0, mints: [2, 3] },
    create,
  ),
})
