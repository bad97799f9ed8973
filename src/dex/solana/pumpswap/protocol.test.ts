import { BorshWriter } from '../../../../test/support/builders/borsh-writer.ts'
import { keyOf } from '../../../../test/support/builders/parsed-transaction.ts'
import {
  POOL,
  proveProgram,
  real,
  synthetic,
  USER,
} from '../../../../test/support/recorded/solana-evidence.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
const MIGRATION = '5gp7yztY9njnkyMG9iFW3wD6MVFS9AHsdGuSikaJpKst9vd6hgYswigGbdBojyYFZnxenwuZWk4YMzYLHuVWb6pG'
const MIGRATED = '3ioeR9Rwi6xNb1UgmTi31Kcv565UNEv7AmAaEL5CkN6f'
const [MINT, CURVE] = [keyOf('mint'), keyOf('curve')]
/** 64 bits with the sign in the upper half. */
const signed = (value: bigint): bigint => BigInt.asUintN(128, value)

const initBoost = new BorshWriter('ae7c4af90451f611')
  .u64(1n)
  .key(MINT, CURVE, POOL)
  .u128(signed(400n))
  .u64(600n)
  .bytes()
const boost = new BorshWriter('3f451c16305cc2b9')
  .u64(1n)
  .key(MINT, CURVE, POOL, USER)
  .u64(60n, 50n, 100n)
  .u128(signed(-50n))
  .u64(1_050n, 900n, 10n)
  .bytes()
const liquidity = { of: 15, pool: 0, user: 2, vaults: [9, 10] } as const
const boosted = { of: 13, pool: 0, user: 1, vaults: [5, 6] } as const

proveProgram('pumpswap', 'IDL pump_amm of @pump-fun/pump-swap-sdk 1.20.0', {
  buy: real('gauADRJViXKL8S5gazpDGQsLTTd5xNeqXfnfG89h5uAQBSsZkMvumxkQhGUKJHC4YA91XmcqRMrAZjzwri9hWng', {
    type: 'swapped',
    pool: 'CovvHQnzBbcX5YDfvXF23eefTFVtqxLrSijbuiezguMF',
    delta0: -14785084951n,
    delta1: 4781900017094n,
    reserves: [1407721713653n, 458942123992867n],
  }),
  buy_exact_quote_in: real(
    '3f8wSLzxHod2nnzKD8ZyDaw7z8oZedHpvDME3w9KRxQKQFA9LtaWs7eRQSjVuqtABnsifEizG9FoufgkfQMBevJC',
    {
      type: 'swapped',
      pool: 'DbKQVHEtNTr4zJB4QcAnfokJMHu3pQ6w9CYmHLZUhxCL',
      delta0: -139189999037n,
      delta1: 495548961n,
    },
  ),
  // Fees leave the quote vault beside the seller's share.
  sell: real('4DPfdCKCd3MLtWTUnBa2LSEXRjXo2nF79R4ediFuTL2sU38DfETX1c6yhAk6KofGhjdPEBGJtrzh8QZEiFvwe7Ng', {
    type: 'swapped',
    pool: '99vR2vBCMkcupXZePkt37fJp19uznJ9cnZNMtEWWq8my',
    delta0: 1096037113846n,
    delta1: -2027464092n,
    reserves: [100472436271129n, 184200246020n],
  }),
  create_pool: real(
    MIGRATION,
    { type: 'poolCreated', pool: MIGRATED, tokens: ['6XXqLtAwn7oBbhT9m3AeVZE2y77LdzuZSHVtWSEDpump', WSOL] },
    { type: 'liquidityAdded', pool: MIGRATED, reserves: [206900000000000n, 84990359151n] },
  ),
  deposit: synthetic('add', liquidity),
  withdraw: synthetic('remove', liquidity),
  init_boost: synthetic(
    'add',
    { ...boosted, user: 2 },
    {
      flow: [0n, -400n],
      emits: [initBoost],
      events: [{ type: 'reservesSet', pool: POOL, reserve0: 1_000n, reserve1: 600n }],
    },
  ),
  // The purchase is burned in the pool's own vault, so only the quote side is a transfer.
  boost_buy_and_burn: synthetic('swap', boosted, {
    flow: [0n, 50n],
    emits: [boost],
    events: [
      { type: 'swapped', pool: POOL, recipient: USER, delta0: -100n, delta1: 50n, reserves: [900n, 1_050n] },
    ],
  }),
})
