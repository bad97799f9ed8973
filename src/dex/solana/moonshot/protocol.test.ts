import { BorshWriter } from '../../../../test/support/builders/borsh-writer.ts'
import {
  MINT0,
  POOL,
  proveProgram,
  real,
  synthetic,
  USER,
} from '../../../../test/support/recorded/solana-evidence.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
/** A purchase of 100 tokens for 50 lamports. */
const bought = new BorshWriter('bddb7fd34ee661ee')
  .u64(100n, 50n, 1n, 1n, 0n)
  .key(POOL, USER, USER)
  .u8(0)
  .text('label')
  .bytes()

proveProgram('moonshot', 'IDL token_launchpad (v4) of @wen-moon-ser/moonshot-sdk 4.3.0', {
  buy: synthetic(
    'swap',
    { of: 11, pool: 2, user: 0, vaults: [3, 10], named: { 6: MINT0 } },
    {
      flow: [-100n, 0n],
      emits: [bought],
      events: [{ type: 'swapped', pool: POOL, recipient: USER, delta0: -100n, delta1: 50n }],
    },
  ),
  sell: real('3hbuxW9jyQ1fNt4HNz3dx2DYD2mqPXFPYymqjDajHmFfPd7AYdQo2x9iDcu5d8oX4iGKmYJAaFcqUsVx7nEL6iuk', {
    type: 'swapped',
    pool: '87h6gzJDiAGxWYQyPuFijJmUUe4otA7mZg8P7PesWQB4',
    delta0: 57886551891123424n,
    delta1: -1752300000n,
  }),
  token_mint: synthetic(
    'create',
    { of: 11, pool: 2, named: { 3: MINT0 } },
    {
      events: [{ type: 'poolCreated', pool: POOL, tokens: [MINT0, WSOL] }],
    },
  ),
  migrate_funds: synthetic('close', { of: 12, pool: 2 }),
})
