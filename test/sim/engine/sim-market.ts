import { EVM_PROTOCOLS } from '../../../src/dex/protocols.ts'
import { DexRegistry } from '../../../src/dex/registry.ts'
import {
  type ChainSettings,
  type DexDeployment,
  type QuoteAsset,
  RULES_VERSION,
  sortedLockers,
} from '../../../src/domain/chain-settings.ts'
import type { Fact, PoolFact, TokenFact } from '../../../src/domain/envelope.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import type { Random } from '../../fuzz/random.ts'
import { LOCKERS } from '../../support/arbitraries/move-arbitraries.ts'
import { kindOf } from './pool-logs.ts'
import { VIRTUALS_LAUNCHPAD } from './protocol-logs/launch-platforms.ts'
import { amount, type SimPool } from './protocol-logs/pool-kind.ts'

export const CHAIN = 'simulated'

const V2_FACTORY = address(0xf100)
const FOREIGN_FACTORY = address(0xfe)
/** Without launch platforms that have no pools. */
const PROTOCOLS = Object.keys(EVM_PROTOCOLS).filter(
  (protocol) => Object.keys(EVM_PROTOCOLS[protocol]?.events ?? {}).length > 0,
)
const DEPLOYMENTS: readonly DexDeployment[] = [
  { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: V2_FACTORY },
  { amm: 'sushiswap_v2', protocol: 'uniswap_v2', factory: address(0xf101) },
  ...PROTOCOLS.filter((protocol) => protocol !== 'uniswap_v2').map((protocol, at) => ({
    amm: protocol,
    protocol,
    factory: address(0xf200 + at),
  })),
  { amm: 'virtuals', protocol: 'virtuals_launchpad', factory: VIRTUALS_LAUNCHPAD },
]
/** Those that most of a chain's volume goes through are met more often. */
const FREQUENT = ['uniswap_v2', 'uniswap_v2', 'uniswap_v3', 'uniswap_v4', 'curve', 'four_meme', 'four_meme']
const ALL_PROTOCOLS = [...FREQUENT, ...PROTOCOLS]

/** Two stablecoins, the native coin as a token and as itself, and tokens that claim what they like. */
const STABLE = [address(0xa0), address(0xa1)] as const
const WRAPPED = address(0xa2)
const NATIVE = address(0)
const OTHERS = [0xa3, 0xa4, 0xa5, 0xa6].map(address)
const ALL_TOKENS = [NATIVE, ...STABLE, WRAPPED, ...OTHERS]

/** The tokens and pools of one seed: pools of several protocols on the same few tokens. */
export class SimMarket {
  readonly pools: readonly SimPool[]
  /** The exchanges of `settings`. */
  readonly deployments: readonly DexDeployment[]
  readonly settings: EngineSettings
  readonly #tokens: ReadonlyMap<string, TokenFact>

  /** With `firstBlock`, some exchanges are known only before or after one of the blocks that follow it. */
  constructor(random: Random, firstBlock?: number) {
    this.#tokens = new Map(ALL_TOKENS.map((token) => [token, tokenFact(random, token)]))
    this.deployments = DEPLOYMENTS.map((each) => within(random, each, firstBlock))
    this.settings = {
      chain: CHAIN,
      registry: new DexRegistry(this.deployments),
      quoteAssets: quoteAssets(random),
      minDepthUsd: random.pick([0n, 0n, 1n, 10n ** 20n]),
      lockers: new Set(random.chance(0.9) ? LOCKERS : []),
    }
    const isHostile = random.chance(0.25)
    const drawn = Array.from({ length: random.between(2, 9) }, (_, index) =>
      randomPool(random, index, isHostile && random.chance(0.5)),
    )
    // More pairs of one quote asset than are listed with it.
    const crowd = random.chance(0.08)
      ? Array.from({ length: 22 }, (_, index) =>
          pairOf(random, 0x700 + index, [STABLE[0], random.pick(OTHERS)]),
        )
      : []
    const graduated = drawn.flatMap((pool, index) => afterCurve(random, pool, index))
    this.pools = [
      // Without a price of the native coin most of a market says nothing.
      pairOf(random, 0x500, [STABLE[0], WRAPPED]),
      ...graduated,
      ...crowd,
      // Only their tokens distinguish pools without a contract: there is one per pair of tokens.
      ...drawn.filter((pool, at) => drawn.findIndex((other) => other.address === pool.address) === at),
    ]
  }

  get tokens(): readonly string[] {
    return ALL_TOKENS
  }

  /** What has transfers: tokens, and pools that may have shares. */
  get movable(): readonly string[] {
    return [...ALL_TOKENS, ...this.pools.map(({ address }) => address)]
  }

  /** Settings that an operator may change to: fewer exchanges, some for a range of blocks, and any other assets. */
  otherSettings(random: Random): ChainSettings {
    const share = random.pick([1, 0.9, 0.6])
    return {
      rules: RULES_VERSION,
      dexes: this.deployments.filter(() => random.chance(share)),
      quoteAssets: quoteAssets(random).filter(() => random.chance(0.9)),
      minDepthUsd: random.pick([0n, 0n, 1n, 10n ** 20n]),
      lockers: sortedLockers(LOCKERS.filter(() => random.chance(0.7))),
      native: { address: NATIVE, supplyRaw: random.pick([undefined, 10n ** 26n, 10n ** 51n]) },
    }
  }

  /** The facts that a reader would publish about these pools and their tokens, except those published before. */
  factsOf(pools: Iterable<SimPool>, published: ReadonlySet<string>): Fact[] {
    const fresh = [...new Set(pools)].filter((pool) => !published.has(pool.address))
    const tokens = new Set(fresh.flatMap((pool) => pool.tokens))
    return [
      ...fresh.map(({ address, factory, tokens, pricing, reservesBefore, goalRaw }): PoolFact => {
        const fact = { type: 'pool', address, factory, tokens, pricing, reservesBefore } as const
        return goalRaw === undefined ? fact : { ...fact, goalRaw }
      }),
      ...[...tokens]
        .filter((token) => !published.has(token))
        .map((token) => this.#tokens.get(token) as TokenFact),
    ]
  }
}

function quoteAssets(random: Random): QuoteAsset[] {
  const stable = STABLE.map((token): QuoteAsset => ({ address: token, kind: 'stable' }))
  const native = [WRAPPED, NATIVE].map((token): QuoteAsset => ({ address: token, kind: 'native' }))
  const first = random.chance(0.7) ? [...stable, ...native] : [...native, ...stable]
  const known = first.filter(() => random.chance(0.95))
  const majors = OTHERS.slice(0, random.pick([0, 0, 1, 2]))
  return [...known, ...majors.map((token): QuoteAsset => ({ address: token, kind: 'major' }))]
}

function within(random: Random, deployment: DexDeployment, firstBlock: number | undefined): DexDeployment {
  if (firstBlock === undefined || deployment.factory === V2_FACTORY || random.chance(0.92)) return deployment
  const block = firstBlock + random.below(15)
  return random.chance(0.5) ? { ...deployment, fromBlock: block } : { ...deployment, untilBlock: block }
}

function randomPool(random: Random, index: number, isExtreme: boolean): SimPool {
  const protocol = random.pick(ALL_PROTOCOLS)
  const kind = kindOf({ protocol })
  const own = DEPLOYMENTS.filter((deployment) => deployment.protocol === protocol)
  const isForeign = kind.idOf === undefined && random.chance(0.05)
  const factory = isForeign ? FOREIGN_FACTORY : random.pick(own).factory
  const tokens = tokensOf(random, protocol)
  const pricing = kind.pricing(random)
  const isKnown = kind.isCounted === true && random.chance(0.7)
  return {
    protocol,
    address: kind.idOf?.(factory, tokens, pricing) ?? address(random.below(256) * 0x1000 + 0x600 + index),
    factory,
    tokens,
    pricing,
    reservesBefore: isKnown
      ? [amount(random), amount(random)]
      : pricing.kind === 'reserves'
        ? emptyAtTimes(random)
        : undefined,
    goalRaw: kind.isCurve && random.chance(0.6) ? 1n + amount(random) : undefined,
    isExtreme,
  }
}

function pairOf(random: Random, contract: number, tokens: readonly string[]): SimPool {
  return {
    protocol: 'uniswap_v2',
    address: address(contract),
    factory: V2_FACTORY,
    tokens,
    pricing: { kind: 'reserves' },
    reservesBefore: emptyAtTimes(random),
    goalRaw: undefined,
    isExtreme: false,
  }
}

/** All LP tokens of a pool that was empty when discovered are known. */
function emptyAtTimes(random: Random): readonly bigint[] | undefined {
  return random.chance(0.5) ? [0n, 0n] : undefined
}

/** The pair where the token of a launch platform's curve is traded later. */
function afterCurve(random: Random, { protocol, tokens: [token = ''] }: SimPool, index: number): SimPool[] {
  const hasPair = kindOf({ protocol }).isCurve && random.chance(0.7)
  return hasPair ? [pairOf(random, 0x501 + index, [WRAPPED, token])] : []
}

function tokensOf(random: Random, protocol: string): readonly string[] {
  const { isCurve, hasNative, maxTokens = 2 } = kindOf({ protocol })
  if (isCurve) {
    const quote =
      protocol === 'four_meme_v1' || random.chance(0.7) ? NATIVE : random.pick([WRAPPED, ...STABLE])
    return [random.pick(OTHERS), quote]
  }
  const choice = hasNative ? ALL_TOKENS : ALL_TOKENS.filter((one) => one !== NATIVE)
  const tokens = severalOf(random, choice, random.between(2, maxTokens))
  return protocol === 'curve' ? tokens : tokens.toSorted()
}

function tokenFact(random: Random, token: string): TokenFact {
  const usual = [6, 9, 18, 18]
  const isQuote = !OTHERS.includes(token)
  const decimals = random.pick(isQuote ? usual : [...usual, 0, 36, 37, 255, undefined])
  const supplyRaw = random.chance(0.8) ? amount(random) : undefined
  const text = Buffer.from(token.slice(-2))
  return { type: 'token', address: token, nameRaw: text, symbolRaw: text, decimals, supplyRaw }
}

function severalOf(random: Random, choice: readonly string[], count: number): string[] {
  const left = [...choice]
  return Array.from({ length: count }, () => left.splice(random.below(left.length), 1)[0] as string)
}

function address(value: number): string {
  return `0x${value.toString(16).padStart(40, '0')}`
}
