import { POOL, proveProgram, real, synthetic } from '../../../../test/support/recorded/solana-evidence.ts'

const created = [
  { type: 'poolCreated', pool: POOL },
  { type: 'liquidityAdded', pool: POOL },
] as const
const swap = { of: 18, pool: 1, vaults: [5, 6], user: 17 } as const

proveProgram('raydium_amm_v4', 'source raydium-amm 27f461d (July 2026); an instruction is known by its tag', {
  initialize2: [
    synthetic(
      'add',
      { of: 21, pool: 4, mints: [8, 9], vaults: [10, 11], user: 17 },
      { tag: 1, events: created },
    ),
    synthetic(
      'add',
      { of: 19, pool: 4, mints: [7, 8], vaults: [9, 10], user: 15 },
      { tag: 1, events: created },
    ),
  ],
  deposit: [
    synthetic('add', { of: 14, pool: 1, vaults: [6, 7] }, { tag: 3 }),
    synthetic('add', { of: 11, pool: 1, vaults: [5, 6] }, { tag: 3 }),
  ],
  withdraw: [
    synthetic('remove', { of: 22, pool: 1, vaults: [6, 7] }, { tag: 4 }),
    synthetic('remove', { of: 11, pool: 1, vaults: [5, 6] }, { tag: 4 }),
  ],
  swapBaseIn: {
    ...real('3XAnhzL2ywFcguX2NYWYke7JfSS5rEVaxfzB335xzJXXAHQBZXTeg2Q4AbJkGYiCzZ71xt7CiM9ZavriLwF9abXF', {
      type: 'swapped',
      pool: '9KSwHEeA3pPG4ECQYzmuVWwrUv5DfWJDQKVB9ov8EPEv',
      delta0: 1211003151898n,
      delta1: -101444153n,
      reserves: [488966284955925n, 40961025911n],
    }),
    tag: 9,
  },
  swapBaseOut: [
    synthetic('swap', swap, { tag: 11 }),
    synthetic('swap', { of: 17, pool: 1, vaults: [4, 5], user: 16 }, { tag: 11 }),
  ],
  swapBaseInV2: {
    ...real('4QvTLiNg48ecSdHQ3YwPKkmpewJNUL7ARJsGL7nGyJ5WSaBgxL9GnFmDzq5NukCRzSx6e61QHeC9XMMHQQbAeWmk', {
      type: 'swapped',
      pool: 'Fhmjp6SMtmD8GXkq8tw6aZjBk3sDpKtKKSH6RToLAX3m',
      delta0: -198252165n,
      delta1: 55159038171n,
    }),
    tag: 16,
  },
  swapBaseOutV2: synthetic('swap', { of: 8, pool: 1, vaults: [3, 4], user: 7 }, { tag: 17 }),
})
