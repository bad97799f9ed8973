import type { RawLog } from '../../../domain/envelope.ts'
import type { PoolCreated } from '../../events.ts'
import { readKey } from '../borsh-key.ts'
import { identifyBy, poolByVaults } from '../identify.ts'
import { InstructionRecord } from '../instruction-record.ts'
import { sqrtX64Price } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import {
  balancesAfter,
  createdPool,
  liquidityReaders,
  type PoolAccounts,
  type PoolPlaces,
  type SwapDetails,
  swapReaders,
  type VaultSwap,
} from '../vault-events.ts'

const SWAP = '0xf8c69e91e17587c8'
const SWAP_V2 = '0x2b04ed0b1ac91e62'
const TWO_HOP_SWAP = '0xc360ed6c44a2dbe6'
const TWO_HOP_SWAP_V2 = '0xba8fd11dfe02c275'
const INITIALIZE_POOL = '0x5fb40aac54aee828'
const INITIALIZE_POOL_V2 = '0xcf2d57f21b3fcc43'
const INITIALIZE_POOL_ADAPTIVE = '0x8f5e604cac7c77c7'
const INCREASE = '0x2e9cf3760dcdfbb2'
const INCREASE_V2 = '0x851d59df45eeb00a'
const INCREASE_BY_AMOUNTS_V2 = '0xeffb097cd2c6352b'
const DECREASE = '0xa026d06f685b2c01'
const DECREASE_V2 = '0x3a7fbc3e4f52c460'
const REPOSITION_V2 = '0xbfa9e00b83139efd'

const TRADED_EVENT = 'e1ca49af932ba096'
const POOL_INITIALIZED_EVENT = '6476ad570cc6fee5'

const SWAPS: PoolPlaces = {
  [SWAP]: { pool: 2, user: 1, vaults: [4, 6] },
  [SWAP_V2]: { pool: 4, user: 3, vaults: [8, 10] },
  [TWO_HOP_SWAP]: { pool: 2, user: 1, vaults: [5, 7] },
  [nthTopic(TWO_HOP_SWAP, 1)]: { pool: 3, user: 1, vaults: [9, 11] },
  [TWO_HOP_SWAP_V2]: { pool: 0, user: 14, vaults: [9, 10], isSorted: true },
  [nthTopic(TWO_HOP_SWAP_V2, 1)]: { pool: 1, user: 14, vaults: [11, 12], isSorted: true },
}
const LIQUIDITY_V1: PoolAccounts = { pool: 0, user: 2, vaults: [7, 8] }
const LIQUIDITY_V2: PoolAccounts = { pool: 0, user: 4, vaults: [11, 12] }
const LIQUIDITY: PoolPlaces = {
  [INCREASE]: LIQUIDITY_V1,
  [INCREASE_V2]: LIQUIDITY_V2,
  [INCREASE_BY_AMOUNTS_V2]: LIQUIDITY_V2,
  [DECREASE]: LIQUIDITY_V1,
  [DECREASE_V2]: LIQUIDITY_V2,
  [REPOSITION_V2]: { pool: 0, user: 4, vaults: [12, 13] },
}

/** Orca Whirlpools: concentrated liquidity. Swaps from before the event was added have no price. */
export const orcaWhirlpool: SolanaProtocol = {
  program: { discriminatorBytes: 8, eventsIn: 'data_logs' },
  announcements: {
    [INITIALIZE_POOL]: readCreate,
    [INITIALIZE_POOL_V2]: readCreate,
    [INITIALIZE_POOL_ADAPTIVE]: readCreate,
  },
  events: { ...swapReaders(SWAPS, detailsOf), ...liquidityReaders(LIQUIDITY) },
  isSingleton: true,
  reserves: 'reported',
  identify: identifyBy((log) => poolByVaults(log, accountsOf)),
}

function accountsOf({ topics }: RawLog): PoolAccounts | undefined {
  const topic = topics[0] ?? ''
  return SWAPS[topic] ?? LIQUIDITY[topic]
}

/** whirlpool, whirlpools_config, mint_a, mint_b, tick_spacing, two programs, two decimals, initial_sqrt_price */
function readCreate(log: RawLog): PoolCreated | undefined {
  const event = InstructionRecord.read(log.data)?.event(POOL_INITIALIZED_EVENT)
  if (event === undefined) return undefined
  const pool = readKey(event)
  event.skip(32)
  const mintA = readKey(event)
  const mintB = readKey(event)
  event.skip(2 + 32 + 32 + 1 + 1)
  const price = sqrtX64Price(event.u128())
  return event.isValid && mintA !== mintB ? createdPool(pool, [mintA, mintB], price) : undefined
}

/** whirlpool, a_to_b, pre_sqrt_price, post_sqrt_price */
function detailsOf(swap: VaultSwap): SwapDetails {
  const reserves = balancesAfter(swap)
  for (let hop = 0; hop < 2; hop++) {
    const event = swap.record.event(TRADED_EVENT, hop)
    if (event === undefined) break
    if (readKey(event) !== swap.pool) continue
    event.skip(1 + 16)
    const price = sqrtX64Price(event.u128())
    return { reserves, price: event.isValid ? price : undefined }
  }
  return { reserves }
}
