import type { RawLog } from '../../../domain/envelope.ts'
import type { FeesCollected, LiquidityAdded, LiquidityRemoved, PoolCreated, Swapped } from '../../events.ts'
import { readKey } from '../borsh-key.ts'
import { ByteCursor } from '../byte-cursor.ts'
import { identifyBy, poolByVaults } from '../identify.ts'
import { hasDiscriminator, InstructionRecord } from '../instruction-record.ts'
import { sqrtX64Price } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import {
  balancesAfter,
  creationIn,
  type PoolAccounts,
  type PoolPlaces,
  readersOf,
  readVaultLiquidity,
  readVaultSwap,
  type SwapDetails,
  swapReaders,
  type VaultSwap,
} from '../vault-events.ts'

const SWAP = '0xf8c69e91e17587c8'
const SWAP_V2 = '0x2b04ed0b1ac91e62'
const SWAP_ROUTER_BASE_IN = '0x457d73daf5baf2c4'
const CREATE_POOL = '0xe992d18ecf6840bc'
const CREATE_CUSTOMIZABLE_POOL = '0x2b44d4a7592fa401'
const OPEN_POSITION = '0x87802f4d0f98f031'
const OPEN_POSITION_V2 = '0x4db84ad67056f1c7'
const OPEN_POSITION_TOKEN22 = '0x4dffae527d1dc92e'
const INCREASE = '0x2e9cf3760dcdfbb2'
const INCREASE_V2 = '0x851d59df45eeb00a'
const DECREASE = '0xa026d06f685b2c01'
const DECREASE_V2 = '0x3a7fbc3e4f52c460'

const SWAP_EVENT = '40c6cde8260871e2'
const POOL_CREATED_EVENT = '195e4b2f7063353f'

const SWAP_ACCOUNTS: PoolAccounts = { pool: 2, user: 0, vaults: [5, 6], isSorted: true }
const OPEN: PoolAccounts = { pool: 5, user: 1, vaults: [12, 13] }
const OPEN_TOKEN22: PoolAccounts = { pool: 4, user: 1, vaults: [11, 12] }
const INCREASED: PoolAccounts = { pool: 2, user: 0, vaults: [9, 10] }
const DECREASED: PoolAccounts = { pool: 3, user: 0, vaults: [5, 6] }

const SWAPS: PoolPlaces = { [SWAP]: SWAP_ACCOUNTS, [SWAP_V2]: SWAP_ACCOUNTS }
const LIQUIDITY: PoolPlaces = {
  [OPEN_POSITION]: OPEN,
  [OPEN_POSITION_V2]: OPEN,
  [OPEN_POSITION_TOKEN22]: OPEN_TOKEN22,
  [INCREASE]: INCREASED,
  [INCREASE_V2]: INCREASED,
  [DECREASE]: DECREASED,
  [DECREASE_V2]: DECREASED,
}

/** A transaction has no room for the accounts of more hops. */
const MAX_HOPS = 8
const HOPS = Array.from({ length: MAX_HOPS }, (_, nth) => nthTopic(SWAP_ROUTER_BASE_IN, nth))
const ROUTER_USER = 0
/** amm_config, pool, user output, input vault, output vault, in this order for each hop. */
const VAULTS_BEHIND_POOL = [2, 3] as const

/** Raydium CLMM: concentrated liquidity, with the price after a swap in its event. Limit orders are no swaps. */
export const raydiumClmm: SolanaProtocol = {
  program: {
    discriminatorBytes: 8,
    eventsIn: 'data_logs',
    onlyIf: Object.fromEntries(
      HOPS.map((topic, nth) => [topic, (events: readonly Uint8Array[]) => countSwaps(events) > nth]),
    ),
  },
  announcements: { [CREATE_POOL]: readCreate, [CREATE_CUSTOMIZABLE_POOL]: readCreate },
  events: {
    ...swapReaders(SWAPS, detailsOf),
    ...Object.fromEntries(HOPS.map((topic, nth) => [topic, (log: RawLog) => readHop(log, nth)])),
    ...readersOf(LIQUIDITY, readLiquidity),
  },
  isSingleton: true,
  reserves: 'reported',
  identify: identifyBy((log) => poolByVaults(log, accountsOf)),
}

function accountsOf(log: RawLog): PoolAccounts | undefined {
  const topic = log.topics[0] ?? ''
  const hop = HOPS.indexOf(topic)
  if (hop !== -1) return hopAccounts(log, hop)
  return SWAPS[topic] ?? LIQUIDITY[topic]
}

function countSwaps(events: readonly Uint8Array[]): number {
  return events.filter((event) => hasDiscriminator(event, SWAP_EVENT)).length
}

/** PoolCreatedEvent: token_mint_0, token_mint_1, tick_spacing, pool_state, sqrt_price_x64, tick */
function readCreate(log: RawLog): PoolCreated | undefined {
  const record = InstructionRecord.read(log.data)
  if (record === undefined) return undefined
  const event = record.event(POOL_CREATED_EVENT)
  event?.skip(32 + 32 + 2 + 32)
  const price = event && sqrtX64Price(event.u128(), event.i32())
  return creationIn(record, { pool: 2, mints: [3, 4] }, event?.isValid ? price : undefined)
}

/** pool_state, sender, token_account_0, token_account_1, four amounts, zero_for_one, sqrt_price_x64, liquidity, tick */
function priceIn(event: ByteCursor) {
  event.skip(32 * 3 + 8 * 4 + 1)
  const sqrtPrice = event.u128()
  event.skip(16)
  const tick = event.i32()
  return event.isValid ? sqrtX64Price(sqrtPrice, tick) : undefined
}

function detailsOf(swap: VaultSwap): SwapDetails {
  const event = swap.record.event(SWAP_EVENT)
  event?.skip(32)
  return { reserves: balancesAfter(swap), price: event && priceIn(event) }
}

/** The borders between hops depend on the pools' state, but each hop's event carries its pool. */
function hopAccounts(log: RawLog, nth: number): PoolAccounts | undefined {
  const record = InstructionRecord.read(log.data)
  const event = record?.event(SWAP_EVENT, nth)
  if (record === undefined || event === undefined) return undefined
  const pool = readKey(event)
  const place = record.accounts.findIndex((_, index) => record.address(index) === pool)
  if (!event.isValid || place === -1) return undefined
  const [input, output] = VAULTS_BEHIND_POOL
  return { pool: place, vaults: [place + input, place + output], user: ROUTER_USER, isSorted: true }
}

function readHop(log: RawLog, nth: number): Swapped | undefined {
  const accounts = hopAccounts(log, nth)
  if (accounts === undefined) return undefined
  return readVaultSwap(log, accounts, (swap) => {
    const event = swap.record.event(SWAP_EVENT, nth)
    event?.skip(32)
    return { reserves: balancesAfter(swap), price: event && priceIn(event) }
  })
}

function readLiquidity(
  log: RawLog,
  accounts: PoolAccounts,
): LiquidityAdded | LiquidityRemoved | FeesCollected | undefined {
  const event = readVaultLiquidity(log, accounts)
  if (event?.type !== 'liquidityRemoved') return event
  const data = InstructionRecord.read(log.data)?.data
  const isWithoutLiquidity = data !== undefined && new ByteCursor(data, 8).u128() === 0n
  if (!isWithoutLiquidity) return event
  // A position is decreased by nothing to collect its fees.
  const { pool, provider, amounts } = event
  return { type: 'feesCollected', pool, provider, amounts }
}
