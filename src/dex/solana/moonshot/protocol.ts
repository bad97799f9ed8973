import type { RawLog } from '../../../domain/envelope.ts'
import type { CurveClosed, PoolCreated, Swapped } from '../../events.ts'
import { readKey } from '../borsh-key.ts'
import { identifyBy, type ProvedPool } from '../identify.ts'
import { InstructionRecord } from '../instruction-record.ts'
import { WSOL } from '../known-keys.ts'
import type { SolanaProtocol } from '../program.ts'

const BUY = '0x66063d1201daebea'
const SELL = '0x33e685a4017f83ad'
const TOKEN_MINT = '0x032ca4b87b0df5b3'
const MIGRATE_FUNDS = '0x2ae50ae7bd3ec1ae'

const TRADE_EVENT = 'bddb7fd34ee661ee'

const SENDER = 0
const CURVE = 2
const CURVE_VAULT = 3
const TRADED_MINT = 6

/**
 * Moonshot's bonding curves. Lamports move without an instruction on a sale, so the event reports them; the token side
 * must equal the transfers. No event reports what a curve holds, so trades set the price.
 */
export const moonshot: SolanaProtocol = {
  program: { discriminatorBytes: 8, eventsIn: 'data_logs' },
  announcements: { [TOKEN_MINT]: readCreate },
  events: {
    [BUY]: (log) => readTrade(log, true),
    [SELL]: (log) => readTrade(log, false),
    [MIGRATE_FUNDS]: readMigration,
  },
  isSingleton: true,
  isLaunchPlatform: true,
  reserves: 'unknown',
  identify: identifyBy(provedCurve, { kind: 'trades' }),
}

function readCreate(log: RawLog): PoolCreated | undefined {
  const record = InstructionRecord.read(log.data)
  const pool = record?.address(CURVE)
  const mint = record?.address(3)
  if (pool === undefined || mint === undefined || mint === WSOL) return undefined
  return { type: 'poolCreated', pool, tokens: [mint, WSOL], pricing: { kind: 'trades' } }
}

/** TradeEvent: amount, collateral_amount, dex_fee, helio_fee, allocation, curve, cost_token, sender, type, label */
function readTrade(log: RawLog, isBuy: boolean): Swapped | undefined {
  const record = InstructionRecord.read(log.data)
  const event = record?.event(TRADE_EVENT)
  const vault = record?.account(CURVE_VAULT)
  const recipient = record?.address(SENDER)
  if (record === undefined || event === undefined || vault === undefined) return undefined
  const amount = event.u64()
  const collateral = event.u64()
  event.skip(8 * 3)
  const pool = readKey(event)
  event.skip(32 + 32)
  const type = event.u8()
  if (!event.isValid || pool !== record.address(CURVE) || type !== (isBuy ? 0 : 1)) return undefined
  const delta0 = isBuy ? -amount : amount
  if (record.inflow(vault) !== delta0 || amount === 0n || collateral === 0n) return undefined
  return {
    type: 'swapped',
    pool,
    sender: undefined,
    recipient,
    token0: 0,
    token1: 1,
    delta0,
    delta1: isBuy ? collateral : -collateral,
    price: undefined,
  }
}

function readMigration(log: RawLog): CurveClosed | undefined {
  const pool = InstructionRecord.read(log.data)?.address(CURVE)
  return pool === undefined ? undefined : { type: 'curveClosed', pool }
}

function provedCurve(log: RawLog): ProvedPool | undefined {
  const record = InstructionRecord.read(log.data)
  const [topic] = log.topics
  const pool = record?.address(CURVE)
  const mint = topic === BUY || topic === SELL ? record?.address(TRADED_MINT) : undefined
  return pool === undefined || mint === undefined || mint === WSOL
    ? undefined
    : { pool, tokens: [mint, WSOL] }
}
