import type { RawLog } from '../../../domain/envelope.ts'
import type { CurveClosed, PoolCreated } from '../../events.ts'
import { identifyBy, type ProvedPool, poolByVaults } from '../identify.ts'
import { hasDiscriminator, InstructionRecord } from '../instruction-record.ts'
import { sqrtX64Price } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import {
  balancesAfter,
  creationIn,
  type PoolAccounts,
  readVaultSwap,
  type SwapDetails,
  type VaultSwap,
} from '../vault-events.ts'

/** swap, swap2, swap2_with_transfer_hook */
const SWAPS = ['0xf8c69e91e17587c8', '0x414b3f4ceb5b5b88', '0xb75d992818e6c297']
/** initialize_virtual_pool with an SPL token, with Token-2022, with a transfer hook */
const CREATIONS = ['0x8c55d7b06636684f', '0xa976334e916edc9b', '0xb60de9b12a918702']
/** migrate_meteora_damm, migration_damm_v2 */
const MIGRATIONS = ['0x1b013016b43f76d9', '0x9ca9e66735e45040']
/** The last purchase completes the curve, in the same instruction. */
const COMPLETIONS = SWAPS.map((topic) => nthTopic(topic, 1))

/** EvtSwap2 and its form with a transfer hook; EvtSwap, which is emitted too, repeats the same swap. */
const SWAP2_EVENTS = ['bd4233a826507599', '863ba8785e3372e7']
const COMPLETE_EVENTS = ['e5e756549c864b18', '3b2f6dcd0d1f2c9f']

const SWAP_ACCOUNTS: PoolAccounts = { pool: 2, user: 9, vaults: [5, 6] }

/** Meteora's dynamic bonding curves. A migration emits nothing itself; the new pool's creation is below it. */
export const meteoraDbc: SolanaProtocol = {
  program: {
    discriminatorBytes: 8,
    eventsIn: 'calls',
    onlyIf: Object.fromEntries(COMPLETIONS.map((topic) => [topic, isCompleted])),
  },
  announcements: Object.fromEntries(CREATIONS.map((topic) => [topic, readCreate])),
  events: {
    ...Object.fromEntries(
      SWAPS.map((topic) => [topic, (log: RawLog) => readVaultSwap(log, SWAP_ACCOUNTS, detailsOf)]),
    ),
    ...Object.fromEntries(
      COMPLETIONS.map((topic) => [topic, (log: RawLog) => readClosed(log, SWAP_ACCOUNTS.pool)]),
    ),
    ...Object.fromEntries(MIGRATIONS.map((topic) => [topic, (log: RawLog) => readClosed(log, 0)])),
  },
  isSingleton: true,
  isLaunchPlatform: true,
  reserves: 'reported',
  identify: identifyBy(provedCurve),
}

function isCompleted(events: readonly Uint8Array[]): boolean {
  return events.some((event) => COMPLETE_EVENTS.some((complete) => hasDiscriminator(event, complete)))
}

function readCreate(log: RawLog): PoolCreated | undefined {
  const record = InstructionRecord.read(log.data)
  return record === undefined ? undefined : creationIn(record, { pool: 5, mints: [3, 4] }, undefined)
}

/**
 * EvtSwap2: pool, config, trade_direction, has_referral, params (17 bytes), four amounts, next_sqrt_price, three fees,
 * quote_reserve_amount, migration_threshold
 */
function swapIn(record: InstructionRecord) {
  for (const discriminator of SWAP2_EVENTS) {
    const event = record.event(discriminator)
    if (event === undefined) continue
    event.skip(32 + 32 + 2 + 17 + 8 * 4)
    const price = sqrtX64Price(event.u128())
    event.skip(8 * 3)
    const quoteReserve = event.u64()
    const goalRaw = event.u64()
    if (event.isValid) return { price, quoteReserve, goalRaw }
  }
  return undefined
}

function detailsOf(swap: VaultSwap): SwapDetails {
  const reported = swapIn(swap.record)
  const balances = balancesAfter(swap)
  if (reported === undefined) return { reserves: balances }
  const { price, quoteReserve, goalRaw } = reported
  return { price, goalRaw, reserves: balances && [balances[0], quoteReserve] }
}

function readClosed(log: RawLog, place: number): CurveClosed | undefined {
  const pool = InstructionRecord.read(log.data)?.address(place)
  return pool === undefined ? undefined : { type: 'curveClosed', pool }
}

function provedCurve(log: RawLog): ProvedPool | undefined {
  const isSwap = SWAPS.includes(log.topics[0] ?? '')
  const proved = isSwap ? poolByVaults(log, () => SWAP_ACCOUNTS) : undefined
  const record = InstructionRecord.read(log.data)
  if (proved === undefined || record === undefined) return undefined
  return { ...proved, goalRaw: swapIn(record)?.goalRaw }
}
