import { POOL, proveProgram, real, synthetic } from '../../../../test/support/recorded/solana-evidence.ts'

const created = [
  { type: 'poolCreated', pool: POOL },
  { type: 'liquidityAdded', pool: POOL },
] as const
const removal = { of: 15, pool: 1, user: 10, vaults: [5, 6] } as const

proveProgram('meteora_damm_v2', 'IDL cp_amm 0.2.5 of @meteora-ag/cp-amm-sdk 1.5.0', {
  swap: real(
    '2drUaXQWXNXeG8hXPYhA11LV2fLXXjReu8xWUGvJGL5yALSUDgARA3ets2HTFDHU1pL76QJEvRsm4mha4sDB5w3w',
    {
      type: 'swapped',
      pool: 'CTQwzJyqoWMz9BkQoppMDs5UDBRfHSeTwKB1bUheyTRN',
      delta0: 6768128530n,
      delta1: -10284665347857n,
      price: { kind: 'sqrt', sqrtPriceX96: 3065167929566152050811634450432n, tick: 73114 },
    },
    {
      type: 'swapped',
      pool: 'CTQwzJyqoWMz9BkQoppMDs5UDBRfHSeTwKB1bUheyTRN',
      delta0: -7095970889n,
      delta1: 10793027507021n,
      price: { kind: 'sqrt', sqrtPriceX96: 3114532891443476690396564684800n, tick: 73433 },
    },
  ),
  swap2: real('3DafP7fgvWm1EUYiNRGdGEJzCN7uTtvoFSBfr9HwYukNXsmhEkUiuDEvTgzF1etuhfz2DAE7eTuoLUKjCJtgr4Nc', {
    type: 'swapped',
    pool: '78cSYcdcKEhfsoeHvL4LYqSQpEbEQidUUsmenktzyGp5',
    delta0: -612030882524262n,
    delta1: 113602835n,
    reserves: [260586592302615829n, 47644086228n],
  }),
  add_liquidity: synthetic('add', { of: 14, pool: 0, user: 9, vaults: [4, 5] }),
  remove_liquidity: synthetic('remove', removal),
  remove_all_liquidity: synthetic('remove', removal),
  initialize_pool: synthetic(
    'add',
    { of: 20, pool: 6, mints: [8, 9], vaults: [10, 11] },
    { events: created },
  ),
  initialize_customizable_pool: synthetic(
    'add',
    { of: 19, pool: 5, mints: [7, 8], vaults: [9, 10] },
    { events: created },
  ),
  initialize_pool_with_dynamic_config: synthetic(
    'add',
    { of: 21, pool: 7, mints: [9, 10], vaults: [11, 12] },
    { events: created },
  ),
})
