import type { RawLog } from '../../../domain/envelope.ts'
import type { ReservesSet, Swapped } from '../../events.ts'
import { identifyBy, poolByVaults } from '../identify.ts'
import { ratioPrice } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import {
  balancesAfter,
  liquidityReaders,
  type PoolAccounts,
  type PoolPlaces,
  readCreation,
  reservesAfter,
  type SwapDetails,
  swapReaders,
  type VaultSwap,
  vaultPool,
} from '../vault-events.ts'

const BUY = '0x66063d1201daebea'
const BUY_EXACT_QUOTE_IN = '0xc62e1552b4d9e870'
const SELL = '0x33e685a4017f83ad'
const CREATE_POOL = '0xe992d18ecf6840bc'
const DEPOSIT = '0xf223c68952e1f2b6'
const WITHDRAW = '0xb712469c946da122'
const INIT_BOOST = '0x8ce9215e845ac28f'
const BOOST_BUY_AND_BURN = '0x694406af000723a2'

const BUY_EVENT = '67f4521f2cf57777'
const SELL_EVENT = '3e2f370aa503dc2a'
const INIT_BOOST_EVENT = 'ae7c4af90451f611'
const BOOST_EVENT = '3f451c16305cc2b9'

const TRADE_ACCOUNTS: PoolAccounts = { pool: 0, user: 1, vaults: [7, 8] }
const LIQUIDITY_ACCOUNTS: PoolAccounts = { pool: 0, user: 2, vaults: [9, 10] }
const BOOST_ACCOUNTS: PoolAccounts = { pool: 0, user: 1, vaults: [5, 6] }
const TRADES: PoolPlaces = {
  [BUY]: TRADE_ACCOUNTS,
  [BUY_EXACT_QUOTE_IN]: TRADE_ACCOUNTS,
  [SELL]: TRADE_ACCOUNTS,
}
const LIQUIDITY: PoolPlaces = {
  [nthTopic(CREATE_POOL, 1)]: LIQUIDITY_ACCOUNTS,
  [DEPOSIT]: LIQUIDITY_ACCOUNTS,
  [WITHDRAW]: LIQUIDITY_ACCOUNTS,
}
const CREATION = { pool: 0, user: 2, mints: [3, 4], vaults: [9, 10] } as const

/**
 * PumpSwap. On a sale, fees leave the quote vault beside the seller's share; all of it left the pool. Events report the
 * reserves before the trade, and since 2026 a virtual part of the quote reserve that belongs to the price.
 */
export const pumpSwap: SolanaProtocol = {
  program: { discriminatorBytes: 8, eventsIn: 'calls' },
  announcements: { [CREATE_POOL]: (log) => readCreation(log, CREATION) },
  events: {
    ...swapReaders(TRADES, detailsOf),
    ...liquidityReaders(LIQUIDITY),
    [INIT_BOOST]: readBoostStart,
    [BOOST_BUY_AND_BURN]: readBoost,
  },
  isSingleton: true,
  reserves: 'reported',
  identify: identifyBy((log) => poolByVaults(log, accountsOf)),
}

function accountsOf({ topics }: RawLog): PoolAccounts | undefined {
  const topic = topics[0] ?? ''
  if (topic === INIT_BOOST || topic === BOOST_BUY_AND_BURN) return BOOST_ACCOUNTS
  return TRADES[topic] ?? LIQUIDITY[topic]
}

/**
 * InitBoostEvent: timestamp, mint, bonding_curve, pool, virtual_quote_reserves, real_quote_reserves_after. A part of the
 * quote reserve moves to the boost vault and becomes virtual, so the price stays.
 */
function readBoostStart(log: RawLog): ReservesSet | undefined {
  const found = vaultPool(log, BOOST_ACCOUNTS)
  const event = found?.record.event(INIT_BOOST_EVENT)
  const base = found?.record.balanceOf(found.vaults[0])?.after
  if (found === undefined || event === undefined || base === undefined) return undefined
  event.skip(8 + 32 * 3 + 16)
  const quote = event.u64()
  return event.isValid
    ? { type: 'reservesSet', pool: found.pool, reserve0: base, reserve1: quote }
    : undefined
}

/**
 * BoostBuyAndBurnEvent: timestamp, mint, bonding_curve, pool, authority, quote requested, quote used, base burned,
 * virtual_quote_reserves, real_quote_reserves_after, base_reserves_after. The protocol buys from the pool with the boost
 * vault, and burns what it bought in the pool's own vault.
 */
function readBoost(log: RawLog): Swapped | undefined {
  const found = vaultPool(log, BOOST_ACCOUNTS)
  const event = found?.record.event(BOOST_EVENT)
  if (found === undefined || event === undefined) return undefined
  event.skip(8 + 32 * 4 + 8)
  const paid = event.u64()
  const burned = event.u64()
  const virtualQuote = event.i128()
  const quoteAfter = event.u64()
  const baseAfter = event.u64()
  if (!event.isValid || burned === 0n || paid === 0n) return undefined
  const { record, pool, vaults, user: recipient } = found
  if (record.inflow(vaults[1]) !== paid) return undefined
  return {
    ...{ type: 'swapped', pool, sender: undefined, recipient, token0: 0, token1: 1 },
    ...{ delta0: -burned, delta1: paid, price: ratioPrice(baseAfter, quoteAfter + virtualQuote) },
    reserves: [baseAfter, quoteAfter],
  }
}

function detailsOf(swap: VaultSwap): SwapDetails {
  const { record } = swap
  const event = record.event(BUY_EVENT) ?? record.event(SELL_EVENT)
  const isBuy = record.event(BUY_EVENT) !== undefined
  const balances = balancesAfter(swap)
  if (event === undefined) return { reserves: balances, price: balances && ratioPrice(...balances) }
  // timestamp, base amount, limit, user reserves (base, quote)
  event.skip(8 * 5)
  const baseBefore = event.u64()
  const quoteBefore = event.u64()
  const reserves = event.isValid ? reservesAfter(swap, baseBefore, quoteBefore) : balances
  if (reserves === undefined) return {}
  // Seven amounts and rates, and six accounts.
  event.skip(8 * 7 + 32 * 6)
  // coin_creator, rate, fee
  event.skip(32 + 16)
  if (isBuy) {
    // track_volume, three amounts, last_update; min_base_amount_out
    event.skip(1 + 32 + 8)
    event.skipText()
  }
  // cashback and buyback, each a rate and an amount
  event.skip(32)
  const virtualQuote = event.i128()
  const quote = reserves[1] + (event.isValid ? virtualQuote : 0n)
  return { reserves, price: ratioPrice(reserves[0], quote) }
}
