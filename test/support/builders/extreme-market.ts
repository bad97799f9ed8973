import { sqrtPriceAtTick } from '../../../src/dex/evm/concentrated-liquidity.ts'
import type { DexDeployment } from '../../../src/dex/protocol.ts'
import { DexRegistry } from '../../../src/dex/registry.ts'
import type { QuoteAsset } from '../../../src/domain/chain-settings.ts'
import type { BlockEnvelope, Fact, RawLog, TokenFact } from '../../../src/domain/envelope.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { words } from './abi-words.ts'
import { padded, rawLog } from './raw-log.ts'

/** Markets whose amounts, decimals and supplies stand at the limits of their types. */

export const CHAIN = 'local'
export const FIRST_TIME = 1_750_000_000
const MAX = 2n ** 256n - 1n
const SOLIDLY = id(0xf1, 20)
const V3 = id(0xf2, 20)

export const EVIL = id(0xa1, 20)
export const USDC = id(0xa2, 20)
export const WETH = id(0xa3, 20)
const OTHER = id(0xa4, 20)
export const EVIL_USDC = id(0x91, 20)
const WETH_USDC = id(0x92, 20)
const EVIL_WETH = id(0x93, 20)
const OTHER_USDC = id(0x94, 20)

const TOPICS = {
  sync: '0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a',
  swap: '0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b',
  created: '0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e',
  v3Initialize: '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95',
  v3Swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  v3Mint: '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
}

export const QUOTE_ASSETS: readonly QuoteAsset[] = [
  { address: USDC, kind: 'stable' },
  { address: WETH, kind: 'native' },
]
export const DEPLOYMENTS: readonly DexDeployment[] = [
  { amm: 'aerodrome', protocol: 'solidly', factory: SOLIDLY },
  { amm: 'uniswap_v3', protocol: 'uniswap_v3', factory: V3 },
]

export function extremeSettings(): EngineSettings {
  return {
    chain: CHAIN,
    registry: new DexRegistry(DEPLOYMENTS),
    quoteAssets: QUOTE_ASSETS,
    minDepthUsd: 0n,
    lockers: new Set([id(0x10c, 20)]),
  }
}

/** What dice are needed for; `Random` of the fuzz targets has it. */
type Dice = {
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

const AMOUNTS = [0n, 1n, 2n, 10n ** 6n, 10n ** 18n, 10n ** 40n, 2n ** 112n - 1n, 2n ** 128n, 2n ** 249n]
const LARGE = [2n ** 255n - 1n, 2n ** 255n, MAX - 1n, MAX]
const DECIMALS = [0, 1, 6, 18, 18, 35, 36, 37, 77, 254, 255, undefined]
const TICKS = [-887_272, -887_271, -600_000, 0, 1, 600_000, 887_271]
const PAUSES = [0, 1, 12, 12, 12, 60, 60, 120, 300, 300, 900]
const LONG_PAUSES = [3_600, 14_400, 86_400, 90_000]

export class ExtremeMarket {
  readonly #dice: Dice
  readonly #blocks: BlockEnvelope[] = []

  constructor(dice: Dice) {
    this.#dice = dice
  }

  next(): BlockEnvelope {
    const isFirst = this.#blocks.length === 0
    const logs: RawLog[] = isFirst ? this.#creations() : []
    for (let left = 1 + this.#dice.below(3); left > 0; left--) logs.push(...this.#event())
    const seconds = this.#dice.pick(this.#dice.chance(0.05) ? LONG_PAUSES : PAUSES)
    const block = blockOn(this.#blocks.at(-1), seconds, logs, isFirst ? this.#facts() : [])
    this.#blocks.push(block)
    return block
  }

  #facts(): Fact[] {
    const isNew = this.#dice.chance(0.7)
    const pool = (address: string, factory: string, tokens: string[]): Fact => ({
      type: 'pool',
      address,
      factory,
      tokens,
      pricing: { kind: factory === V3 ? 'sqrtPrice' : 'reserves' },
      reservesBefore: isNew ? [0n, 0n] : [this.#amount(), this.#amount()],
    })
    return [
      tokenFact(EVIL, this.#dice.pick(DECIMALS), this.#amount()),
      tokenFact(USDC, this.#dice.pick([6, 0, 36]), this.#amount()),
      tokenFact(WETH, this.#dice.pick([18, 0, 37]), this.#amount()),
      tokenFact(OTHER, this.#dice.pick(DECIMALS), this.#dice.chance(0.2) ? undefined : this.#amount()),
      pool(EVIL_USDC, SOLIDLY, [EVIL, USDC]),
      pool(WETH_USDC, SOLIDLY, [USDC, WETH]),
      pool(EVIL_WETH, SOLIDLY, [EVIL, WETH]),
      pool(OTHER_USDC, V3, [USDC, OTHER]),
    ]
  }

  #creations(): RawLog[] {
    return this.#dice.chance(0.5) ? [created(EVIL_USDC, EVIL, USDC), this.#price()] : [this.#price()]
  }

  #event(): RawLog[] {
    const roll = this.#dice.below(10)
    if (roll < 5) {
      const pool = this.#dice.pick([EVIL_USDC, EVIL_USDC, WETH_USDC, EVIL_WETH])
      return solidlySwap(
        pool,
        [this.#amount(), this.#amount()],
        this.#amount(),
        this.#amount(),
        this.#dice.chance(0.5),
      )
    }
    if (roll < 6) return [this.#price()]
    if (roll < 7) {
      const range = [words(-887_220n), words(887_220n)]
      return [
        rawLog(
          OTHER_USDC,
          [TOPICS.v3Mint, padded(id(0x5e, 20)), ...range],
          words(id(0x5e, 20), 2n ** 127n, this.#amount(), this.#amount()),
        ),
      ]
    }
    const holders = [id(0, 20), id(0xb1, 20), id(0xb2, 20), id(0xdead, 20), id(0x10c, 20)]
    const sides = [padded(this.#dice.pick(holders)), padded(this.#dice.pick(holders))]
    const token = this.#dice.pick([EVIL, OTHER, EVIL_USDC, WETH])
    return [rawLog(token, [TOPICS.transfer, ...sides], words(this.#amount()))]
  }

  #price(): RawLog {
    const tick = this.#dice.pick(TICKS)
    const price = [sqrtPriceAtTick(tick), BigInt(tick)] as const
    if (this.#dice.chance(0.5)) return rawLog(OTHER_USDC, [TOPICS.v3Initialize], words(...price))
    const [paid, got] = [this.#signed(), -this.#signed()]
    const deltas = this.#dice.chance(0.5) ? [paid, got] : [got, paid]
    return rawLog(
      OTHER_USDC,
      [TOPICS.v3Swap, padded(id(7, 20)), padded(id(8, 20))],
      words(...deltas, price[0], 1n, price[1]),
    )
  }

  #amount(): bigint {
    return this.#dice.pick(this.#dice.chance(0.5) ? LARGE : AMOUNTS)
  }

  #signed(): bigint {
    return this.#dice.pick([1n, 10n ** 18n, 2n ** 127n, 2n ** 255n - 1n])
  }
}

/** One block in which 2^249 units of a token change hands this often: their sum is beyond 2^256. */
export function floodBlock(swaps: number, before?: BlockEnvelope, seconds = 0): BlockEnvelope {
  const logs = before === undefined ? [created(EVIL_USDC, EVIL, USDC)] : []
  for (let done = 0; done < swaps; done++)
    logs.push(...solidlySwap(EVIL_USDC, [2n ** 249n, 32n], 16n, 2n ** 249n, false))
  const facts: Fact[] = [
    tokenFact(EVIL, 18, 2n ** 255n),
    tokenFact(USDC, 6, 10n ** 18n),
    {
      type: 'pool',
      address: EVIL_USDC,
      factory: SOLIDLY,
      tokens: [EVIL, USDC],
      pricing: { kind: 'reserves' },
      reservesBefore: [0n, 0n],
    },
  ]
  return blockOn(before, seconds, logs, before === undefined ? facts : [])
}

function tokenFact(address: string, decimals: number | undefined, supplyRaw: bigint | undefined): TokenFact {
  const nameRaw = Buffer.from(`T${address.slice(-2)}`)
  return { type: 'token', address, nameRaw, symbolRaw: nameRaw, decimals, supplyRaw }
}

function created(pool: string, token0: string, token1: string): RawLog {
  return rawLog(SOLIDLY, [TOPICS.created, padded(token0), padded(token1), words(0n)], words(pool, 1n))
}

/** `isToken0In`: token 0 is paid in for token 1, else the other way round. */
function solidlySwap(
  pool: string,
  reserves: readonly [bigint, bigint],
  paid: bigint,
  got: bigint,
  isToken0In: boolean,
): RawLog[] {
  const flows = isToken0In ? [paid, 0n, 0n, got] : [0n, paid, got, 0n]
  return [
    rawLog(pool, [TOPICS.sync], words(...reserves)),
    rawLog(pool, [TOPICS.swap, padded(id(7, 20)), padded(id(8, 20))], words(...flows)),
  ]
}

function blockOn(
  parent: BlockEnvelope | undefined,
  seconds: number,
  logs: readonly RawLog[],
  facts: readonly Fact[],
): BlockEnvelope {
  const number = (parent?.number ?? 99) + 1
  const indexed = logs.map((log, index) => ({ ...log, index }))
  return {
    kind: 'block',
    chain: CHAIN,
    number,
    hash: id(number, 32),
    parentHash: parent?.hash ?? id(99, 32),
    time: (parent?.time ?? FIRST_TIME) + seconds,
    transactions: [{ index: 0, hash: id(number * 1_000, 32), from: id(0xe1, 20), logs: indexed }],
    facts,
  }
}

function id(value: number, size: number): string {
  return `0x${value.toString(16).padStart(size * 2, '0')}`
}
