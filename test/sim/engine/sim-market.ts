import type { DexDeployment } from '../../../src/dex/protocol.ts'
import { DexRegistry } from '../../../src/dex/registry.ts'
import type { Fact, PoolFact, Pricing, TokenFact } from '../../../src/domain/envelope.ts'
import type { EngineSettings, QuoteAsset } from '../../../src/engine/settings.ts'
import type { Random } from '../../fuzz/random.ts'
import { hashOf } from '../../support/abi-words.ts'
import { LOCKERS } from '../../support/move-arbitraries.ts'
import { amount } from './pool-logs.ts'

export const CHAIN = 'simulated'

export type PoolKind = 'v2' | 'v3' | 'v4' | 'curve'

export type SimPool = {
  readonly kind: PoolKind
  readonly address: string
  readonly factory: string
  readonly tokens: readonly string[]
  /** What a node would answer that is asked when the pool is first met. */
  readonly reservesBefore: readonly bigint[] | undefined
}

const PRICING: Readonly<Record<PoolKind, Pricing>> = {
  v2: { kind: 'reserves' },
  v3: { kind: 'sqrtPrice' },
  v4: { kind: 'sqrtPrice' },
  curve: { kind: 'trades' },
}

const V2_FACTORY = address(0xf1)
const FOREIGN_FACTORY = address(0xfe)
const DEPLOYMENTS: readonly DexDeployment[] = [
  { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: V2_FACTORY },
  { amm: 'sushiswap_v2', protocol: 'uniswap_v2', factory: address(0xf2) },
  { amm: 'uniswap_v3', protocol: 'uniswap_v3', factory: address(0xf3) },
  { amm: 'uniswap_v4', protocol: 'uniswap_v4', factory: address(0xf4) },
  { amm: 'curve', protocol: 'curve', factory: address(0xf5) },
]

/** Two stablecoins, the native coin as a token and as itself, and tokens that claim what they like. */
const STABLE = [address(0xa0), address(0xa1)] as const
const WRAPPED = address(0xa2)
const NATIVE = address(0)
const OTHERS = [0xa3, 0xa4, 0xa5, 0xa6].map(address)
const ALL_TOKENS = [NATIVE, ...STABLE, WRAPPED, ...OTHERS]

/** The tokens and pools of one seed: pools of several protocols on the same few tokens. */
export class SimMarket {
  readonly pools: readonly SimPool[]
  readonly settings: EngineSettings
  readonly #tokens: ReadonlyMap<string, TokenFact>

  constructor(random: Random) {
    this.#tokens = new Map(ALL_TOKENS.map((token) => [token, tokenFact(random, token)]))
    const stable = STABLE.map((token): QuoteAsset => ({ address: token, kind: 'stable' }))
    const native = [WRAPPED, NATIVE].map((token): QuoteAsset => ({ address: token, kind: 'native' }))
    const major = random.chance(0.5) ? [{ address: OTHERS[0] as string, kind: 'major' as const }] : []
    const quoteAssets = [...(random.chance(0.7) ? [...stable, ...native] : [...native, ...stable]), ...major]
    const minDepthUsd = random.pick([0n, 0n, 1n, 10n ** 20n])
    this.settings = {
      chain: CHAIN,
      registry: new DexRegistry(DEPLOYMENTS),
      quoteAssets,
      minDepthUsd,
      lockers: new Set(LOCKERS),
    }
    const drawn = Array.from({ length: random.between(2, 9) }, (_, index) => randomPool(random, index))
    this.pools = [
      // Without a price of the native coin most of a market says nothing.
      {
        kind: 'v2',
        address: address(0x500),
        factory: V2_FACTORY,
        tokens: [STABLE[0], WRAPPED],
        reservesBefore: undefined,
      },
      // Pools without a contract are told apart by their tokens alone: of the same two there is one.
      ...drawn.filter((pool, at) => drawn.findIndex((other) => other.address === pool.address) === at),
    ]
  }

  /** What has transfers: tokens, and pools that may have shares. */
  get movable(): readonly string[] {
    return [...ALL_TOKENS, ...this.pools.map(({ address }) => address)]
  }

  /** What a reader would have to tell of these pools and their tokens, but for what it told before. */
  factsOf(pools: Iterable<SimPool>, told: ReadonlySet<string>): Fact[] {
    const fresh = [...new Set(pools)].filter((pool) => !told.has(pool.address))
    const tokens = new Set(fresh.flatMap((pool) => pool.tokens))
    return [
      ...fresh.map(({ kind, address, factory, tokens, reservesBefore }): PoolFact => {
        return { type: 'pool', address, factory, tokens, pricing: PRICING[kind], reservesBefore }
      }),
      ...[...tokens].filter((token) => !told.has(token)).map((token) => this.#tokens.get(token) as TokenFact),
    ]
  }
}

function randomPool(random: Random, index: number): SimPool {
  const kind = random.pick<PoolKind>(['v2', 'v2', 'v3', 'v3', 'v4', 'v4', 'curve'])
  const protocols = { v2: 'uniswap_v2', v3: 'uniswap_v3', v4: 'uniswap_v4', curve: 'curve' }
  const own = DEPLOYMENTS.filter(({ protocol }) => protocol === protocols[kind])
  const isForeign = kind !== 'v4' && random.chance(0.05)
  const factory = isForeign ? FOREIGN_FACTORY : random.pick(own).factory
  // Only where pools are no contracts does the native coin stand beside tokens; Curve's zero is the same.
  const choice = kind === 'v4' || kind === 'curve' ? ALL_TOKENS : ALL_TOKENS.filter((one) => one !== NATIVE)
  const tokens = severalOf(random, choice, kind === 'curve' ? random.between(2, 4) : 2)
  const isCounted = kind === 'v3' || kind === 'v4'
  const reservesBefore = isCounted && random.chance(0.7) ? [amount(random), amount(random)] : undefined
  const ordered = kind === 'curve' ? tokens : tokens.toSorted()
  const contract = address(random.below(256) * 0x1000 + 0x600 + index)
  return {
    kind,
    address: kind === 'v4' ? v4Id(ordered) : contract,
    factory,
    tokens: ordered,
    reservesBefore,
  }
}

/** The hash of its key: tokens, fee, tick spacing and no hooks. */
function v4Id([token0 = '', token1 = '']: readonly string[]): string {
  return hashOf(token0, token1, 3_000n, 60n, '0x')
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
