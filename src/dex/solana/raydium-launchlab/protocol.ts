import type { RawLog } from '../../../domain/envelope.ts'
import type { CurveClosed, PoolCreated } from '../../events.ts'
import type { ByteCursor } from '../byte-cursor.ts'
import { identifyBy, type ProvedPool, poolByVaults } from '../identify.ts'
import { hasDiscriminator, InstructionRecord } from '../instruction-record.ts'
import { ratioPrice } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import {
  creationIn,
  type PoolAccounts,
  readVaultSwap,
  type SwapDetails,
  type VaultSwap,
} from '../vault-events.ts'

const BUY_EXACT_IN = '0xfaea0d7bd59c13ec'
const BUY_EXACT_OUT = '0x18d3742869039938'
const SELL_EXACT_IN = '0x9527de9bd37c981a'
const SELL_EXACT_OUT = '0x5fc8472208090ba6'
const INITIALIZE = '0xafaf6d1f0d989bed'
const INITIALIZE_V2 = '0x4399af27da102620'
const INITIALIZE_TOKEN_2022 = '0x25be7ede2c9aab11'
const MIGRATE_TO_AMM = '0xcf52c091fecf91df'
const MIGRATE_TO_CPSWAP = '0x885cc8671cda908c'

const TRADE_EVENT = 'bddb7fd34ee661ee'
const POOL_CREATE_EVENT = '97d7e20976a173ae'

const TRADE: PoolAccounts = { pool: 4, user: 0, vaults: [7, 8] }
const TRADES = [BUY_EXACT_IN, BUY_EXACT_OUT, SELL_EXACT_IN, SELL_EXACT_OUT]
const WITH_PLATFORM = [...TRADES, INITIALIZE, INITIALIZE_V2, INITIALIZE_TOKEN_2022]
const PLATFORM = 3
/** The last purchase changes the status of the curve, in the same instruction. */
const COMPLETIONS = [BUY_EXACT_IN, BUY_EXACT_OUT].map((topic) => nthTopic(topic, 1))

/** The place of pool_status: behind the pool, thirteen amounts and the direction. */
const STATUS_AT = 8 + 32 + 13 * 8 + 1
const WAITS_FOR_MIGRATION = 1

/**
 * Raydium LaunchLab. Fees leave the quote vault beside the seller's share. The price follows from the virtual reserves
 * of a constant product curve; other curves are priced by their trades.
 */
export const raydiumLaunchLab: SolanaProtocol = {
  program: {
    discriminatorBytes: 8,
    eventsIn: 'calls',
    onlyIf: Object.fromEntries(COMPLETIONS.map((topic) => [topic, isCompleted])),
  },
  announcements: {
    [INITIALIZE]: readCreate,
    [INITIALIZE_V2]: readCreate,
    [INITIALIZE_TOKEN_2022]: readCreate,
  },
  events: {
    ...Object.fromEntries(
      TRADES.map((topic) => [topic, (log: RawLog) => readVaultSwap(log, TRADE, detailsOf)]),
    ),
    ...Object.fromEntries(COMPLETIONS.map((topic) => [topic, (log: RawLog) => readClosed(log, TRADE.pool)])),
    [MIGRATE_TO_AMM]: (log) => readClosed(log, 23),
    [MIGRATE_TO_CPSWAP]: (log) => readClosed(log, 17),
  },
  isSingleton: true,
  isLaunchPlatform: true,
  platformOf,
  reserves: 'reported',
  identify: identifyBy(provedCurve),
}

/** platform_config, at the same place in trades and creations. */
function platformOf({ topics, data }: RawLog): string | undefined {
  const topic = topics[0] ?? ''
  return WITH_PLATFORM.includes(topic) ? InstructionRecord.read(data)?.address(PLATFORM) : undefined
}

function isCompleted(events: readonly Uint8Array[]): boolean {
  const trade = events.find((event) => hasDiscriminator(event, TRADE_EVENT))
  return trade?.[STATUS_AT] === WAITS_FOR_MIGRATION
}

/** PoolCreateEvent: pool_state, creator, config, base_mint_param (decimals, name, symbol, uri), curve_param */
function readCreate(log: RawLog): PoolCreated | undefined {
  const record = InstructionRecord.read(log.data)
  if (record === undefined) return undefined
  const created = creationIn(record, { pool: 5, mints: [6, 7] }, undefined)
  const event = record.event(POOL_CREATE_EVENT)
  if (created === undefined || event === undefined) return created
  event.skip(32 * 3 + 1)
  for (let texts = 0; texts < 3; texts++) event.skipText()
  const isConstantProduct = event.u8() === 0
  // supply and, of a constant product, total_base_sell
  event.skip(isConstantProduct ? 16 : 8)
  const goalRaw = event.u64()
  return event.isValid && goalRaw > 0n ? { ...created, goalRaw } : created
}

type CurveTrade = {
  readonly totalBaseSell: bigint
  readonly virtualBase: bigint
  readonly virtualQuote: bigint
  readonly baseBefore: bigint
  readonly quoteBefore: bigint
  readonly baseAfter: bigint
  readonly quoteAfter: bigint
}

function tradeIn(event: ByteCursor | undefined): CurveTrade | undefined {
  if (event === undefined) return undefined
  event.skip(32)
  const trade = {
    totalBaseSell: event.u64(),
    virtualBase: event.u64(),
    virtualQuote: event.u64(),
    baseBefore: event.u64(),
    quoteBefore: event.u64(),
    baseAfter: event.u64(),
    quoteAfter: event.u64(),
  }
  return event.isValid ? trade : undefined
}

/** The event reports what was sold and raised; the curve still holds the rest of the tokens. */
function detailsOf(swap: VaultSwap): SwapDetails {
  const trade = tradeIn(swap.record.event(TRADE_EVENT))
  const { delta0, delta1 } = swap
  if (trade === undefined) return { price: ratioPrice(magnitude(delta0), magnitude(delta1)) }
  const { totalBaseSell, virtualBase, virtualQuote, baseAfter, quoteAfter } = trade
  const price = isConstantProduct(trade)
    ? ratioPrice(virtualBase - baseAfter, virtualQuote + quoteAfter)
    : ratioPrice(magnitude(delta0), magnitude(delta1))
  const left = totalBaseSell - baseAfter
  return { price, reserves: left < 0n ? undefined : [left, quoteAfter] }
}

/** Whether a trade kept the product of the virtual reserves, up to rounding and a thousandth for fees. */
function isConstantProduct(trade: CurveTrade): boolean {
  const { virtualBase, virtualQuote, baseBefore, quoteBefore, baseAfter, quoteAfter } = trade
  const before = (virtualBase - baseBefore) * (virtualQuote + quoteBefore)
  const after = (virtualBase - baseAfter) * (virtualQuote + quoteAfter)
  return before > 0n && after > 0n && magnitude(after - before) * 1_000n <= before
}

function readClosed(log: RawLog, place: number): CurveClosed | undefined {
  const pool = InstructionRecord.read(log.data)?.address(place)
  return pool === undefined ? undefined : { type: 'curveClosed', pool }
}

function provedCurve(log: RawLog): ProvedPool | undefined {
  const topic = log.topics[0] ?? ''
  const proved = TRADES.includes(topic) ? poolByVaults(log, () => TRADE) : undefined
  const trade = tradeIn(InstructionRecord.read(log.data)?.event(TRADE_EVENT))
  if (proved === undefined || trade === undefined || !isConstantProduct(trade)) return proved
  const { totalBaseSell, virtualBase, virtualQuote } = trade
  const lastBase = virtualBase - totalBaseSell
  if (lastBase <= 0n) return proved
  return { ...proved, goalRaw: (virtualQuote * totalBaseSell) / lastBase }
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}
