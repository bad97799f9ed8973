import { type Action, DOLLAR, ETHER } from './actions.ts'
import { endFrauds, openEstablished, openLater, openQuotes, send } from './arrivals.ts'
import {
  anyOf,
  depthUsd,
  emptyMarket,
  heldBy,
  type MarketState,
  NOISE,
  PROVIDERS,
  rawOf,
} from './market-state.ts'
import { chance, pick, whole } from './random.ts'
import { act, drift } from './traders.ts'

export type ScriptOptions = {
  readonly seed: number
  /** Decisions of traders in a block of history, on average; about two in three lead to a trade. */
  readonly pace?: number
  /** Later on. */
  readonly livePace?: number
  /** Blocks of history, over which the tokens of the first week arrive. */
  readonly week?: number
}

/** How busy the hours of a day are, by UTC, relative to each other. */
const HOURS = [6, 5, 5, 4, 4, 5, 6, 7, 9, 10, 10, 11, 12, 14, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7]
const MEAN_HOUR = HOURS.reduce((sum, hour) => sum + hour, 0) / HOURS.length
const RESIZE_CHANCE = 0.02
const TRANSFER_CHANCE = 0.03

/**
 * A seeded market: what its participants do, block by block. It knows no chain, clock or address, and the same seed gives
 * the same actions on every machine.
 */
export class MarketScript {
  readonly #options: Required<ScriptOptions>
  readonly #state: MarketState

  constructor(options: ScriptOptions, state = emptyMarket(options.seed)) {
    this.#options = { pace: 1.5, livePace: 4, week: 10_080, ...options }
    this.#state = state
  }

  get state(): Readonly<MarketState> {
    return this.#state
  }

  /** A market with the same past. With a number, its future differs. */
  branch(number = 0): MarketScript {
    const state = structuredClone(this.#state)
    state.random[0] ^= number
    return new MarketScript(this.#options, state)
  }

  /** Actions of the next block; `time` in Unix seconds only decides how busy it is. */
  nextBlock(time: number): Action[] {
    const state = this.#state
    const { week } = this.#options
    state.block += 1
    if (state.block === 1) return openQuotes(state, week)
    const opening = openEstablished(state)
    if (opening !== undefined) return opening
    drift(state)
    const actions = [...endFrauds(state), ...openLater(state, week)]
    const pace = state.block > week ? this.#options.livePace : this.#options.pace
    const busy = (pace * (HOURS[new Date(time * 1_000).getUTCHours()] ?? MEAN_HOUR)) / MEAN_HOUR
    const decisions = whole(state.random, 0, Math.round(busy * 2))
    // Before any trade of the block: the amounts follow from the price after the last one.
    if (chance(state.random, RESIZE_CHANCE)) resize(state, actions)
    for (let at = 0; at < decisions; at++) act(state, actions)
    if (chance(state.random, TRANSFER_CHANCE)) moveToOtherWallet(state, actions)
    return actions
  }
}

/** A provider adds liquidity to a pool or removes some, within limits. */
function resize(state: MarketState, actions: Action[]): void {
  const { random } = state
  const pools = state.pools.filter(
    ({ spec, isOpen }) =>
      isOpen &&
      (spec.venue === 'v2' || spec.venue === 'v3') &&
      spec.provider !== undefined &&
      state.coins[spec.base]?.endsAt === undefined,
  )
  const pool = pick(random, pools)
  const isDeep = depthUsd(state, pool) > pool.depthUsd
  const ppm = (isDeep ? -1 : 1) * whole(random, 10_000, 80_000)
  const { spec } = pool
  const own = state.holdings[spec.provider ?? PROVIDERS.first] ?? []
  const [base, quote] = [(pool.base * ppm) / 1e6, (pool.quote * ppm) / 1e6]
  const moves = [
    { coin: spec.base, moved: base },
    { coin: spec.quote, moved: quote },
  ].filter(({ coin }) => coin !== ETHER)
  if (moves.some(({ coin, moved }) => (own[coin] ?? 0) < moved * 1.01)) return
  for (const { coin, moved } of moves) own[coin] = (own[coin] ?? 0) - moved
  pool.base *= 1 + ppm / 1e6
  pool.quote *= 1 + ppm / 1e6
  const [baseRaw, quoteRaw] = [
    rawOf(state, spec.base, Math.abs(base)),
    rawOf(state, spec.quote, Math.abs(quote)),
  ]
  actions.push({ type: 'resize', pool: spec.pool, ppm, baseRaw, quoteRaw })
}

function moveToOtherWallet(state: MarketState, actions: Action[]): void {
  const { random } = state
  const [from, to] = [anyOf(random, NOISE), anyOf(random, NOISE)]
  const { coin, kind } = pick(random, state.coins)
  const held = heldBy(state, from, coin)
  if (coin <= DOLLAR || kind === 'trap' || held <= 0 || from === to) return
  send(state, actions, coin, from, [to], held * 0.4)
}
