import type { RawLog } from '../../../domain/envelope.ts'
import { identifyBy, poolByVaults } from '../identify.ts'
import { ratioPrice } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import {
  balancesAfter,
  type CreationAccounts,
  liquidityReaders,
  type PoolAccounts,
  type PoolPlaces,
  readCreation,
  readersOf,
  reservesAfter,
  type SwapDetails,
  swapReaders,
  type VaultSwap,
} from '../vault-events.ts'

const SWAP_BASE_INPUT = '0x8fbe5adac41e33de'
const SWAP_BASE_OUTPUT = '0x37d96256a34ab4ad'
const INITIALIZE = '0xafaf6d1f0d989bed'
const INITIALIZE_WITH_PERMISSION = '0x3f37fe4131b25979'
const DEPOSIT = '0xf223c68952e1f2b6'
const WITHDRAW = '0xb712469c946da122'

const SWAP_EVENT = '40c6cde8260871e2'

const SWAP: PoolAccounts = { pool: 3, user: 0, vaults: [6, 7], isSorted: true }
const LIQUIDITY: PoolAccounts = { pool: 2, user: 0, vaults: [6, 7] }
const CREATION = { pool: 3, user: 0, mints: [4, 5], vaults: [10, 11] } as const
const PERMITTED = { pool: 4, user: 1, mints: [5, 6], vaults: [11, 12] } as const

const CREATIONS: Readonly<Record<string, CreationAccounts>> = {
  [INITIALIZE]: CREATION,
  [INITIALIZE_WITH_PERMISSION]: PERMITTED,
}
const SWAPS: PoolPlaces = { [SWAP_BASE_INPUT]: SWAP, [SWAP_BASE_OUTPUT]: SWAP }
const DEPOSITS: PoolPlaces = {
  [DEPOSIT]: LIQUIDITY,
  [WITHDRAW]: LIQUIDITY,
  [nthTopic(INITIALIZE, 1)]: CREATION,
  [nthTopic(INITIALIZE_WITH_PERMISSION, 1)]: PERMITTED,
}

/** Raydium CPMM. Events report the vaults before a swap without the fees that were not collected yet. */
export const raydiumCpmm: SolanaProtocol = {
  program: { discriminatorBytes: 8, eventsIn: 'data_logs' },
  announcements: readersOf(CREATIONS, readCreation),
  events: { ...swapReaders(SWAPS, detailsOf), ...liquidityReaders(DEPOSITS) },
  isSingleton: true,
  trial: 'cpmm',
  reserves: 'reported',
  identify: identifyBy((log) => poolByVaults(log, accountsOf)),
}

function accountsOf({ topics }: RawLog): PoolAccounts | undefined {
  const topic = topics[0] ?? ''
  return SWAPS[topic] ?? DEPOSITS[topic]
}

function detailsOf(swap: VaultSwap): SwapDetails {
  const reserves = reportedReserves(swap) ?? balancesAfter(swap)
  return reserves === undefined ? {} : { reserves, price: ratioPrice(...reserves) }
}

/** pool_id, input_vault_before, output_vault_before */
function reportedReserves(swap: VaultSwap): readonly [bigint, bigint] | undefined {
  const event = swap.record.event(SWAP_EVENT)
  if (event === undefined) return undefined
  event.skip(32)
  const input = event.u64()
  const output = event.u64()
  if (!event.isValid) return undefined
  return swap.delta0 > 0n ? reservesAfter(swap, input, output) : reservesAfter(swap, output, input)
}
