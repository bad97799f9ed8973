import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { CurveClosed, CurveOpened, CurveProgressed, Swapped } from '../../events.ts'
import type {
  Answer,
  Call,
  CurveInquiry,
  DexDeployment,
  FindPools,
  Inquiry,
  Protocol,
  StateInquiry,
} from '../../protocol.ts'
import { addressAt, callData, isTextAt, isWords, uintAt } from '../abi.ts'
import {
  curveId,
  curveOf,
  curveTrade,
  launchEventsOf,
  NATIVE,
  resolveCurve,
  type TokenPlaces,
} from '../bonding-curve.ts'
import { flapMarket } from './market.ts'

/**
 * TokenCreated(uint256 ts, address creator, uint256 nonce, address token, string name, string symbol, string meta). No
 * parameter is indexed, here and below.
 */
const TOKEN_CREATED = '0x504e7f360b2e5fe33cbaaae4c593bc55305328341bf79009e43e0e3b7f699603'
/** TokenBought(uint256 ts, address token, address buyer, uint256 amount, uint256 eth, uint256 fee, uint256 postPrice) */
const TOKEN_BOUGHT = '0xa800a2038683844fac66747f771bfdfae862eb28b16bcfa387afa9fbacce8ff7'
/** TokenSold(uint256 ts, address token, address seller, uint256 amount, uint256 eth, uint256 fee, uint256 postPrice) */
const TOKEN_SOLD = '0x03a4693e592f5e75dc7c136acb39b146d2b4966c0e509c34f362dee02b3b861a'
/** FlapTokenProgressChanged(address token, uint256 newProgress) */
const PROGRESS_CHANGED = '0x4c35e20d1e9bce377c7d9ec1572d934e46d62961f4da8af5beb8002d5906742d'
/** LaunchedToDEX(address token, address pool, uint256 amount, uint256 eth) */
const LAUNCHED_TO_DEX = '0x6e4f47630b8745b8cacbd44f42a8a33e7eea7cc08ef22fc7630f4f385784ff7d'

const TOKEN_AT: TokenPlaces = {
  [TOKEN_CREATED]: 3,
  [TOKEN_BOUGHT]: 1,
  [TOKEN_SOLD]: 1,
  [PROGRESS_CHANGED]: 0,
  [LAUNCHED_TO_DEX]: 0,
}

/** Each version of the portal returns more about a token: status, reserve, circulating supply, price and later fields. */
const STATES = [
  // getTokenV7(address)
  { selector: '0xf99abb9e', threshold: 8, quote: 9 },
  // getTokenV5(address)
  { selector: '0x5c4bc504', threshold: 8, quote: 9 },
  // getTokenV3(address)
  { selector: '0x0a7bb193', threshold: 6, quote: 7 },
] as const

/** The status of a token that is still sold along its curve. */
const TRADABLE = 1n
/** decimals() */
const DECIMALS = '0x313ce567'
/** The portal's prices have as many decimals as its tokens; those of quote assets with other decimals are not documented. */
const PRICE_DECIMALS = 18n
const PRICE_UNIT = 10n ** PRICE_DECIMALS

/** A progress of 100 % in the portal's fixed point, and a millionth of it. */
const WHOLE = 10n ** 18n
const MILLIONTH = 10n ** 12n

/**
 * Flap: a curve sells its token up to a threshold. Its events report the buyer's cost including the fee and the
 * seller's proceeds without the fee, so the curve's own amounts can be counted.
 */
export const flap: Protocol = {
  announcements: {},
  events: {
    [TOKEN_CREATED]: readOpened,
    [TOKEN_BOUGHT]: readBought,
    [TOKEN_SOLD]: readSold,
    [PROGRESS_CHANGED]: readProgress,
    [LAUNCHED_TO_DEX]: readLaunched,
  },
  isSingleton: true,
  payerOf: ({ address }) => address,
  isLaunchPlatform: true,
  trial: 'curve',
  readCurve,
  launchEvents: launchEventsOf({ [TOKEN_CREATED]: readOpened, [LAUNCHED_TO_DEX]: readLaunched }, TOKEN_AT, {
    created: TOKEN_CREATED,
    graduated: [LAUNCHED_TO_DEX],
  }),
  reserves: 'counted',
  identify,
  findPools,
  readState,
}

function readOpened(log: RawLog): CurveOpened | undefined {
  const { data } = log
  if (addressAt(data, 1) === undefined || !isTextAt(data, 4) || !isTextAt(data, 5) || !isTextAt(data, 6)) {
    return undefined
  }
  const pool = curveOf(log, TOKEN_AT)
  return pool === undefined ? undefined : { type: 'curveOpened', pool }
}

function readBought(log: RawLog): Swapped | undefined {
  const trade = readTrade(log)
  if (trade === undefined || trade.fee > trade.paid) return undefined
  return curveTrade(trade.pool, trade.account, true, trade.amount, trade.paid - trade.fee)
}

function readSold(log: RawLog): Swapped | undefined {
  const trade = readTrade(log)
  return trade && curveTrade(trade.pool, trade.account, false, trade.amount, trade.paid + trade.fee)
}

type FlapTrade = {
  readonly pool: string
  readonly account: string
  readonly amount: bigint
  readonly paid: bigint
  readonly fee: bigint
}

function readTrade(log: RawLog): FlapTrade | undefined {
  const { data } = log
  const pool = isWords(data, 7) ? curveOf(log, TOKEN_AT) : undefined
  const account = addressAt(data, 2)
  const amount = uintAt(data, 3)
  const paid = uintAt(data, 4)
  const fee = uintAt(data, 5)
  if (pool === undefined || account === undefined) return undefined
  if (amount === undefined || paid === undefined || fee === undefined) return undefined
  return { pool, account, amount, paid, fee }
}

function readProgress(log: RawLog): CurveProgressed | undefined {
  const pool = isWords(log.data, 2) ? curveOf(log, TOKEN_AT) : undefined
  const progress = uintAt(log.data, 1)
  if (pool === undefined || progress === undefined || progress > WHOLE) return undefined
  return { type: 'curveProgressed', pool, progressPpm: Number(progress / MILLIONTH) }
}

function readLaunched(log: RawLog): CurveClosed | undefined {
  const pool = isWords(log.data, 4) ? curveOf(log, TOKEN_AT) : undefined
  return pool === undefined || addressAt(log.data, 1) === undefined
    ? undefined
    : { type: 'curveClosed', pool }
}

function* identify(pool: string, deployments: readonly DexDeployment[], log?: RawLog): Inquiry {
  const curve = resolveCurve(pool, deployments, log, TOKEN_AT)
  if (curve === undefined) return undefined
  const { factory, token } = curve
  const calls = stateCalls(factory, token)
  const answers: readonly Answer[] = yield [...calls, ...calls.map((call) => ({ ...call, before: true }))]
  const after = stateOf(answers.slice(0, STATES.length))
  if (after === undefined || after.quote === token) return undefined
  // A curve created in this block held its whole supply; an older one's reserves are read from the portal.
  const before =
    log?.topics[0] === TOKEN_CREATED
      ? { left: after.threshold, raised: 0n }
      : stateOf(answers.slice(STATES.length))
  return {
    factory,
    tokens: [token, after.quote],
    pricing: { kind: 'trades' },
    reservesBefore: before && [before.left, before.raised],
  }
}

function* readCurve(token: string, { factory }: DexDeployment): CurveInquiry {
  const state = stateOf(yield stateCalls(factory, token))
  return state?.status === TRADABLE ? flapMarket(factory, token, state) : undefined
}

/** Each portal has the curves of all its tokens. */
function* findPools(...[token, , deployments]: Parameters<FindPools>): ReturnType<FindPools> {
  const answers: readonly Answer[] = yield deployments.flatMap(({ factory }) => stateCalls(factory, token))
  return deployments.flatMap(({ factory }, at) => {
    const state = stateOf(answers.slice(at * STATES.length, (at + 1) * STATES.length))
    if (state === undefined || state.quote === token) return []
    const [address, tokens] = [curveId(factory, token), [token, state.quote]]
    return { address, factory, tokens, pricing: { kind: 'trades' }, reservesBefore: undefined } as const
  })
}

/** What is left until the threshold and what is raised, and the portal's own price; none once the sale is over. */
function* readState({ tokens }: CreatedPool, { factory }: DexDeployment): StateInquiry {
  const [token = '', quote = ''] = tokens
  const asksDecimals = quote !== NATIVE
  const answers: readonly Answer[] = yield [
    ...stateCalls(factory, token),
    ...(asksDecimals ? [{ to: quote, data: DECIMALS }] : []),
  ]
  const state = stateOf(answers.slice(0, STATES.length))
  if (state?.status !== TRADABLE || state.quote !== quote) return undefined
  const decimals = asksDecimals ? uintAt(answers[STATES.length], 0) : PRICE_DECIMALS
  const isPriced = decimals === PRICE_DECIMALS && state.price > 0n
  const price = isPriced ? ({ kind: 'exchange', raw0: PRICE_UNIT, raw1: state.price } as const) : undefined
  return { reserves: [state.left, state.raised], price }
}

function stateCalls(factory: string, token: string): Call[] {
  return STATES.map(({ selector }) => ({ to: factory, data: callData(selector, token) }))
}

type State = {
  readonly status: bigint
  /** What a whole token costs in the quote asset, with 18 digits. */
  readonly price: bigint
  readonly quote: string
  readonly threshold: bigint
  /** Tokens left until the threshold, and the raised amount of the quote asset. */
  readonly left: bigint
  readonly raised: bigint
}

/** From the latest version that answered. */
function stateOf(answers: readonly Answer[]): State | undefined {
  for (const [index, { threshold: thresholdAt, quote: quoteAt }] of STATES.entries()) {
    const answer = answers[index]
    const status = uintAt(answer, 0)
    const raised = uintAt(answer, 1)
    const supply = uintAt(answer, 2)
    const price = uintAt(answer, 3)
    const threshold = uintAt(answer, thresholdAt)
    const quote = addressAt(answer, quoteAt)
    // The portal returns zeros for an unknown token, if it answers at all.
    if (!status || raised === undefined || supply === undefined || price === undefined) continue
    if (threshold === undefined || quote === undefined) continue
    const left = threshold > supply ? threshold - supply : 0n
    return { status, price, quote, threshold, left, raised }
  }
  return undefined
}
