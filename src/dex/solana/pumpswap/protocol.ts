import type { RawLog } from '../../../domain/envelope.ts'
import type { Swapped } from '../../events.ts'
import { identifyBy, poolByVaults } from '../identify.ts'
import { ratioPrice } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import {
  balancesAfter,
  type PoolAccounts,
  readCreation,
  readVaultLiquidity,
  readVaultSwap,
  reservesAfter,
  type SwapDetails,
  type VaultSwap,
} from '../vault-events.ts'

const BUY = '0x66063d1201daebea'
const BUY_EXACT_QUOTE_IN = '0xc62e1552b4d9e870'
const SELL = '0x33e685a4017f83ad'
const CREATE_POOL = '0xe992d18ecf6840bc'
const DEPOSIT = '0xf223c68952e1f2b6'
const WITHDRAW = '0xb712469c946da122'

const BUY_EVENT = '67f4521f2cf57777'
const SELL_EVENT = '3e2f370aa503dc2a'

const TRADE_ACCOUNTS: PoolAccounts = { pool: 0, user: 1, vaults: [7, 8] }
const LIQUIDITY_ACCOUNTS: PoolAccounts = { pool: 0, user: 2, vaults: [9, 10] }
const CREATION = { pool: 0, user: 2, mints: [3, 4], vaults: [9, 10] } as const

/**
 * PumpSwap. On a sale, fees leave the quote vault beside the seller's share; all of it left the pool. Events report the
 * reserves before the trade, and since 2026 a virtual part of the quote reserve that belongs to the price.
 */
export const pumpSwap: SolanaProtocol = {
  program: { discriminatorBytes: 8, eventsIn: 'calls' },
  announcements: { [CREATE_POOL]: (log) => readCreation(log, CREATION) },
  events: {
    [nthTopic(CREATE_POOL, 1)]: (log) => readVaultLiquidity(log, LIQUIDITY_ACCOUNTS),
    [BUY]: readTrade,
    [BUY_EXACT_QUOTE_IN]: readTrade,
    [SELL]: readTrade,
    [DEPOSIT]: (log) => readVaultLiquidity(log, LIQUIDITY_ACCOUNTS),
    [WITHDRAW]: (log) => readVaultLiquidity(log, LIQUIDITY_ACCOUNTS),
  },
  isSingleton: true,
  reserves: 'reported',
  identify: identifyBy((log) => poolByVaults(log, accountsOf)),
}

function accountsOf({ topics }: RawLog): PoolAccounts {
  const [topic] = topics
  const isTrade = topic === BUY || topic === BUY_EXACT_QUOTE_IN || topic === SELL
  return isTrade ? TRADE_ACCOUNTS : LIQUIDITY_ACCOUNTS
}

function readTrade(log: RawLog): Swapped | undefined {
  return readVaultSwap(log, TRADE_ACCOUNTS, detailsOf)
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
