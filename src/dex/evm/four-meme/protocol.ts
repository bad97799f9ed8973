import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { CurveClosed, CurveOpened, PoolCreated, Swapped } from '../../events.ts'
import type {
  Answer,
  DexDeployment,
  FindPools,
  FoundPool,
  Inquiry,
  Protocol,
  StateInquiry,
} from '../../protocol.ts'
import { addressAt, callData, isTextAt, isWords, itemsAt, uintAt, wordAt } from '../abi.ts'
import {
  curveId,
  curveOf,
  curveTrade,
  launchEventsOf,
  NATIVE,
  resolveCurve,
  type TokenPlaces,
} from '../bonding-curve.ts'
import { QUOTED_PART } from '../pair-state.ts'
import { MAX_RAISING, QUOTE, readFourMemeCurve, STATUS, TOKEN_INFOS, TRADING } from './market.ts'

/**
 * TokenCreate(address creator, address token, uint256 requestId, string name, string symbol, uint256 totalSupply,
 * uint256 launchTime, uint256 launchFee). No parameter is indexed, here and below.
 */
const TOKEN_CREATE = '0x396d5e902b675b032348d3d2e9517ee8f0c4a926603fbc075d3d282ff00cad20'
/** TokenPurchase(address token, address account, uint256 price, uint256 amount, uint256 cost, uint256 fee, uint256 offers, uint256 funds) */
const TOKEN_PURCHASE = '0x7db52723a3b2cdd6164364b3b766e65e540d7be48ffa89582956d8eaebe62942'
/** TokenSale(address token, address account, uint256 price, uint256 amount, uint256 cost, uint256 fee, uint256 offers, uint256 funds) */
const TOKEN_SALE = '0x0a5575b3648bae2210cee56bf33254cc1ddfbc7bf637c0af2ac18b14fb1bae19'
/** TradeStop(address token) */
const TRADE_STOP = '0x8f9ab4bd7eff0d085f91575d50cd83f97aa5258e24ded7630d4fd6739e857132'
/** LiquidityAdded(address base, uint256 offers, address quote, uint256 funds) */
const LIQUIDITY_ADDED = '0xc18aa71171b358b706fe3dd345299685ba21a5316c66ffa9e319268b033c44b0'

/** TokenPurchase(address token, address account, uint256 tokenAmount, uint256 etherAmount) */
const TOKEN_PURCHASE_V1 = '0x623b3804fa71d67900d064613da8f94b9617215ee90799290593e1745087ad18'
/** TokenSale(address token, address account, uint256 tokenAmount, uint256 etherAmount) */
const TOKEN_SALE_V1 = '0x3aa3f154f6bf5e3490d1a7205aa8d1412e76d26f9d186830de86fb9309224040'
/** TokenPurchase(address token, address account, uint256 tokenAmount, uint256 etherAmount, uint256 fee) */
const TOKEN_PURCHASE_V1_FEE = '0x00fe0e12b43090c1fc19a34aefa5cc138a4eeafc60ab800f855c730b3fb9480e'
/** TokenSale(address token, address account, uint256 tokenAmount, uint256 etherAmount, uint256 fee) */
const TOKEN_SALE_V1_FEE = '0x80d4e495cda89b31af98c8e977ff11f417bafcee26902a17a15be51830c47533'

const INFO_WORDS = 13
const OFFERS = 7
const FUNDS = 8
/** calcBuyCost(TokenInfo info, uint256 amount): without fees */
const CALC_BUY_COST = '0x467dffe6'

const TOKEN_AT: TokenPlaces = {
  [TOKEN_CREATE]: 1,
  [TOKEN_PURCHASE]: 0,
  [TOKEN_SALE]: 0,
  [TRADE_STOP]: 0,
  [LIQUIDITY_ADDED]: 0,
  [TOKEN_PURCHASE_V1]: 0,
  [TOKEN_SALE_V1]: 0,
  [TOKEN_PURCHASE_V1_FEE]: 0,
  [TOKEN_SALE_V1_FEE]: 0,
}

/**
 * four.meme since September 2024 (TokenManager2). A trade event reports the tokens left for sale and the funds raised,
 * which are the curve's reserves. Neither it nor TokenCreate reports the quote asset, so it is read once from the
 * manager.
 */
export const fourMeme: Protocol = {
  announcements: {},
  events: {
    [TOKEN_CREATE]: readOpened,
    [TOKEN_PURCHASE]: (log) => readTrade(log, true),
    [TOKEN_SALE]: (log) => readTrade(log, false),
    [TRADE_STOP]: readStopped,
    [LIQUIDITY_ADDED]: readLiquidityAdded,
  },
  isSingleton: true,
  payerOf: ({ address }) => address,
  isLaunchPlatform: true,
  trial: 'curve',
  readCurve: readFourMemeCurve,
  launchEvents: launchEventsOf(
    { [TOKEN_CREATE]: readOpened, [TRADE_STOP]: readStopped, [LIQUIDITY_ADDED]: readLiquidityAdded },
    TOKEN_AT,
    { created: TOKEN_CREATE, graduated: [TRADE_STOP, LIQUIDITY_ADDED] },
  ),
  reserves: 'reported',
  identify,
  findPools,
  readState,
}

/**
 * four.meme before September 2024 (TokenManager): every token was sold for the native coin. Its authors publish the
 * trade events with and without the fee. The events report neither the remaining tokens nor the raised funds, and no
 * source reports the goal. A third layout with six parameters exists on chain, but it is undocumented and therefore
 * ignored.
 */
export const fourMemeV1: Protocol = {
  announcements: { [TOKEN_CREATE]: readCreated },
  events: {
    [TOKEN_PURCHASE_V1]: (log) => readTradeV1(log, true, 4),
    [TOKEN_SALE_V1]: (log) => readTradeV1(log, false, 4),
    [TOKEN_PURCHASE_V1_FEE]: (log) => readTradeV1(log, true, 5),
    [TOKEN_SALE_V1_FEE]: (log) => readTradeV1(log, false, 5),
    [TRADE_STOP]: readStopped,
  },
  isSingleton: true,
  payerOf: ({ address }) => address,
  isLaunchPlatform: true,
  launchEvents: launchEventsOf({ [TOKEN_CREATE]: readOpened, [TRADE_STOP]: readStopped }, TOKEN_AT, {
    created: TOKEN_CREATE,
    graduated: [TRADE_STOP],
  }),
  reserves: 'unknown',
  identify: identifyV1,
}

function createdToken({ data }: RawLog): string | undefined {
  if (!isTextAt(data, 3) || !isTextAt(data, 4) || uintAt(data, 7) === undefined) return undefined
  return addressAt(data, 0) === undefined ? undefined : addressAt(data, 1)
}

function readOpened(log: RawLog): CurveOpened | undefined {
  const token = createdToken(log)
  return token === undefined ? undefined : { type: 'curveOpened', pool: curveId(log.address, token) }
}

function readCreated(log: RawLog): PoolCreated | undefined {
  const token = createdToken(log)
  if (token === undefined) return undefined
  const pool = curveId(log.address, token)
  return { type: 'poolCreated', pool, tokens: [token, NATIVE], pricing: { kind: 'trades' } }
}

/** `cost` is the curve's amount, without the platform's fee. */
function readTrade(log: RawLog, isBuy: boolean): Swapped | undefined {
  const { data } = log
  if (!isWords(data, 8)) return undefined
  const pool = curveOf(log, TOKEN_AT)
  const account = addressAt(data, 1)
  const amount = uintAt(data, 3)
  const cost = uintAt(data, 4)
  const offers = uintAt(data, 6)
  const funds = uintAt(data, 7)
  if (pool === undefined || account === undefined || amount === undefined || cost === undefined) {
    return undefined
  }
  if (offers === undefined || funds === undefined) return undefined
  return { ...curveTrade(pool, account, isBuy, amount, cost), reserves: [offers, funds] }
}

function readTradeV1(log: RawLog, isBuy: boolean, words: number): Swapped | undefined {
  const { data } = log
  if (!isWords(data, words)) return undefined
  const pool = curveOf(log, TOKEN_AT)
  const account = addressAt(data, 1)
  const amount = uintAt(data, 2)
  const paid = uintAt(data, 3)
  if (pool === undefined || account === undefined || amount === undefined || paid === undefined) {
    return undefined
  }
  return curveTrade(pool, account, isBuy, amount, paid)
}

function readStopped(log: RawLog): CurveClosed | undefined {
  return readClosed(log, 1)
}

function readLiquidityAdded(log: RawLog): CurveClosed | undefined {
  return readClosed(log, 4)
}

function readClosed(log: RawLog, words: number): CurveClosed | undefined {
  const pool = isWords(log.data, words) ? curveOf(log, TOKEN_AT) : undefined
  return pool === undefined ? undefined : { type: 'curveClosed', pool }
}

function* identify(pool: string, deployments: readonly DexDeployment[], log?: RawLog): Inquiry {
  const curve = resolveCurve(pool, deployments, log, TOKEN_AT)
  if (curve === undefined) return undefined
  const { factory, token } = curve
  const [info]: readonly Answer[] = yield [{ to: factory, data: callData(TOKEN_INFOS, token) }]
  return launched(factory, token, info)
}

/** Each manager has the curves of all its tokens. */
function* findPools(...[token, , deployments]: Parameters<FindPools>): ReturnType<FindPools> {
  const answers: readonly Answer[] = yield deployments.map(({ factory }) => {
    return { to: factory, data: callData(TOKEN_INFOS, token) }
  })
  return deployments.flatMap(({ factory }, at) => {
    const pool = launched(factory, token, answers[at])
    return pool === undefined ? [] : { address: curveId(factory, token), ...pool }
  })
}

function launched(factory: string, token: string, info: Answer): FoundPool | undefined {
  const quote = addressAt(info, QUOTE)
  if (addressAt(info, 0) !== token || quote === undefined || quote === token) return undefined
  // The next trade event reports the reserves.
  const found = {
    factory,
    tokens: [token, quote],
    pricing: { kind: 'trades' },
    reservesBefore: undefined,
  } as const
  const goalRaw = uintAt(info, MAX_RAISING)
  return goalRaw ? { ...found, goalRaw } : found
}

/** What is left for sale and what is raised, and what the manager quotes for a small part; none once the sale is over. */
function* readState({ tokens: [token = ''] }: CreatedPool, { factory }: DexDeployment): StateInquiry {
  const [info]: readonly Answer[] = yield [{ to: factory, data: callData(TOKEN_INFOS, token) }]
  const words = itemsAt(info, 0, INFO_WORDS, wordAt)
  const offers = uintAt(info, OFFERS)
  const funds = uintAt(info, FUNDS)
  if (words === undefined || offers === undefined || funds === undefined) return undefined
  if (addressAt(info, 0) !== token || uintAt(info, STATUS) !== TRADING) return undefined
  const raw0 = offers / QUOTED_PART
  if (raw0 === 0n) return { reserves: [offers, funds], price: undefined }
  const [quoted]: readonly Answer[] = yield [{ to: factory, data: callData(CALC_BUY_COST, ...words, raw0) }]
  const raw1 = uintAt(quoted, 0)
  return { reserves: [offers, funds], price: raw1 ? { kind: 'exchange', raw0, raw1 } : undefined }
}

function* identifyV1(pool: string, deployments: readonly DexDeployment[], log?: RawLog): Inquiry {
  const curve = resolveCurve(pool, deployments, log, TOKEN_AT)
  // The manager's event is the only proof, so no call is needed.
  yield []
  if (curve === undefined) return undefined
  const { factory, token } = curve
  return { factory, tokens: [token, NATIVE], pricing: { kind: 'trades' }, reservesBefore: undefined }
}
