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

const WSOL = 'So11111111111111111111111111111111111111112'
const CREATED = 'EqJjYo2auAM2Vs26M8msgYSTmi1QtfHVY9aoyrv9UNDC46NvMXoRPigfH3aEdVZPpjSARuPxwFbybexKAsrF58e'
const NEW_CURVE = 'ETaAVFLTvBTodDyLa5siurQKp37zp4rVMyZbKrv2dNv6'

/** A trade of 100 tokens for 50 lamports, or for 50 of another quote asset. */
function trade(isBuy: boolean, quoteMint?: string): Uint8Array {
  const event = new BorshWriter('bddb7fd34ee661ee')
    .key(MINT0)
    .u64(quoteMint === undefined ? 50n : 0n, 100n)
    .bool(isBuy)
    .key(USER)
    .u64(1n)
    .u64(quoteMint === undefined ? 3_000n : 0n, 9_000n, quoteMint === undefined ? 500n : 0n, 7_000n)
  // fee_recipient, fee (rate, amount), creator, creator_fee (rate, amount)
  event.key(USER).u64(1n, 1n).key(USER).u64(1n, 1n)
  // track_volume, three amounts and last_update; ix_name; mayhem_mode, cashback, buyback; no shareholders
  event.bool(false).u64(0n, 0n, 0n, 0n).text('buy').bool(false).u64(0n, 0n, 0n, 0n).u8(0, 0, 0, 0)
  return event
    .key(quoteMint ?? '1'.repeat(32))
    .u64(50n, 3_000n, 500n)
    .bytes()
}

const created = new BorshWriter('1b72a94ddeeb6376')
  .text('Name', 'SYM', 'uri')
  .key(MINT0, POOL, USER, USER)
  .u64(1n, 9_000n, 3_000n, 8_000n, 10_000n)
  .bytes()
const completed = new BorshWriter('5f72619cd42e9808').key(USER, MINT0, POOL).u64(1n).bytes()
const mayhem = new BorshWriter('757be4b6a1a8dcd6')
  .u64(1n)
  .key(MINT0)
  .u64(9_000n, 3_000n, 9_000n, 4_000n, 1n, 1n)
  .bytes()

const first = { of: 16, pool: 3, user: 6, vaults: [4, 15], mints: [2, 14] } as const
const second = { of: 27, pool: 10, user: 13, vaults: [11, 12], mints: [1, 2] } as const
const bought = { type: 'swapped', pool: POOL, recipient: USER, delta0: -100n, delta1: 50n } as const
const sold = { type: 'swapped', pool: POOL, recipient: USER, delta0: 100n, delta1: -50n } as const
const state = { reserves: [7_000n, 500n] }

proveProgram('pump_fun', 'IDL pump of @pump-fun/pump-sdk 2.0.0', {
  create: synthetic(
    'create',
    { of: 14, pool: 2, user: 7, mints: [0, 13] },
    {
      emits: [created],
      events: [
        { type: 'poolCreated', pool: POOL, tokens: [MINT0, WSOL] },
        { type: 'reservesSet', pool: POOL, reserve0: 8_000n, reserve1: 0n },
      ],
    },
  ),
  create_v2: real(
    CREATED,
    {
      type: 'poolCreated',
      pool: NEW_CURVE,
      tokens: ['D7jZzYfXPEM572G9fBBWUqfwmHYLyeUYhAerv6hYpump', WSOL],
      goalRaw: 85005359056n,
    },
    { type: 'reservesSet', pool: NEW_CURVE, reserve0: 793100000000000n, reserve1: 0n },
  ),
  buy: [
    real('53fG8Sh9MFDbN9vZFkpLh99iCng8GSAEg1yNYooexsF8EPzaU3cQLZbJ2akMAw7U6EeN3WU7acW5BDXQHLUDwnub', {
      type: 'swapped',
      pool: 'ADMmxtt1A9eHCmbyxG3Ncme1LupAzjeKFnzrdHpoJGYV',
      delta0: -3645806451444n,
      delta1: 59144058n,
      reserves: [772078686756668n, 380230153n],
    }),
  ],
  sell: real('5w7YKJBT3qYmevTEyaucjd4CaLkhoVvRMB5uZniPfeH7uc4Q6quLUcRd7HkgS7hFMeTSZJVdAViX5VyMDTJNhdZ4', {
    type: 'swapped',
    pool: 'Hfs8ZTwR89e9Yr91QTvCdH5atSZ996P1jjXeeXvFiSzY',
    delta0: 5278858153234n,
    delta1: -794648607n,
    reserves: [185173683640299n, 39214839120n],
  }),
  // The last purchase completes the curve.
  buy_exact_sol_in: synthetic('swap', first, {
    flow: [-100n, 0n],
    emits: [trade(true), completed],
    events: [
      { ...bought, ...state },
      { type: 'curveClosed', pool: POOL },
    ],
  }),
  buy_v2: synthetic('swap', second, {
    flow: [-100n, 50n],
    emits: [trade(true, MINT1)],
    events: [{ ...bought, ...state }],
  }),
  buy_exact_quote_in_v2: synthetic(
    'swap',
    { of: 27, pool: 10, user: 13, vaults: [11, 12], named: { 1: MINT0, 2: WSOL } },
    {
      flow: [-100n, 0n],
      emits: [trade(true)],
      events: [{ ...bought, ...state }],
    },
  ),
  sell_v2: synthetic(
    'swap',
    { ...second, of: 26 },
    {
      emits: [trade(false, MINT1)],
      events: [{ ...sold, ...state }],
    },
  ),
  migrate: real('5gp7yztY9njnkyMG9iFW3wD6MVFS9AHsdGuSikaJpKst9vd6hgYswigGbdBojyYFZnxenwuZWk4YMzYLHuVWb6pG', {
    type: 'curveClosed',
    pool: 'ERodHMCNaF8DuF6SqKr1s2bJaza2AQmLw5GhcuCj796Y',
  }),
  migrate_v2: synthetic('close', { of: 27, pool: 4 }),
  // The vault before the mint belongs to the agent, not to the curve.
  set_mayhem_virtual_params: synthetic(
    'close',
    { of: 8, pool: 4, named: { 1: keyOf('vault 0'), 2: MINT0 } },
    {
      emits: [mayhem],
      events: [{ type: 'priceSet', pool: POOL }],
    },
  ),
})
