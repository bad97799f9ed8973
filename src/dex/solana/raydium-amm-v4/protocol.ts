import type { RawLog } from '../../../domain/envelope.ts'
import type { Swapped } from '../../events.ts'
import { identifyBy, poolByVaults } from '../identify.ts'
import { InstructionRecord } from '../instruction-record.ts'
import { ratioPrice } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import {
  balancesAfter,
  type CreationAccounts,
  type PoolAccounts,
  readCreation,
  readVaultLiquidity,
  readVaultSwap,
  reservesAfter,
  type SwapDetails,
  type VaultSwap,
} from '../vault-events.ts'

/** The first byte of an instruction is its tag. */
const INITIALIZE2 = '0x01'
const DEPOSIT = '0x03'
const WITHDRAW = '0x04'
const SWAP_BASE_IN = '0x09'
const SWAP_BASE_OUT = '0x0b'
const SWAP_BASE_IN_V2 = '0x10'
const SWAP_BASE_OUT_V2 = '0x11'

const CREATIONS: Readonly<Record<number, CreationAccounts>> = {
  21: { pool: 4, mints: [8, 9], vaults: [10, 11], user: 17 },
  19: { pool: 4, mints: [7, 8], vaults: [9, 10], user: 15 },
}
/** Instructions have lost accounts over time; their number decides the places. */
const WITH_MARKET: PoolAccounts = { pool: 1, vaults: [6, 7] }
const WITHOUT_MARKET: PoolAccounts = { pool: 1, vaults: [5, 6] }
const SWAP_18: PoolAccounts = { pool: 1, vaults: [5, 6], user: 17 }
const SWAP_17: PoolAccounts = { pool: 1, vaults: [4, 5], user: 16 }
const SWAP_8: PoolAccounts = { pool: 1, vaults: [3, 4], user: 7 }

/** Types of the log line `ray_log`: swaps by input and by output. */
const SWAP_LOGS: ReadonlySet<number> = new Set([3, 4])

/**
 * Raydium's first exchange. `ray_log` reports the reserves before a swap, without the profit that the protocol may take;
 * where the log is truncated, the vaults' balances replace them.
 */
export const raydiumAmmV4: SolanaProtocol = {
  program: { discriminatorBytes: 1, eventsIn: 'ray_logs' },
  announcements: {
    [INITIALIZE2]: (log) => {
      const places = creationOf(log)
      return places === undefined ? undefined : readCreation(log, places)
    },
  },
  events: {
    [nthTopic(INITIALIZE2, 1)]: readLiquidity,
    [DEPOSIT]: readLiquidity,
    [WITHDRAW]: readLiquidity,
    [SWAP_BASE_IN]: readSwap,
    [SWAP_BASE_OUT]: readSwap,
    [SWAP_BASE_IN_V2]: readSwap,
    [SWAP_BASE_OUT_V2]: readSwap,
  },
  isSingleton: true,
  reserves: 'reported',
  identify: identifyBy((log) => poolByVaults(log, accountsOf)),
}

function creationOf({ data }: RawLog): CreationAccounts | undefined {
  return CREATIONS[InstructionRecord.read(data)?.accounts.length ?? 0]
}

function accountsOf(log: RawLog): PoolAccounts | undefined {
  const count = InstructionRecord.read(log.data)?.accounts.length ?? 0
  switch (log.topics[0]) {
    case SWAP_BASE_IN:
    case SWAP_BASE_OUT:
      return count === 18 ? SWAP_18 : count === 17 ? SWAP_17 : undefined
    case SWAP_BASE_IN_V2:
    case SWAP_BASE_OUT_V2:
      return count === 8 ? SWAP_8 : undefined
    case DEPOSIT:
      return count === 11 ? WITHOUT_MARKET : count === 14 || count === 15 ? WITH_MARKET : undefined
    case WITHDRAW:
      return count === 11 ? WITHOUT_MARKET : count >= 20 && count <= 23 ? WITH_MARKET : undefined
    default:
      return creationOf(log)
  }
}

function readLiquidity(log: RawLog) {
  const places = accountsOf(log)
  return places === undefined ? undefined : readVaultLiquidity(log, places)
}

function readSwap(log: RawLog): Swapped | undefined {
  const places = accountsOf(log)
  return places === undefined ? undefined : readVaultSwap(log, places, detailsOf)
}

function detailsOf(swap: VaultSwap): SwapDetails {
  const reserves = loggedReserves(swap) ?? balancesAfter(swap)
  return reserves === undefined ? {} : { reserves, price: ratioPrice(...reserves) }
}

/** type, two amounts, direction, user_source, pool_coin, pool_pc, amount */
function loggedReserves(swap: VaultSwap): readonly [bigint, bigint] | undefined {
  const { record } = swap
  const type = record.events[0]?.[0]
  if (type === undefined || !SWAP_LOGS.has(type)) return undefined
  const event = record.event(type.toString(16).padStart(2, '0'))
  if (event === undefined) return undefined
  event.skip(8 * 4)
  const coin = event.u64()
  const pc = event.u64()
  return event.isValid ? reservesAfter(swap, coin, pc) : undefined
}
