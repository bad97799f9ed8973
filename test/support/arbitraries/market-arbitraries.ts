import fc from 'fast-check'
import type { DexDeployment } from '../../../src/dex/protocol.ts'
import {
  type ChainSettings,
  type QuoteAsset,
  RULES_VERSION,
  sortedLockers,
} from '../../../src/domain/chain-settings.ts'
import type {
  BlockEnvelope,
  Envelope,
  Fact,
  RawLog,
  RawTransaction,
  TransfersFact,
} from '../../../src/domain/envelope.ts'
import { type EngineSettings, engineSettings } from '../../../src/engine/settings.ts'
import {
  type Answered,
  answered,
  answeredFact,
  LOCKERS,
  type MoveAction,
  moveAction,
  moveLogs,
  type OlderMoves,
  olderFact,
  olderMoves,
  type Sample,
  sample,
  sampleFact,
} from './move-arbitraries.ts'

/** Random markets, as the logs their blocks would hold, and random ways in which a chain may fork. */

export const CHAIN = 'testchain'
export const FIRST_BLOCK = 100
const FIRST_TIME = 1_699_999_990
const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
const MINT = '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f'
const BURN = '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496'

export const DEPLOYMENTS: readonly DexDeployment[] = [
  { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: id(0xf1, 20) },
  { amm: 'sushiswap_v2', protocol: 'uniswap_v2', factory: id(0xf2, 20) },
]
const FOREIGN_FACTORY = id(0xf3, 20)

export type MarketToken = {
  readonly address: string
  readonly decimals: number | undefined
  readonly supplyRaw: bigint | undefined
}
export type MarketPool = {
  readonly address: string
  readonly factory: string
  readonly token0: string
  readonly token1: string
}
export type Market = {
  readonly tokens: readonly MarketToken[]
  readonly pools: readonly MarketPool[]
  readonly quoteAssets: readonly QuoteAsset[]
  readonly minDepthUsd: bigint
  /** Those of the program, if not given. */
  readonly rules?: number
}

/** Amounts and reserves are of the pool's token0 and token1. */
export type Action =
  | MoveAction
  | {
      readonly do: 'sync'
      readonly pool: number
      readonly amounts: readonly bigint[]
      readonly newTx: boolean
    }
  | {
      readonly do: 'swap'
      readonly pool: number
      readonly amounts: readonly bigint[]
      readonly newTx: boolean
    }
  | {
      readonly do: 'mint' | 'burn'
      readonly pool: number
      readonly amounts: readonly bigint[]
      readonly newTx: boolean
    }
  | { readonly do: 'create'; readonly pool: number; readonly newTx: boolean }
  | { readonly do: 'fakeCreate'; readonly pool: number; readonly newTx: boolean }
  | { readonly do: 'noise'; readonly pool: number; readonly data: Uint8Array; readonly newTx: boolean }

export type Step =
  | {
      readonly do: 'block'
      readonly seconds: number
      readonly actions: readonly Action[]
      readonly older?: readonly OlderMoves[]
      readonly samples?: readonly Sample[]
      readonly answers?: readonly Answered[]
    }
  | { readonly do: 'undo'; readonly depth: number }
  | { readonly do: 'final'; readonly lag: number }

const TOKEN_COUNT = 6
const MAX_POOLS = 8
const ANCHOR_POOL = id(0x55, 20)
const decimals = fc.constantFrom(0, 6, 9, 18, 18, 18, 36, 37, 77, 255, undefined)
const usualDecimals = fc.constantFrom(0, 6, 9, 18, 18, 36)
const amount: fc.Arbitrary<bigint> = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 10n ** 15n, max: 10n ** 24n }) },
  // Few different values, so that pools come to be equally deep.
  { weight: 4, arbitrary: fc.constantFrom(10n ** 6n, 10n ** 18n, 2n * 10n ** 18n, 10n ** 21n) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 20n }) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 2n ** 112n - 1n, 2n ** 256n - 1n) },
)

export const market: fc.Arbitrary<Market> = fc
  .record({
    decimals: fc.tuple(
      usualDecimals,
      fc.oneof(usualDecimals, decimals),
      usualDecimals,
      decimals,
      decimals,
      decimals,
    ),
    supplies: fc.array(fc.option(amount, { nil: undefined }), {
      minLength: TOKEN_COUNT,
      maxLength: TOKEN_COUNT,
    }),
    pools: fc.array(
      fc.record({
        sides: fc.uniqueArray(fc.nat(TOKEN_COUNT - 1), { minLength: 2, maxLength: 2 }),
        factory: fc.constantFrom(...DEPLOYMENTS.map(({ factory }) => factory), FOREIGN_FACTORY),
        salt: fc.nat(255),
      }),
      { minLength: 1, maxLength: MAX_POOLS, size: 'max' },
    ),
    // Tokens 0 and 1 are stablecoins, token 2 is the native coin, token 3 one that others are traded against.
    ranks: fc.constantFrom([0, 1, 2], [0, 1, 2, 3], [1, 0, 2], [2, 0, 1, 3], [0, 2]),
    minDepthUsd: fc.constantFrom(0n, 0n, 1n, 10n ** 20n),
    hasTradedShares: fc.boolean(),
  })
  .map(({ decimals: claimed, supplies, pools, ranks, minDepthUsd, hasTradedShares }) => {
    const tokens = claimed.map((value, index) => ({
      // The shares of a pool may be traded in another one.
      address: hasTradedShares && index === TOKEN_COUNT - 1 ? ANCHOR_POOL : id(0xa0 + index, 20),
      decimals: value,
      supplyRaw: supplies[index],
    }))
    const tokenAt = (index: number | undefined): string => tokens[index ?? 0]?.address ?? ''
    return {
      tokens,
      pools: [
        // Without a price of the native coin most of a market says nothing.
        { address: ANCHOR_POOL, factory: id(0xf1, 20), token0: tokenAt(0), token1: tokenAt(2) },
        ...pools.map(({ sides, factory, salt }, index) => ({
          address: id(salt * 0x1000 + 0x600 + index, 20),
          factory,
          token0: tokenAt(sides[0]),
          token1: tokenAt(sides[1]),
        })),
      ],
      quoteAssets: ranks.map((index) => ({
        address: tokenAt(index),
        kind: index === 3 ? ('major' as const) : index === 2 ? ('native' as const) : ('stable' as const),
      })),
      minDepthUsd,
    }
  })

const pool = fc.nat(MAX_POOLS)
const newTx = fc.boolean()
const amounts = (count: number) => fc.array(amount, { minLength: count, maxLength: count })
const oneWay = fc
  .tuple(amount, amount, fc.boolean())
  .map(([paid, got, zeroIn]) => (zeroIn ? [paid, 0n, 0n, got] : [0n, paid, got, 0n]))
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('sync' as const), pool, newTx, amounts: amounts(2) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('swap' as const), pool, newTx, amounts: oneWay }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('swap' as const), pool, newTx, amounts: amounts(4) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('mint', 'burn'), pool, newTx, amounts: amounts(2) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const), pool, newTx }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fakeCreate' as const), pool, newTx }) },
  { weight: 8, arbitrary: moveAction },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('noise' as const),
      pool,
      newTx,
      data: fc.uint8Array({ maxLength: 140 }),
    }),
  },
)
export const blockStep: fc.Arbitrary<Step & { do: 'block' }> = fc.record({
  do: fc.constant('block' as const),
  seconds: fc.constantFrom(0, 1, 12, 12, 59, 60, 300, 3_000, 20_000, 86_400, 700_000),
  actions: fc.array(action, { maxLength: 10, size: 'max' }),
  older: fc.array(olderMoves, { maxLength: 3 }),
  samples: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(sample, { maxLength: 2 })),
  answers: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(answered, { maxLength: 2 })),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: blockStep },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('undo' as const), depth: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('final' as const), lag: fc.nat(4) }) },
)
/** Undos may be nested and follow one another; no two branches ever share a block by chance. */
export const steps: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 1, maxLength: 24, size: 'max' })

export type Story = {
  /** In the order of their sequence in BLOCKS, which starts at 1. */
  readonly envelopes: readonly Envelope[]
  /** What is left of them once all undos are done. */
  readonly canonical: readonly BlockEnvelope[]
}

export function settingsOf(world: Market): EngineSettings {
  return engineSettings(CHAIN, chainSettingsOf(world))
}

/** The same as they are in a log. */
export function chainSettingsOf({ quoteAssets, minDepthUsd, rules = RULES_VERSION }: Market): ChainSettings {
  return {
    rules,
    dexes: DEPLOYMENTS,
    quoteAssets,
    minDepthUsd,
    lockers: sortedLockers(LOCKERS),
  }
}

/** Publishes the steps as a reader would: each fact once per branch, nothing undone below what is final. */
export function publishScript(world: Market, script: readonly Step[]): Story {
  const envelopes: Envelope[] = []
  const canonical: BlockEnvelope[] = []
  let floor = FIRST_BLOCK - 1
  for (const [salt, step] of script.entries()) {
    const tip = canonical.at(-1)
    switch (step.do) {
      case 'block': {
        const next = buildBlock(world, canonical, step, salt)
        canonical.push(next)
        envelopes.push(next)
        break
      }
      case 'undo': {
        const depth = Math.min(step.depth, (tip?.number ?? floor) - floor)
        if (depth === 0 || tip === undefined) break
        const gone = canonical.splice(-depth)
        const lastValid = { number: tip.number - depth, hash: gone[0]?.parentHash ?? '' }
        envelopes.push({ kind: 'undo', chain: CHAIN, lastValid })
        break
      }
      case 'final': {
        const upTo = canonical.at(-1 - step.lag)
        if (upTo === undefined || upTo.number <= floor) break
        floor = upTo.number
        envelopes.push({ kind: 'final', chain: CHAIN, upTo: { number: upTo.number, hash: upTo.hash } })
        break
      }
    }
  }
  return { envelopes, canonical }
}

export function buildBlock(
  world: Market,
  before: readonly BlockEnvelope[],
  { seconds, actions, older = [], samples = [], answers = [] }: Step & { do: 'block' },
  salt: number,
): BlockEnvelope {
  const parent = before.at(-1)
  const number = (parent?.number ?? FIRST_BLOCK - 1) + 1
  const transactions: { index: number; hash: string; from: string; logs: RawLog[] }[] = []
  const used = new Map<MarketPool, Action[]>()
  const movable = [...world.tokens, ...world.pools].map(({ address }) => address)
  const movedBy = (of: number): string => movable[of % movable.length] ?? ''
  for (const [index, done] of actions.entries()) {
    const target = done.do === 'move' ? undefined : world.pools[done.pool % world.pools.length]
    if (target === undefined && done.do !== 'move') continue
    if (target !== undefined && done.do !== 'fakeCreate')
      used.set(target, [...(used.get(target) ?? []), done])
    if (done.newTx || transactions.length === 0) {
      const at = transactions.length * 2
      transactions.push({
        index: at,
        hash: id(number * 1_000_000 + salt * 1_000 + at, 32),
        from: id(0xee00 + at, 20),
        logs: [],
      })
    }
    const logs =
      done.do === 'move'
        ? moveLogs(movedBy(done.of), done)
        : target === undefined
          ? []
          : [rawLog(target, done)]
    for (const [at, log] of logs.entries()) transactions.at(-1)?.logs.push({ ...log, index: index * 3 + at })
  }
  const facts = factsOf(world, before, used)
  const olderFacts: TransfersFact[] = []
  for (const each of older) olderFacts.push(...[olderFact(before, olderFacts, each) ?? []].flat())
  const block: BlockEnvelope = {
    kind: 'block',
    chain: CHAIN,
    number,
    hash: id(number * 1_000 + salt, 32),
    parentHash: parent?.hash ?? id(0x9e, 32),
    time: (parent?.time ?? FIRST_TIME) + seconds,
    transactions: transactions satisfies RawTransaction[],
    facts: [...facts, ...olderFacts, ...answers.map((each) => answeredFact(movedBy(each.of), each))],
  }
  const sampled = samples.flatMap((each) => {
    const token = movedBy(each.of)
    const isNative = world.quoteAssets.some(({ address, kind }) => address === token && kind === 'native')
    return sampleFact([...before, block], token, isNative, each) ?? []
  })
  return { ...block, facts: [...block.facts, ...sampled] }
}

function rawLog(target: MarketPool, done: Exclude<Action, MoveAction>): Omit<RawLog, 'index'> {
  const { address, factory, token0, token1 } = target
  const created = { topics: [PAIR_CREATED, padded(token0), padded(token1)], data: words(BigInt(address), 1n) }
  switch (done.do) {
    case 'sync':
      return { address, topics: [SYNC], data: words(...done.amounts) }
    case 'swap':
      return {
        address,
        topics: [SWAP, padded(id(0x5e, 20)), padded(id(0x4ec, 20))],
        data: words(...done.amounts),
      }
    case 'mint':
      return { address, topics: [MINT, padded(id(0x5e, 20))], data: words(...done.amounts) }
    case 'burn':
      return {
        address,
        topics: [BURN, padded(id(0x5e, 20)), padded(id(0x4ec, 20))],
        data: words(...done.amounts),
      }
    case 'create':
      return { address: factory, ...created }
    case 'fakeCreate':
      return { address: FOREIGN_FACTORY, ...created }
    case 'noise':
      return { address, topics: [done.data.length % 2 === 0 ? SYNC : SWAP], data: done.data.subarray(0, 63) }
  }
}

function factsOf(
  world: Market,
  before: readonly BlockEnvelope[],
  used: ReadonlyMap<MarketPool, readonly Action[]>,
): Fact[] {
  const published = before.flatMap(({ facts }) => facts)
  const isPublished = (type: Fact['type'], address: string): boolean =>
    published.some((fact) => fact.type === type && fact.address === address)
  const pools = [...used.keys()].filter(({ address }) => !isPublished('pool', address))
  const addresses = new Set(pools.flatMap(({ token0, token1 }) => [token0, token1]))
  const tokens = world.tokens.filter(
    ({ address }) => addresses.has(address) && !isPublished('token', address),
  )
  return [
    ...pools.map((each): Fact => {
      const { address, factory, token0, token1 } = each
      const isNew = used.get(each)?.some((done) => done.do === 'create')
      return {
        type: 'pool',
        address,
        factory,
        tokens: [token0, token1],
        pricing: { kind: 'reserves' },
        reservesBefore: isNew ? [0n, 0n] : undefined,
      }
    }),
    ...tokens.map((token): Fact => {
      return {
        type: 'token',
        nameRaw: Buffer.from(`Token ${token.address.slice(-2)}`),
        symbolRaw: Buffer.from(token.address.slice(-2)),
        ...token,
      }
    }),
  ]
}

export function words(...values: readonly bigint[]): Uint8Array {
  return Buffer.from(values.map((value) => value.toString(16).padStart(64, '0')).join(''), 'hex')
}

export function padded(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`
}

export function id(value: number, size: number): string {
  return `0x${value.toString(16).padStart(size * 2, '0')}`
}
