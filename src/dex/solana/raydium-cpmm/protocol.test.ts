import { POOL, proveProgram, real, synthetic } from '../../../../test/support/recorded/solana-evidence.ts'

const liquidity = { of: 13, pool: 2, user: 0, vaults: [6, 7], mints: [10, 11] } as const
const created = [
  { type: 'poolCreated', pool: POOL },
  { type: 'liquidityAdded', pool: POOL },
] as const

proveProgram('raydium_cpmm', 'source raydium-cp-swap 609780f', {
  swap_base_input: real(
    // On devnet.
    '2EKpsQBk8KaHC3xFGmv3aM6byQyvXqb6LGzzmQpE1AdMQ3VigCwR7bsVzaWLtyvJpJcER2VUgQQr6vdzZZYVjjeD',
    {
      type: 'swapped',
      pool: '7AMLK2PH3rndg65abC9LXxqwtWnoZ8hd4p1KMqG5etNy',
      delta0: -90498805254n,
      delta1: 10000000n,
      reserves: [4717659623242n, 529992000n],
    },
  ),
  swap_base_output: synthetic('swap', { of: 13, pool: 3, user: 0, vaults: [6, 7], mints: [10, 11] }),
  deposit: synthetic('add', liquidity),
  withdraw: real('4AUyJRZd62NieW1APoLmuVsP7Crc4XDqsf1u8ssoHv9MWrxDJdffQPcbk4ixS3FssSpwAev9XsXPkAkJmKDBVU6M', {
    type: 'liquidityRemoved',
    pool: 'BNzcoiGF7Qj7NFE8cRuwrgbJZsav8qgVNNKb6nZ1ta3k',
    provider: '3f7GcQFG397GAaEnv51zR6tsTVihYRydnydDD1cXekxH',
    reserves: [21570591827n, 995872847608060n],
  }),
  initialize: synthetic(
    'add',
    { of: 20, user: 0, pool: 3, mints: [4, 5], vaults: [10, 11] },
    { events: created },
  ),
  initialize_with_permission: synthetic(
    'add',
    { of: 21, user: 1, pool: 4, mints: [5, 6], vaults: [11, 12] },
    { events: created },
  ),
})
