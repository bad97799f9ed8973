import assert from 'node:assert/strict'
import { DexRegistry } from '../../../src/dex/registry.ts'
import type { ChangeSet, Pair, Token } from '../../../src/domain/change.ts'
import type { BlockEnvelope, Fact, PoolFact, RawLog } from '../../../src/domain/envelope.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { CHAIN, FIRST_BLOCK, id } from '../arbitraries/market-arbitraries.ts'
import { foldChangeSets, type Tables } from '../reference/change-tables.ts'
import { EngineRun } from '../rigs/engine-run.ts'
import { hashOf, words } from './abi-words.ts'
import { padded } from './raw-log.ts'

/** A chain with a launch platform of each kind, and Uniswap V2, written down log by log. */

export const NATIVE = id(0, 20)
export const USDC = id(0xa0, 20)
export const WETH = id(0xa1, 20)
export const MEME = id(0xb0, 20)
const FACTORY = id(0xf1, 20)
export const MANAGER = id(0xf2, 20)
export const MANAGER_V1 = id(0xf3, 20)
export const PORTAL = id(0xf4, 20)
const FFACTORY = id(0xf5, 20)
const LAUNCHPAD = id(0xf6, 20)
export const OTHER_LAUNCHPAD = id(0xf7, 20)
const CLANKER = id(0xf8, 20)
const ETH_POOL = id(0x10, 20)
export const MEME_POOL = id(0x11, 20)
/** What MEME is exchanged for when it graduates from the first version of Virtuals, and its pool. */
export const AGENT = id(0xb1, 20)
export const AGENT_POOL = id(0x13, 20)
export const CURVE_VIRTUALS = id(0x12, 20)
export const CURVE = hashOf(MANAGER, MEME)
export const CURVE_V1 = hashOf(MANAGER_V1, MEME)
export const CURVE_FLAP = hashOf(PORTAL, MEME)
const TRADER = id(0xee, 20)

export const settings: EngineSettings = {
  chain: CHAIN,
  registry: new DexRegistry([
    { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: FACTORY },
    { amm: 'fourmeme', protocol: 'four_meme', factory: MANAGER },
    { amm: 'fourmeme', protocol: 'four_meme_v1', factory: MANAGER_V1 },
    { amm: 'flap', protocol: 'flap', factory: PORTAL },
    { amm: 'virtuals', protocol: 'virtuals', factory: FFACTORY },
    { amm: 'virtuals', protocol: 'virtuals_launchpad', factory: LAUNCHPAD },
    { amm: 'other', protocol: 'virtuals_launchpad', factory: OTHER_LAUNCHPAD },
    { amm: 'clanker', protocol: 'clanker', factory: CLANKER },
  ]),
  quoteAssets: [
    { address: USDC, kind: 'stable' },
    { address: WETH, kind: 'native' },
    { address: NATIVE, kind: 'native' },
  ],
  minDepthUsd: 0n,
  lockers: new Set(),
}

export const ether = (thousandths: bigint): bigint => thousandths * 10n ** 15n
export const millions = (count: bigint): bigint => count * 10n ** 24n

type Log = Omit<RawLog, 'index'>

function log(address: string, topics: readonly string[], ...values: readonly (string | bigint)[]): Log {
  return { address, topics, data: Buffer.from(words(...values).slice(2), 'hex') }
}

const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
const FPAIR_SWAP = '0x298c349c742327269dc8de6ad66687767310c948ea309df826f5bd103e19d207'

const nameAndSymbol = [1n, `0x41${'00'.repeat(31)}`, 1n, `0x41${'00'.repeat(31)}`]

/** What TokenManager2 says. */
export const four = {
  create: (manager = MANAGER) => {
    const topic = '0x396d5e902b675b032348d3d2e9517ee8f0c4a926603fbc075d3d282ff00cad20'
    return log(manager, [topic], TRADER, MEME, 1n, 256n, 320n, millions(1_000n), 0n, 0n, ...nameAndSymbol)
  },
  buy: (amount: bigint, cost: bigint, offers: bigint, funds: bigint) => {
    const topic = '0x7db52723a3b2cdd6164364b3b766e65e540d7be48ffa89582956d8eaebe62942'
    return log(MANAGER, [topic], MEME, TRADER, 1n, amount, cost, cost / 100n, offers, funds)
  },
  sell: (amount: bigint, cost: bigint, offers: bigint, funds: bigint) => {
    const topic = '0x0a5575b3648bae2210cee56bf33254cc1ddfbc7bf637c0af2ac18b14fb1bae19'
    return log(MANAGER, [topic], MEME, TRADER, 1n, amount, cost, cost / 100n, offers, funds)
  },
  stop: (manager = MANAGER) => {
    return log(manager, ['0x8f9ab4bd7eff0d085f91575d50cd83f97aa5258e24ded7630d4fd6739e857132'], MEME)
  },
  added: (tokenRaw: bigint, quoteRaw: bigint) => {
    const topic = '0xc18aa71171b358b706fe3dd345299685ba21a5316c66ffa9e319268b033c44b0'
    return log(MANAGER, [topic], MEME, tokenRaw, NATIVE, quoteRaw)
  },
  buyV1: (amount: bigint, paid: bigint) => {
    const topic = '0x623b3804fa71d67900d064613da8f94b9617215ee90799290593e1745087ad18'
    return log(MANAGER_V1, [topic], MEME, TRADER, amount, paid)
  },
}

/** What Flap's portal says. */
export const flap = {
  create: () => {
    const topic = '0x504e7f360b2e5fe33cbaaae4c593bc55305328341bf79009e43e0e3b7f699603'
    return log(PORTAL, [topic], 1n, TRADER, 1n, MEME, 224n, 288n, 288n, ...nameAndSymbol)
  },
  buy: (amount: bigint, paid: bigint, fee: bigint) => {
    const topic = '0xa800a2038683844fac66747f771bfdfae862eb28b16bcfa387afa9fbacce8ff7'
    return log(PORTAL, [topic], 1n, MEME, TRADER, amount, paid, fee, 1n)
  },
  sell: (amount: bigint, received: bigint, fee: bigint) => {
    const topic = '0x03a4693e592f5e75dc7c136acb39b146d2b4966c0e509c34f362dee02b3b861a'
    return log(PORTAL, [topic], 1n, MEME, TRADER, amount, received, fee, 1n)
  },
  progress: (wad: bigint) => {
    return log(PORTAL, ['0x4c35e20d1e9bce377c7d9ec1572d934e46d62961f4da8af5beb8002d5906742d'], MEME, wad)
  },
  launch: () => {
    const topic = '0x6e4f47630b8745b8cacbd44f42a8a33e7eea7cc08ef22fc7630f4f385784ff7d'
    return log(PORTAL, [topic], MEME, MEME_POOL, 1n, 1n)
  },
}

/** What the contracts of Virtuals say of a curve and its token. */
export const virtuals = {
  create: () => log(FFACTORY, [PAIR_CREATED, padded(MEME), padded(WETH)], CURVE_VIRTUALS, 1n),
  mint: (supply: bigint) => {
    const topic = '0xcc9c58b575eabd3f6a1ee653e91fcea3ff546867ffc3782a3bbca1f9b6dbb8df'
    return log(CURVE_VIRTUALS, [topic], supply, ether(6_000n))
  },
  buy: (amount: bigint, paid: bigint) => log(CURVE_VIRTUALS, [FPAIR_SWAP], 0n, amount, paid, 0n),
  sell: (amount: bigint, received: bigint) => log(CURVE_VIRTUALS, [FPAIR_SWAP], amount, 0n, 0n, received),
  graduate: (successor = MEME, launchpad = LAUNCHPAD) => {
    const topic = '0x381d54fa425631e6266af114239150fae1d5db67bb65b4fa9ecc65013107e07e'
    return log(launchpad, [topic, padded(MEME)], successor)
  },
  drain: () => {
    const topic = '0x6780d7960d1ee98bd98b0fe1eae47483ed1f37ec80e9cd2b69d812ba64f19b99'
    return log(LAUNCHPAD, [topic, padded(MEME), padded(TRADER)], 1n, 1n)
  },
}

/** What Clanker says of a token that starts in a pool. */
export const clanker = {
  create: () => {
    const topic = '0x8df367d10c042c43a79f6842addf298c4b250b4cb2145cae311c9ba110ff8e17'
    const offsets = [256n, 320n, millions(1_000n), 320n]
    return log(CLANKER, [topic], MEME, 1n, TRADER, 1n, ...offsets, ...nameAndSymbol)
  },
}

/** What Uniswap V2 says of the pool where MEME is traded in the end. */
export const pool = {
  create: (address = MEME_POOL, token = MEME) =>
    log(FACTORY, [PAIR_CREATED, padded(WETH), padded(token)], address, 1n),
  sync: (quoteRaw: bigint, tokenRaw: bigint, address = MEME_POOL) => {
    const topic = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
    return log(address, [topic], quoteRaw, tokenRaw)
  },
}

const POOLS: readonly PoolFact[] = [
  poolFact(ETH_POOL, FACTORY, [USDC, WETH], { kind: 'reserves' }),
  poolFact(MEME_POOL, FACTORY, [WETH, MEME], { kind: 'reserves' }),
  { ...poolFact(CURVE, MANAGER, [MEME, NATIVE], { kind: 'trades' }), goalRaw: ether(20_000n) },
  poolFact(CURVE_V1, MANAGER_V1, [MEME, NATIVE], { kind: 'trades' }),
  {
    ...poolFact(CURVE_FLAP, PORTAL, [MEME, NATIVE], { kind: 'trades' }),
    reservesBefore: [millions(800n), 0n],
  },
  {
    ...poolFact(CURVE_VIRTUALS, FFACTORY, [MEME, WETH], { kind: 'trades' }),
    reservesBefore: [0n, 0n],
  },
  poolFact(AGENT_POOL, FACTORY, [WETH, AGENT], { kind: 'reserves' }),
]

function poolFact(
  address: string,
  factory: string,
  tokens: string[],
  pricing: PoolFact['pricing'],
): PoolFact {
  return { type: 'pool', address, factory, tokens, pricing, reservesBefore: undefined }
}

export function tokenFact(address: string): Fact {
  const isMeme = address === MEME
  return {
    ...{ type: 'token', address, nameRaw: Buffer.from('Some'), symbolRaw: Buffer.from('SOME') },
    ...{ decimals: address === USDC ? 6 : 18, supplyRaw: isMeme ? millions(1_000n) : undefined },
  }
}

export class LaunchMarket {
  readonly run = new EngineRun(settings)
  readonly chain: BlockEnvelope[] = []
  readonly #curve: string

  /** 3,000,000 dollars against 1,000 WETH: a native coin is worth 3,000 dollars. `curve` is where MEME is sold. */
  constructor(curve: string) {
    this.#curve = curve
    const topic = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
    this.block(log(ETH_POOL, [topic], 3_000_000n * 10n ** 6n, ether(1_000_000n)))
  }

  /** Everything in one transaction. */
  block(...logs: readonly Log[]): ChangeSet {
    return this.#apply(logs, [])
  }

  /** A block without events, but with facts; MEME may be among its tokens. */
  facts(...facts: readonly Fact[]): ChangeSet {
    return this.#apply([], facts)
  }

  #apply(logs: readonly Log[], facts: readonly Fact[]): ChangeSet {
    const parent = this.chain.at(-1)
    const number = (parent?.number ?? FIRST_BLOCK - 1) + 1
    const salt = this.run.sets.length
    const block: BlockEnvelope = {
      ...{ kind: 'block', chain: CHAIN, number, hash: id(number * 1_000 + salt, 32) },
      parentHash: parent?.hash ?? id(0x9e, 32),
      time: 1_700_000_000 + number * 10,
      transactions: [
        {
          index: 0,
          hash: id(number, 32),
          from: TRADER,
          logs: logs.map((each, index) => ({ ...each, index })),
        },
      ],
      facts: [...this.#factsFor(logs), ...facts],
    }
    this.chain.push(block)
    return this.run.apply(block)
  }

  undo(): ChangeSet {
    const gone = this.chain.pop()
    assert.ok(gone)
    const lastValid = { number: gone.number - 1, hash: gone.parentHash }
    return this.run.apply({ kind: 'undo', chain: CHAIN, lastValid })
  }

  get tables(): Tables {
    return foldChangeSets(this.run.sets)
  }

  get token(): Token {
    return this.tokenOf(MEME)
  }

  tokenOf(address: string): Token {
    const token = this.tables.tokens.get(address)
    assert.ok(token)
    return token
  }

  pair(address: string): Pair {
    const pair = this.tables.pairs.get(address)
    assert.ok(pair)
    return pair
  }

  /** As a reader publishes them: each once. */
  #factsFor(logs: readonly Log[]): Fact[] {
    const published = new Set(this.chain.flatMap(({ facts }) => facts.map(({ address }) => address)))
    const named = logs.map(({ address, topics, data }) => {
      if (topics[0] === PAIR_CREATED) return `0x${Buffer.from(data).toString('hex', 12, 32)}`
      return [MANAGER, MANAGER_V1, PORTAL].includes(address) ? this.#curve : address
    })
    const pools = POOLS.filter(({ address }) => named.includes(address) && !published.has(address))
    const tokens = new Set(pools.flatMap((each) => each.tokens).filter((address) => !published.has(address)))
    return [...[...tokens].map(tokenFact), ...pools]
  }
}
