import type { RawLog } from '../../../domain/envelope.ts'
import type { CurveClosed, PoolCreated, PriceSet, ReservesSet, Swapped } from '../../events.ts'
import { readKey } from '../borsh-key.ts'
import { identifyBy, type ProvedPool } from '../identify.ts'
import { hasDiscriminator, InstructionRecord } from '../instruction-record.ts'
import { SYSTEM_PROGRAM, WSOL } from '../known-keys.ts'
import { ratioPrice } from '../pool-price.ts'
import { nthTopic, type SolanaProtocol } from '../program.ts'
import { createdPool } from '../vault-events.ts'
import { type CurveState, createEvent, goalOf, tradeEvent } from './pump-events.ts'

const CREATE = '0x181ec828051c0777'
const CREATE_V2 = '0xd6904cec5f8b31b4'
const BUY = '0x66063d1201daebea'
const BUY_EXACT_SOL_IN = '0x38fc74089edfcd5f'
const SELL = '0x33e685a4017f83ad'
const BUY_V2 = '0xb817ee6167c5d33d'
const BUY_EXACT_QUOTE_IN_V2 = '0xc2ab1c46684d5b2f'
const SELL_V2 = '0x5df6823ce7e940b2'
const MIGRATE = '0x9beae792ec9ea21e'
const MIGRATE_V2 = '0xbbcb121fceedfe29'
const SET_MAYHEM_VIRTUAL_PARAMS = '0x3da9bcbf99952a61'

const COMPLETE_EVENT = '5f72619cd42e9808'
const MAYHEM_PARAMS_EVENT = '757be4b6a1a8dcd6'

/** Places of a trade's accounts. Only the second generation names the quote mint. */
type TradeAccounts = {
  readonly mint: number
  readonly curve: number
  readonly vault: number
  readonly user: number
  readonly quote?: { readonly mint: number; readonly vault: number }
}

const FIRST: TradeAccounts = { mint: 2, curve: 3, vault: 4, user: 6 }
const SECOND: TradeAccounts = { mint: 1, curve: 10, vault: 11, user: 13, quote: { mint: 2, vault: 12 } }

const TRADES: Readonly<Record<string, TradeAccounts>> = {
  [BUY]: FIRST,
  [BUY_EXACT_SOL_IN]: FIRST,
  [SELL]: FIRST,
  [BUY_V2]: SECOND,
  [BUY_EXACT_QUOTE_IN_V2]: SECOND,
  [SELL_V2]: SECOND,
}
const MAYHEM = { mint: 2, curve: 4 } as const
const PURCHASES = [BUY, BUY_EXACT_SOL_IN, BUY_V2, BUY_EXACT_QUOTE_IN_V2]
/** The last purchase completes the curve, in the same instruction. */
const COMPLETIONS = PURCHASES.map((topic) => nthTopic(topic, 1))

/**
 * Pump.fun's bonding curves. A sale moves lamports without any instruction, so the event reports the amounts; the token
 * side must equal the transfers. Price and reserves are those after the trade, and fees are not part of the amounts.
 */
export const pumpFun: SolanaProtocol = {
  program: {
    discriminatorBytes: 8,
    eventsIn: 'calls',
    onlyIf: Object.fromEntries(COMPLETIONS.map((topic) => [topic, isCompleted])),
  },
  announcements: { [CREATE]: readCreate, [CREATE_V2]: readCreate },
  events: {
    [nthTopic(CREATE, 1)]: readFirstReserves,
    [nthTopic(CREATE_V2, 1)]: readFirstReserves,
    ...Object.fromEntries(Object.keys(TRADES).map((topic) => [topic, readTrade])),
    ...Object.fromEntries(COMPLETIONS.map((topic) => [topic, readComplete])),
    [MIGRATE]: (log: RawLog) => readMigrate(log, 3),
    [MIGRATE_V2]: (log: RawLog) => readMigrate(log, 4),
    [SET_MAYHEM_VIRTUAL_PARAMS]: readMayhemParams,
  },
  isSingleton: true,
  isLaunchPlatform: true,
  reserves: 'reported',
  identify: identifyBy(provedCurve),
}

function isCompleted(events: readonly Uint8Array[]): boolean {
  return events.some((event) => hasDiscriminator(event, COMPLETE_EVENT))
}

function readCreate(log: RawLog): PoolCreated | undefined {
  const created = InstructionRecord.read(log.data)?.event(createEvent.discriminator)
  const event = created === undefined ? undefined : createEvent.read(created)
  if (event === undefined) return undefined
  const { curve, mint, quoteMint, state } = event
  const price = state === undefined ? undefined : ratioPrice(state.virtualToken, state.virtualQuote)
  const pool = createdPool(curve, [mint, quoteAsset(quoteMint)], price)
  const goalRaw = state === undefined ? undefined : goalOf(state)
  return goalRaw === undefined ? pool : { ...pool, goalRaw }
}

function readFirstReserves(log: RawLog): ReservesSet | undefined {
  const created = InstructionRecord.read(log.data)?.event(createEvent.discriminator)
  const event = created === undefined ? undefined : createEvent.read(created)
  if (event?.state === undefined) return undefined
  const { realToken, realQuote } = event.state
  return { type: 'reservesSet', pool: event.curve, reserve0: realToken, reserve1: realQuote }
}

type Trade = {
  readonly mint: string
  readonly curve: string
  readonly quote: string
  readonly user: string
  readonly delta0: bigint
  readonly delta1: bigint
  readonly state: CurveState | undefined
}

function tradeOf(log: RawLog): Trade | undefined {
  const places = TRADES[log.topics[0]?.slice(0, BUY.length) ?? '']
  const record = places === undefined ? undefined : InstructionRecord.read(log.data)
  if (record === undefined || places === undefined) return undefined
  const found = record.event(tradeEvent.discriminator)
  const event = found === undefined ? undefined : tradeEvent.read(found)
  const mint = record.address(places.mint)
  const curve = record.address(places.curve)
  const vault = record.account(places.vault)
  const user = record.address(places.user)
  if (event === undefined || vault === undefined || mint !== event.mint) return undefined
  if (curve === undefined || user === undefined) return undefined
  const quote = quoteAsset(places.quote === undefined ? SYSTEM_PROGRAM : record.address(places.quote.mint))
  const delta0 = event.isBuy ? -event.tokenAmount : event.tokenAmount
  if (record.inflow(vault) !== delta0 || quote === mint) return undefined
  const isNative = quote === WSOL
  const quoteVault = places.quote === undefined ? undefined : record.account(places.quote.vault)
  const quoteAmount = isNative ? event.solAmount : event.quoteAmount
  const paid = event.isBuy ? quoteAmount : quoteAmount === undefined ? undefined : -quoteAmount
  const moved = isNative || quoteVault === undefined ? paid : record.inflow(quoteVault)
  if (paid === undefined || moved !== paid) return undefined
  if (delta0 === 0n || paid === 0n) return undefined
  return { mint, curve, quote, user, delta0, delta1: paid, state: isNative ? event.sol : event.quote }
}

function readTrade(log: RawLog): Swapped | undefined {
  const trade = tradeOf(log)
  if (trade === undefined) return undefined
  const { curve, user, delta0, delta1, state } = trade
  const swap = {
    type: 'swapped',
    pool: curve,
    sender: undefined,
    recipient: user,
    token0: 0,
    token1: 1,
    delta0,
    delta1,
    price: state === undefined ? undefined : ratioPrice(state.virtualToken, state.virtualQuote),
  } as const
  return state === undefined ? swap : { ...swap, reserves: [state.realToken, state.realQuote] }
}

/** CompleteEvent: user, mint, bonding_curve, timestamp */
function readComplete(log: RawLog): CurveClosed | undefined {
  const event = InstructionRecord.read(log.data)?.event(COMPLETE_EVENT)
  if (event === undefined) return undefined
  event.skip(64)
  const pool = readKey(event)
  return event.isValid ? { type: 'curveClosed', pool } : undefined
}

function readMigrate(log: RawLog, curve: number): CurveClosed | undefined {
  const pool = InstructionRecord.read(log.data)?.address(curve)
  return pool === undefined ? undefined : { type: 'curveClosed', pool }
}

/**
 * UpdateMayhemVirtualParamsEvent: timestamp, mint, virtual_token_reserves, virtual_sol_reserves, and both as they are from
 * now on. It has the mint but not the curve.
 */
function readMayhemParams(log: RawLog): PriceSet | undefined {
  const record = InstructionRecord.read(log.data)
  const event = record?.event(MAYHEM_PARAMS_EVENT)
  const pool = record?.address(MAYHEM.curve)
  if (event === undefined || pool === undefined) return undefined
  event.skip(8)
  const mint = readKey(event)
  event.skip(16)
  const virtualToken = event.u64()
  const virtualSol = event.u64()
  const price = event.isValid ? ratioPrice(virtualToken, virtualSol) : undefined
  if (price === undefined || record?.address(MAYHEM.mint) !== mint) return undefined
  return { type: 'priceSet', pool, price }
}

function provedCurve(log: RawLog): ProvedPool | undefined {
  const trade = tradeOf(log)
  if (trade === undefined) return undefined
  const { curve, mint, quote, state } = trade
  const goalRaw = state === undefined ? undefined : goalOf(state)
  return { pool: curve, tokens: [mint, quote], goalRaw }
}

/** The native coin appears as the system program, or wrapped. */
function quoteAsset(mint: string | undefined): string {
  return mint === undefined || mint === SYSTEM_PROGRAM ? WSOL : mint
}
