import { type Action, type Coin, DOLLAR, ETHER, type PoolSpec, type Venue, type Wallet } from './actions.ts'
import {
  addPool,
  anyOf,
  coinOf,
  credit,
  heldBy,
  type MarketState,
  type ModelCoin,
  NOISE,
  PROVIDERS,
  rawOf,
  toRaw,
  usdOf,
  WALLETS,
} from './market-state.ts'
import { ESTABLISHED, memeName, type Named } from './names.ts'
import { CURVE_FOR_SALE, CURVE_SUPPLY } from './pool-model.ts'
import { between, chance, pick, skewed, whole } from './random.ts'

const ETHER_USD = 2_400
const DOLLARS_PER_WALLET = 2_000_000
const DOLLARS_PER_PROVIDER = 200_000_000
/** Tokens that come after the established ones, in the first week. */
const LATER_TOKENS = 20
/** Blocks from one arrival to the next, later on. */
const ARRIVAL_BLOCKS = 240
const MOST_COINS = 400

/** Pools of a token, as they are usual: the first is the deepest. */
const POOL_SETS: readonly (readonly (readonly [Venue, Coin, number])[])[] = [
  [
    ['v3', ETHER, 3_000],
    ['v2', ETHER, 3_000],
    ['v4', ETHER, 3_000],
  ],
  [
    ['v2', ETHER, 3_000],
    ['v3', DOLLAR, 3_000],
  ],
  [
    ['v4', ETHER, 3_000],
    ['v3', ETHER, 10_000],
    ['v2', DOLLAR, 3_000],
  ],
  [
    ['v3', DOLLAR, 500],
    ['v2', ETHER, 3_000],
    ['v4', DOLLAR, 3_000],
  ],
]

/** The dollar, and what one ether costs. `week` is the number of blocks within which later tokens arrive. */
export function openQuotes(state: MarketState, week: number): Action[] {
  const { random } = state
  const actions: Action[] = []
  const both = { kind: 'quote', creator: PROVIDERS.first } as const
  addCoin(state, {
    ...both,
    ...{ name: 'Ether', symbol: 'ETH', decimals: 18, popularity: 7 },
    ...{ volatility: 0.0004, fairUsd: ETHER_USD },
  })
  const dollar = {
    ...both,
    name: 'Sandbox Dollar',
    symbol: 'USDT',
    popularity: 0,
    decimals: 6,
    volatility: 0,
    fairUsd: 1,
  }
  createToken(state, actions, dollar, 10 ** 12)
  send(state, actions, DOLLAR, PROVIDERS.first, range(2, PROVIDERS.last), DOLLARS_PER_PROVIDER)
  send(state, actions, DOLLAR, PROVIDERS.first, range(PROVIDERS.last + 1, WALLETS - 1), DOLLARS_PER_WALLET)
  for (const [venue, fee, depth] of [
    ['v3', 500, 4e6],
    ['v2', 3_000, 2.5e6],
    ['v4', 3_000, 1.5e6],
  ] as const)
    openPool(state, actions, { venue, base: ETHER, quote: DOLLAR, fee, provider: PROVIDERS.first }, depth)
  for (let at = 0; at < LATER_TOKENS; at++) state.arrivals.push(whole(random, Math.ceil(week * 0.02), week))
  return actions
}

/** One established token with its pools; undefined once all are there. */
export function openEstablished(state: MarketState): Action[] | undefined {
  const { random } = state
  const rank = state.coins.filter(({ kind }) => kind === 'established').length
  const named = ESTABLISHED[rank]
  if (named === undefined) return undefined
  const actions: Action[] = []
  const decimals = pick(random, [18, 18, 18, 9, 8, 6])
  const supply = pick(random, [1e6, 1e8, 1e9, 1e9, 1e11])
  const worthUsd = skewed(random, 3e6, 4e8)
  const creator = anyOf(random, PROVIDERS)
  const traits = { kind: 'established', decimals, creator, popularity: 9 / (rank + 2) } as const
  const volatility = between(random, 0.0012, 0.005)
  const fairUsd = worthUsd / supply
  const coin = createToken(state, actions, { ...named, ...traits, volatility, fairUsd }, supply)
  const depth = Math.min(skewed(random, 60_000, 1_500_000), worthUsd / 8)
  for (const [at, [venue, quote, fee]] of pick(random, POOL_SETS).entries())
    openPool(state, actions, { venue, base: coin.coin, quote, fee, provider: creator }, depth / (at + 1))
  if (rank > 0 && rank % 6 === 0) {
    // Its price leads over another token to a quote asset.
    const quote = state.coins.find(({ kind }) => kind === 'established')?.coin ?? DOLLAR
    lend(state, actions, quote, creator, 30_000 / usdOf(state, quote))
    openPool(state, actions, { venue: 'v2', base: coin.coin, quote, fee: 3_000, provider: creator }, 20_000)
  }
  const holders = Array.from({ length: whole(random, 15, 45) }, () => anyOf(random, NOISE))
  send(state, actions, coin.coin, creator, [...new Set(holders)], supply / 1_000)
  return actions
}

/** A later token, if this is a block in which one arrives. */
export function openLater(state: MarketState, week: number): Action[] {
  const { random, block, arrivals } = state
  const isPlanned = arrivals.includes(block)
  const isChance = block > week && state.coins.length < MOST_COINS && chance(random, 1 / ARRIVAL_BLOCKS)
  if (!isPlanned && !isChance) return []
  const later = state.coins.filter(({ kind }) => kind !== 'quote' && kind !== 'established').length
  // Two in three are launched by the launchpad; the others are frauds of both kinds in turn.
  if (later % 3 !== 2) return launch(state)
  return openFraud(state, later % 2 === 0 ? 'rug' : 'trap')
}

/** Takes out everything that a fraud's pools hold. */
export function endFrauds(state: MarketState): Action[] {
  const ending = new Set(state.coins.filter(({ endsAt }) => endsAt === state.block).map(({ coin }) => coin))
  return state.pools
    .filter(({ spec, isOpen }) => isOpen && ending.has(spec.base))
    .map((pool) => {
      const { spec, base, quote } = pool
      const [baseRaw, quoteRaw] = [rawOf(state, spec.base, base), rawOf(state, spec.quote, quote)]
      pool.isOpen = false
      pool.base = 0
      pool.quote = 0
      return { type: 'resize', pool: spec.pool, ppm: -1_000_000, baseRaw, quoteRaw } as const
    })
}

function launch(state: MarketState): Action[] {
  const { random } = state
  const actions: Action[] = []
  const named = memeName(random)
  const creator = anyOf(random, NOISE)
  const [volatility, popularity] = [between(random, 0.004, 0.009), between(random, 0.4, 3)]
  // What it is worth follows from its curve.
  const traits = { kind: 'launched', decimals: 18, fairUsd: 0, volatility, popularity, creator } as const
  const coin = createToken(state, actions, { ...named, ...traits }, CURVE_SUPPLY)
  credit(state, creator, coin.coin, -CURVE_SUPPLY)
  const place = { pool: state.pools.length, venue: 'curve', base: coin.coin, quote: ETHER, fee: 0 } as const
  const spec: PoolSpec = { ...place, provider: undefined }
  addPool(state, { spec, base: CURVE_FOR_SALE, quote: 0, depthUsd: 0, isOpen: true })
  actions.push({ type: 'openCurve', spec })
  return actions
}

function openFraud(state: MarketState, kind: 'rug' | 'trap'): Action[] {
  const { random } = state
  const actions: Action[] = []
  // Some borrow the symbol of a token that people trust.
  const named =
    kind === 'rug' && chance(random, 0.5) ? pick(random, ESTABLISHED.slice(0, 6)) : memeName(random)
  const supply = pick(random, [1e9, 1e12])
  const endsAt = state.block + whole(random, 200, 1_200)
  const depth = between(random, 30_000, 90_000)
  const creator = anyOf(random, PROVIDERS)
  const [fairUsd, popularity] = [(depth * 4) / supply, between(random, 1, 3)]
  const traits = { kind, decimals: 18, volatility: 0.004, fairUsd, popularity, creator, endsAt } as const
  const coin = createToken(state, actions, { ...named, ...traits }, supply)
  openPool(
    state,
    actions,
    { venue: 'v2', base: coin.coin, quote: ETHER, fee: 3_000, provider: creator },
    depth,
  )
  return actions
}

type Traits = Named &
  Pick<ModelCoin, 'kind' | 'decimals' | 'volatility' | 'fairUsd' | 'popularity' | 'creator'> & {
    readonly endsAt?: number
  }

function addCoin({ coins, block }: MarketState, { name: _, ...traits }: Traits): ModelCoin {
  const { fairUsd } = traits
  const coin: ModelCoin = {
    ...{
      coin: coins.length,
      bornAt: block,
      pools: [],
      trendUsd: fairUsd,
      mood: 0,
      endsAt: undefined,
      ...traits,
    },
  }
  coins.push(coin)
  return coin
}

function createToken(state: MarketState, actions: Action[], traits: Traits, supply: number): ModelCoin {
  const model = addCoin(state, traits)
  const { coin, symbol, decimals, creator, kind } = model
  credit(state, creator, coin, supply)
  const supplyRaw = toRaw(supply, decimals)
  const isTrap = kind === 'trap'
  const { name } = traits
  actions.push({ type: 'createToken', token: { coin, name, symbol, decimals, supplyRaw, isTrap, creator } })
  return model
}

function openPool(
  state: MarketState,
  actions: Action[],
  place: Omit<PoolSpec, 'pool'> & { readonly provider: Wallet },
  depth: number,
): void {
  const spec = { pool: state.pools.length, ...place }
  const { base: baseCoin, quote: quoteCoin, provider } = spec
  const [base, quote] = [depth / usdOf(state, baseCoin), depth / usdOf(state, quoteCoin)]
  for (const [coin, amount] of [
    [baseCoin, base],
    [quoteCoin, quote],
  ] as const)
    if (coin !== ETHER) credit(state, provider, coin, -amount)
  addPool(state, { spec, base, quote, depthUsd: depth, isOpen: true })
  const [baseRaw, quoteRaw] = [rawOf(state, baseCoin, base), rawOf(state, quoteCoin, quote)]
  actions.push({ type: 'openPool', spec, baseRaw, quoteRaw })
}

/** The creator of a coin lends some of it to a wallet that needs it. False if there is not enough left. */
export function lend(state: MarketState, actions: Action[], coin: Coin, to: Wallet, amount: number): boolean {
  const { creator } = coinOf(state, coin)
  if (creator === to || heldBy(state, creator, coin) < amount * 1.1) return false
  send(state, actions, coin, creator, [to], amount)
  return true
}

export function send(
  state: MarketState,
  actions: Action[],
  coin: Coin,
  from: Wallet,
  to: readonly Wallet[],
  amount: number,
): void {
  credit(state, from, coin, -amount * to.length)
  for (const wallet of to) credit(state, wallet, coin, amount)
  actions.push({ type: 'transfer', coin, from, to, raw: rawOf(state, coin, amount) })
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}
