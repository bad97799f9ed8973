import type { RawLog } from '../../../domain/envelope.ts'
import { identifyBy, poolByVaults } from '../identify.ts'
import { InstructionRecord } from '../instruction-record.ts'
import { sqrtX64Price } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import {
  balancesAfter,
  type CreationAccounts,
  creationIn,
  liquidityReaders,
  type PoolAccounts,
  type PoolPlaces,
  readersOf,
  type SwapDetails,
  swapReaders,
  type VaultSwap,
} from '../vault-events.ts'

const SWAP = '0xf8c69e91e17587c8'
const SWAP2 = '0x414b3f4ceb5b5b88'
const ADD = '0xb59d59438fb63448'
const REMOVE = '0x5055d14818ceb16c'
const REMOVE_ALL = '0x0a333d2370691855'

const SWAP2_EVENT = 'bd4233a826507599'

const CREATIONS: Readonly<Record<string, CreationAccounts>> = {
  // initialize_pool, customizable, with dynamic config
  '0x5fb40aac54aee828': { pool: 6, mints: [8, 9], vaults: [10, 11] },
  '0x14a1f118bdddb402': { pool: 5, mints: [7, 8], vaults: [9, 10] },
  '0x955248c5fdfc440f': { pool: 7, mints: [9, 10], vaults: [11, 12] },
}
const SWAP_ACCOUNTS: PoolAccounts = { pool: 1, user: 8, vaults: [4, 5] }
const SWAPS: PoolPlaces = { [SWAP]: SWAP_ACCOUNTS, [SWAP2]: SWAP_ACCOUNTS }
const REMOVAL: PoolAccounts = { pool: 1, user: 10, vaults: [5, 6] }
const LIQUIDITY: PoolPlaces = {
  [ADD]: { pool: 0, user: 9, vaults: [4, 5] },
  [REMOVE]: REMOVAL,
  [REMOVE_ALL]: REMOVAL,
  ...Object.fromEntries(Object.entries(CREATIONS).map(([topic, accounts]) => [nthTopic(topic, 1), accounts])),
}

/** Meteora DAMM v2: one price range for a whole pool, with the price after a swap in its event. */
export const meteoraDammV2: SolanaProtocol = {
  program: { discriminatorBytes: 8, eventsIn: 'calls' },
  announcements: readersOf(CREATIONS, readCreate),
  events: { ...swapReaders(SWAPS, detailsOf), ...liquidityReaders(LIQUIDITY) },
  isSingleton: true,
  reserves: 'reported',
  identify: identifyBy((log) => poolByVaults(log, accountsOf)),
}

function accountsOf({ topics }: RawLog): PoolAccounts | undefined {
  const topic = topics[0] ?? ''
  return SWAPS[topic] ?? LIQUIDITY[topic]
}

/** The first price is unknown until a swap: a deposit into a range does not determine it. */
function readCreate(log: RawLog, accounts: CreationAccounts) {
  const record = InstructionRecord.read(log.data)
  return record === undefined ? undefined : creationIn(record, accounts, undefined)
}

/** pool, trade_direction, collect_fee_mode, has_referral, params (17 bytes), four amounts, next_sqrt_price */
function detailsOf(swap: VaultSwap): SwapDetails {
  const event = swap.record.event(SWAP2_EVENT)
  const reserves = balancesAfter(swap)
  if (event === undefined) return { reserves }
  event.skip(32 + 3 + 17 + 8 * 4)
  const price = sqrtX64Price(event.u128())
  return { reserves, price: event.isValid ? price : undefined }
}
