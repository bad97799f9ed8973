import type { RawLog } from '../../../domain/envelope.ts'
import type { PoolCreated } from '../../events.ts'
import { readKey } from '../borsh-key.ts'
import { identifyBy, poolByVaults } from '../identify.ts'
import { InstructionRecord } from '../instruction-record.ts'
import type { SolanaProtocol } from '../program.ts'
import {
  type PoolAccounts,
  type PoolPlaces,
  readersOf,
  readVaultLiquidity,
  swapReaders,
} from '../vault-events.ts'

const SWAP = '0xf8c69e91e17587c8'
const CREATIONS = [
  // permissionless, with fee tier, with config, with config2, customizable
  '0x76ad299dad486167',
  '0x06874493e552a971',
  '0x07a68aabceabecf4',
  '0x3095dc823d0b09b2',
  '0x9118acc2db7d03be',
]
const ADD_BALANCE = '0xa8e3323ebdab54b0'
const ADD_IMBALANCE = '0x4f237a54ad0f5dbf'
const BOOTSTRAP = '0x04e4d747e1fd77ce'
const REMOVE_BALANCE = '0x856d2cb338ee7221'
const REMOVE_SINGLE_SIDE = '0x5454b142feb90afb'

const POOL_CREATED_EVENT = 'ca2c295868dc9d52'

const SWAPS: PoolPlaces = { [SWAP]: { pool: 0, user: 12, vaults: [5, 6] } }
const BOTH_SIDES: PoolAccounts = { pool: 0, user: 13, vaults: [9, 10] }
const LIQUIDITY: PoolPlaces = {
  [ADD_BALANCE]: BOTH_SIDES,
  [ADD_IMBALANCE]: BOTH_SIDES,
  [BOOTSTRAP]: BOTH_SIDES,
  [REMOVE_BALANCE]: BOTH_SIDES,
  [REMOVE_SINGLE_SIDE]: { pool: 0, user: 12, vaults: [9, 10] },
}

/**
 * Meteora DAMM v1. Its tokens lie in vaults that many pools share, so balances say nothing about a pool, and a swap's
 * event differs from what moved by fees and by the rounding of vault shares: trades set the price.
 */
export const meteoraDammV1: SolanaProtocol = {
  program: { discriminatorBytes: 8, eventsIn: 'data_logs' },
  announcements: Object.fromEntries(CREATIONS.map((topic) => [topic, readCreate])),
  events: {
    ...swapReaders(SWAPS, () => ({})),
    ...readersOf(LIQUIDITY, withoutReserves),
  },
  isSingleton: true,
  reserves: 'unknown',
  identify: identifyBy((log) => poolByVaults(log, accountsOf), { kind: 'trades' }),
}

function accountsOf({ topics }: RawLog): PoolAccounts | undefined {
  const topic = topics[0] ?? ''
  return SWAPS[topic] ?? LIQUIDITY[topic]
}

function withoutReserves(log: RawLog, accounts: PoolAccounts) {
  const event = readVaultLiquidity(log, accounts)
  if (event === undefined) return undefined
  const { reserves: _shared, ...rest } = event
  return rest
}

/** PoolCreated: lp_mint, token_a_mint, token_b_mint, pool_type, pool */
function readCreate(log: RawLog): PoolCreated | undefined {
  const event = InstructionRecord.read(log.data)?.event(POOL_CREATED_EVENT)
  if (event === undefined) return undefined
  event.skip(32)
  const tokens = [readKey(event), readKey(event)]
  event.skip(1)
  const pool = readKey(event)
  if (!event.isValid || tokens[0] === tokens[1]) return undefined
  return { type: 'poolCreated', pool, tokens, pricing: { kind: 'trades' } }
}
