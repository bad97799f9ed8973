import { base58Text } from '../../../domain/base58.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { LiquidityAdded, LiquidityRemoved, PoolCreated, PoolPrice, PriceSet } from '../../events.ts'
import type { Answer, DexDeployment, Inquiry } from '../../protocol.ts'
import { readKey } from '../borsh-key.ts'
import { ByteCursor } from '../byte-cursor.ts'
import { InstructionRecord } from '../instruction-record.ts'
import type { SolanaProtocol } from '../program.ts'
import {
  balancesAfter,
  liquidityOf,
  type PoolAccounts,
  readVaultLiquidity,
  readVaultSwap,
  type SwapDetails,
  type VaultSwap,
} from '../vault-events.ts'

const SWAPS = [
  // swap, swap2, swap_exact_out, swap_exact_out2, swap_with_price_impact, swap_with_price_impact2
  '0xf8c69e91e17587c8',
  '0x414b3f4ceb5b5b88',
  '0xfa49652126cf4bb8',
  '0x2bd7f784893cf351',
  '0x38ade6d0ade49ccd',
  '0x4a62c0d6b1334b33',
]
const CREATIONS = [
  // initialize_lb_pair, ...2, customizable_permissionless, ...2, permission
  '0x2d9aedd2dd0fa65c',
  '0x493b2478ed536cc6',
  '0x2e2729876fb7c840',
  '0xf349817e3313f16b',
  '0x6c66d555fb033515',
]
const ADDITIONS = [
  // add_liquidity, ...2, by_strategy, ...2, by_weight, ...2, one_side, strategy_one_side, precise, precise2
  '0xb59d59438fb63448',
  '0xe4a24e1c46db7473',
  '0x0703967f94283dc8',
  '0x03dd95da6f8d76d5',
  '0x1c8cee63e7a21595',
  '0xd13b3f5b6fc899e4',
  '0x5e9b6797465fdca5',
  '0x2905eeaf64e106cd',
  '0xa1c26754ab47fa9a',
  '0x2133a3c975627de7',
]
const REMOVALS = [
  // remove_liquidity, ...2, all, by_range, ...2
  '0x5055d14818ceb16c',
  '0xe6d7527ff165e392',
  '0x0a333d2370691855',
  '0x1a526698f04a691a',
  '0xcc02c391359191cd',
]
const REBALANCE = '0x5c04b0c177b95309'
/** Anyone may move the active bin over bins without liquidity. */
const GO_TO_A_BIN = '0x9248aee028fd54ae'

const SWAP_EVENT = '516ce3becdd00ac4'
/** The current program emits both for each swap. */
const SWAP2_EVENT = '2e7452d7941b544d'
const CREATE_EVENT = 'b94afc7d1bd7bc6f'
const ADD_EVENT = '1f5e7d5ae3343dba'
const REMOVE_EVENT = '74f461e8671f983a'
const GO_TO_A_BIN_EVENT = '3b8a4c448a83b043'

const SWAP_ACCOUNTS: PoolAccounts = { pool: 0, user: 10, vaults: [2, 3] }
const REBALANCE_ACCOUNTS: PoolAccounts = { pool: 1, user: 9, vaults: [5, 6] }

/** The engine counts bins from this one, whose price is one; the program counts from zero. */
const MIDDLE_BIN = 2 ** 23
const MAX_BIN = 443_636

/** Layout of the account LbPair. */
const PAIR_DISCRIMINATOR = '210b3162b565b10d'
const BIN_STEP_AT = 80
const MINTS_AT = 88
const MAX_BIN_STEP = 0xffff

/** Meteora DLMM: the price is that of the bin where a swap ends, and only the pool's account has the size of a bin. */
export const meteoraDlmm: SolanaProtocol = {
  program: { discriminatorBytes: 8, eventsIn: 'calls' },
  announcements: Object.fromEntries(CREATIONS.map((topic) => [topic, readCreate])),
  events: {
    ...Object.fromEntries(
      SWAPS.map((topic) => [topic, (log: RawLog) => readVaultSwap(log, SWAP_ACCOUNTS, detailsOf)]),
    ),
    ...Object.fromEntries(ADDITIONS.map((topic) => [topic, (log: RawLog) => readLiquidity(log, ADD_EVENT)])),
    ...Object.fromEntries(
      REMOVALS.map((topic) => [topic, (log: RawLog) => readLiquidity(log, REMOVE_EVENT)]),
    ),
    [REBALANCE]: (log) => readVaultLiquidity(log, REBALANCE_ACCOUNTS),
    [GO_TO_A_BIN]: readMove,
  },
  isSingleton: true,
  reserves: 'reported',
  identify,
}

/** LbPairCreate: lb_pair, bin_step, token_x, token_y */
function readCreate(log: RawLog): PoolCreated | undefined {
  const event = InstructionRecord.read(log.data)?.event(CREATE_EVENT)
  if (event === undefined) return undefined
  const pool = readKey(event)
  const binStep = event.u16()
  const tokens = [readKey(event), readKey(event)]
  if (!event.isValid || binStep === 0 || tokens[0] === tokens[1]) return undefined
  return { type: 'poolCreated', pool, tokens, pricing: { kind: 'bins', binStep } }
}

/** Both events begin with lb_pair, from, start_bin_id, end_bin_id. */
function detailsOf(swap: VaultSwap): SwapDetails {
  const event = swap.record.event(SWAP2_EVENT) ?? swap.record.event(SWAP_EVENT)
  const reserves = balancesAfter(swap)
  if (event === undefined) return { reserves }
  event.skip(32 + 32 + 4)
  const bin = event.i32()
  return { reserves, price: event.isValid ? binPrice(bin) : undefined }
}

function binPrice(bin: number): PoolPrice | undefined {
  return Math.abs(bin) > MAX_BIN ? undefined : { kind: 'bin', id: bin + MIDDLE_BIN }
}

/** GoToABin: lb_pair, from_bin_id, to_bin_id */
function readMove(log: RawLog): PriceSet | undefined {
  const event = InstructionRecord.read(log.data)?.event(GO_TO_A_BIN_EVENT)
  if (event === undefined) return undefined
  const pool = readKey(event)
  event.skip(4)
  const price = binPrice(event.i32())
  return event.isValid && price !== undefined ? { type: 'priceSet', pool, price } : undefined
}

/** lb_pair, from, position, amounts, active_bin_id */
function readLiquidity(log: RawLog, discriminator: string): LiquidityAdded | LiquidityRemoved | undefined {
  const event = InstructionRecord.read(log.data)?.event(discriminator)
  if (event === undefined) return undefined
  const pool = readKey(event)
  const user = readKey(event)
  event.skip(32)
  const amountX = event.u64()
  const amountY = event.u64()
  if (!event.isValid) return undefined
  const isAdded = discriminator === ADD_EVENT
  return liquidityOf({ pool, user }, isAdded ? amountX : -amountX, isAdded ? amountY : -amountY, undefined)
}

/** A call to an account returns its data. */
function* identify(pool: string, deployments: readonly DexDeployment[], log?: RawLog): Inquiry {
  const factory = deployments.find((deployment) => deployment.factory === log?.address)?.factory
  const [data]: readonly Answer[] = yield factory === undefined ? [] : [{ to: pool, data: '0x' }]
  if (factory === undefined || data === undefined || data.length < MINTS_AT + 64) return undefined
  if (Buffer.from(data.subarray(0, 8)).toString('hex') !== PAIR_DISCRIMINATOR) return undefined
  const binStep = new ByteCursor(data, BIN_STEP_AT).u16()
  const tokens = [base58Text(data, MINTS_AT), base58Text(data, MINTS_AT + 32)]
  if (binStep < 1 || binStep > MAX_BIN_STEP || tokens[0] === tokens[1]) return undefined
  return { factory, tokens, pricing: { kind: 'bins', binStep }, reservesBefore: undefined }
}
