import {
  convertPrice,
  invertPrice,
  ONE_PRICE,
  type Price,
  priceOf,
  type Value,
  valueOfAmount,
} from '../../../src/domain/money.ts'
import { compareOrderKeys, type OrderKey } from '../../../src/domain/order-key.ts'
import { MarketEvents, type MetPool, type Seen, type SwapSeen, type SyncSeen } from './market-events.ts'

export type Worth = { readonly usd: Price | undefined; readonly native: Price | undefined }
type Depth = { readonly usd: Value | undefined; readonly native: Value | undefined }
type Asked = { readonly raw0: bigint; readonly raw1: bigint }

export const END: OrderKey = { block: Number.MAX_SAFE_INTEGER, tx: 0, log: 0 }
export const NOTHING: Worth = { usd: undefined, native: undefined }

/** What any number was at any moment: nothing is remembered, all is looked up. */
export class MarketHistory extends MarketEvents {
  readonly #remembered = new Map<string, unknown>()

  lastSync(pool: string, at: OrderKey): SyncSeen | undefined {
    return this.syncs.filter((sync) => sync.pool === pool && compareOrderKeys(sync.key, at) <= 0).at(-1)
  }

  reservesAt(pool: string, at: OrderKey): readonly [bigint | undefined, bigint | undefined] {
    const [before0, before1] = this.poolFact(pool).reservesBefore ?? []
    return this.lastSync(pool, at)?.reserves ?? [before0, before1]
  }

  /** What a pool asks after its last event up to `at`: nothing while one side is empty. */
  askedAt(pool: string, at: OrderKey): Asked | undefined {
    const [raw0, raw1] = this.reservesAt(pool, at)
    return raw0 === undefined || raw1 === undefined || raw0 === 0n || raw1 === 0n ? undefined : { raw0, raw1 }
  }

  /** What of it counts for others after the block in this place of the chain; before the first, nothing does. */
  countedAfter(pool: string, place: number): Asked | undefined {
    const block = this.blocks[place]
    if (block === undefined) return undefined
    return this.#remember(`counted ${pool} ${place}`, () => {
      const inside = (at: number) => this.syncs.filter((sync) => sync.pool === pool && sync.key.block === at)
      const before = this.countedAfter(pool, place - 1)
      const last = this.askedAt(pool, endOf(block.number))
      if (inside(block.number).length === 0) {
        const previous = this.blocks[place - 1]
        const wasTouched = previous !== undefined && inside(previous.number).length > 0
        return wasTouched ? last : before
      }
      if (last === undefined) return undefined
      const asked = inside(block.number).flatMap(({ key }) => this.askedAt(pool, key) ?? [])
      const sorted = [...(before === undefined ? [] : [before]), ...asked].sort(dearer)
      const upper = sorted[Math.floor(sorted.length / 2)] as Asked
      if (sorted.length % 2 === 1) return upper
      const lower = sorted[sorted.length / 2 - 1] as Asked
      return dearer(last, lower) <= 0 ? lower : upper
    })
  }

  /** Pools of a stablecoin and the native coin that are deep enough, and what each says a native coin costs. */
  anchorsAfter(place: number): { stable: string; price: Price; depth: Value }[] {
    const at = endOf(this.blocks[place]?.number ?? -1)
    return this.pools.flatMap((pool) => {
      const isStable0 = this.kindOf(pool.token0) === 'stable' && this.kindOf(pool.token1) === 'native'
      const isStable1 = this.kindOf(pool.token1) === 'stable' && this.kindOf(pool.token0) === 'native'
      const counted = this.countedAfter(pool.address, place)
      if ((!isStable0 && !isStable1) || counted === undefined) return []
      const [stable, native] = isStable0 ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
      const [stableRaw, nativeRaw] = isStable0 ? [counted.raw0, counted.raw1] : [counted.raw1, counted.raw0]
      const reserve = this.reservesAt(pool.address, at)[isStable0 ? 0 : 1]
      const [stableDecimals, nativeDecimals] = [stable, native].map(
        (token) => this.tokenFact(token)?.decimals ?? -1,
      ) as [number, number]
      const price = priceOf(nativeRaw, nativeDecimals, stableRaw, stableDecimals)
      const depth = valueOfAmount(reserve ?? 0n, stableDecimals, ONE_PRICE)
      if (price === undefined || depth === undefined) return []
      return depth > 0n && depth >= this.market.minDepthUsd ? [{ stable, price, depth }] : []
    })
  }

  nativeUsdAfter(place: number): Price | undefined {
    return this.#remember(`native ${place}`, () => middleOfWeight(this.anchorsAfter(place)))
  }

  /** Price of a quote asset after the block in this place; of a major, after `majorPlace`. */
  worthAfter(token: string | undefined, place: number, majorPlace = place - 1): Worth {
    const nativeUsd = this.nativeUsdAfter(place)
    switch (this.kindOf(token)) {
      case 'native':
        return { usd: nativeUsd, native: ONE_PRICE }
      case 'stable': {
        const own = middleOfWeight(this.anchorsAfter(place).filter(({ stable }) => stable === token))
        const usd = dollarOf(nativeUsd, own)
        return { usd, native: convertPrice(usd, invertPrice(nativeUsd)) }
      }
      case 'major': {
        const { price, main } = this.priceAfter(token ?? '', majorPlace)
        const depth = main === undefined ? undefined : this.depthAfter(main, majorPlace)
        return depth === undefined || depth < this.market.minDepthUsd ? NOTHING : price
      }
      default:
        return NOTHING
    }
  }

  /** Price of a quote asset during the block of `at`: its value when the previous block ended. */
  quoteWorth(quote: string | undefined, at: OrderKey): Worth {
    const place = this.blocks.findIndex(({ number }) => number >= at.block)
    const before = (place === -1 ? this.blocks.length : place) - 1
    return this.worthAfter(quote, before, before)
  }

  /** One whole target token, when so much of it goes for so much of the quote asset. */
  targetWorth(
    target: string | undefined,
    quote: string | undefined,
    targetRaw: bigint,
    quoteRaw: bigint,
    at: OrderKey,
  ): Worth {
    return this.worthOfExchange(target, quote, targetRaw, quoteRaw, this.quoteWorth(quote, at))
  }

  worthOfExchange(
    target: string | undefined,
    quote: string | undefined,
    targetRaw: bigint,
    quoteRaw: bigint,
    { usd, native }: Worth,
  ): Worth {
    const targetDecimals = this.tokenFact(target)?.decimals
    const quoteDecimals = this.tokenFact(quote)?.decimals
    if (target === undefined || targetDecimals === undefined || quoteDecimals === undefined) return NOTHING
    const inQuote = priceOf(targetRaw, targetDecimals, quoteRaw, quoteDecimals)
    return {
      usd: convertPrice(inQuote, usd),
      native: this.kindOf(target) === 'native' ? ONE_PRICE : convertPrice(inQuote, native),
    }
  }

  /** By its reserves, at what the native coin was worth when they last changed. */
  poolPrices(pool: string, at: OrderKey): { target: Worth; quote: Worth } | undefined {
    const fact = this.poolFact(pool)
    const [target, quote] = [this.targetOf(fact), this.quoteOf(fact)]
    const sync = this.lastSync(pool, at)
    if (target === undefined || sync === undefined) return undefined
    const asked = this.askedAt(pool, at)
    const [targetRaw, quoteRaw] =
      target === fact.token0 ? [asked?.raw0, asked?.raw1] : [asked?.raw1, asked?.raw0]
    return {
      target:
        asked === undefined
          ? NOTHING
          : this.targetWorth(target, quote, targetRaw ?? 0n, quoteRaw ?? 0n, sync.key),
      quote: this.quoteWorth(quote, sync.key),
    }
  }

  /** Both sides at pool prices, if both are known. */
  depthAt(pool: string, at: OrderKey): Depth {
    const fact = this.poolFact(pool)
    const prices = this.poolPrices(pool, at)
    const reserves = this.reservesAt(pool, at)
    if (prices === undefined) return NOTHING
    const inCoin = (coin: 'usd' | 'native'): Value | undefined => {
      const [value0, value1] = [fact.token0, fact.token1].map((token, side) => {
        const worth = token === this.targetOf(fact) ? prices.target : prices.quote
        return this.worthOf(token, reserves[side], worth[coin])
      })
      return sumThatFits([value0, value1])
    }
    return { usd: inCoin('usd'), native: inCoin('native') }
  }

  worthOf(
    token: string | undefined,
    amountRaw: bigint | undefined,
    price: Price | undefined,
  ): Value | undefined {
    const decimals = this.tokenFact(token)?.decimals
    if (amountRaw === undefined || decimals === undefined) return undefined
    return valueOfAmount(amountRaw, decimals, price)
  }

  /** What the quote side of a pair is worth after the block in this place, at the prices of its last event. */
  depthAfter(pool: string, place: number): Value | undefined {
    const at = endOf(this.blocks[place]?.number ?? -1)
    if (this.depthAt(pool, at).usd === undefined) return undefined
    const fact = this.poolFact(pool)
    const quote = this.quoteOf(fact)
    const reserve = this.reservesAt(pool, at)[quote === fact.token0 ? 0 : 1]
    return this.worthOf(quote, reserve, this.poolPrices(pool, at)?.quote.usd)
  }

  /** A token after the block in this place: its main pair, its price, and when it last changed. */
  priceAfter(token: string, place: number): { main: string | undefined; price: Worth; updatedAt: number } {
    const block = this.blocks[place]
    const fact = this.tokenFact(token)
    if (block === undefined || fact === undefined || fact.block > block.number)
      return { main: undefined, price: NOTHING, updatedAt: 0 }
    return this.#remember(`price ${token} ${place}`, () => {
      const isNew = fact.block === block.number
      const before = isNew
        ? { main: undefined, price: this.#withoutPair(token, place - 1), updatedAt: block.time }
        : this.priceAfter(token, place - 1)
      const known = this.pools.filter((pool) => pool.block <= block.number)
      const asTarget = known.filter((pool) => this.targetOf(pool) === token)
      const asQuote = known.filter((pool) => this.quoteOf(pool) === token)
      let { main, price, updatedAt } = before
      if ([...asTarget, ...asQuote].some((pool) => this.isTouched(pool, place))) {
        const pricing = this.#mainAmong(asTarget, before.main, place)
        main = pricing ?? this.#mainAmong(asQuote, before.main, place)
        price = pricing === undefined ? this.#withoutPair(token, place) : this.poolWorth(pricing, place)
        updatedAt = block.time
      }
      const isPriced = main !== undefined && this.targetOf(this.poolFact(main)) === token
      if (!isPriced && ['stable', 'native'].includes(this.kindOf(token) ?? '')) {
        const worth = this.worthAfter(token, place)
        if (worth.usd !== price.usd || worth.native !== price.native) updatedAt = block.time
        price = worth
      }
      return { main, price, updatedAt }
    })
  }

  /** Did anything happen to a pair in this block that its tokens have to hear of? */
  isTouched(pool: MetPool, place: number): boolean {
    const [block, previous] = [this.blocks[place], this.blocks[place - 1]]
    const { address } = pool
    const within = (number: number | undefined, seen: readonly Seen[]) =>
      seen.some((event) => event.pool === address && event.key.block === number)
    const isSettled =
      within(previous?.number, this.syncs) &&
      !within(block?.number, this.syncs) &&
      this.askedAt(address, endOf(previous?.number ?? -1)) !== undefined &&
      !isSame(this.countedAfter(address, place - 1), this.askedAt(address, endOf(previous?.number ?? -1)))
    return (
      pool.block === block?.number ||
      within(block?.number, this.syncs) ||
      within(block?.number, this.swaps.filter(isExchange)) ||
      this.creations.some((created) => created.pool === address && created.key.block === block?.number) ||
      isSettled
    )
  }

  /** The deepest one; at a tie the lower address; but the main one stays until another is a tenth deeper. */
  #mainAmong(pairs: readonly MetPool[], current: string | undefined, place: number): string | undefined {
    const depths = pairs.flatMap(({ address }) => {
      const depth = this.depthAfter(address, place)
      return depth === undefined ? [] : [{ address, depth }]
    })
    const best = depths
      .filter(({ depth }) => depths.every((other) => other.depth <= depth))
      .sort((a, b) => (a.address < b.address ? -1 : 1))[0]
    const main = depths.find(({ address }) => address === current)
    if (best === undefined || main === undefined) return best?.address
    return best.depth * 10n > main.depth * 11n ? best.address : main.address
  }

  #withoutPair(token: string, place: number): Worth {
    return this.kindOf(token) === 'major' ? NOTHING : this.worthAfter(token, place)
  }

  /** By what its pool's price counts for after the block in this place. */
  poolWorth(pool: string, place: number): Worth {
    const fact = this.poolFact(pool)
    const [target, quote] = [this.targetOf(fact), this.quoteOf(fact)]
    const counted = this.countedAfter(pool, place)
    if (counted === undefined) return NOTHING
    const [targetRaw, quoteRaw] =
      target === fact.token0 ? [counted.raw0, counted.raw1] : [counted.raw1, counted.raw0]
    return this.worthOfExchange(target, quote, targetRaw, quoteRaw, this.worthAfter(quote, place))
  }

  #remember<T>(key: string, compute: () => T): T {
    if (!this.#remembered.has(key)) this.#remembered.set(key, compute())
    return this.#remembered.get(key) as T
  }
}

function endOf(block: number): OrderKey {
  return { block, tx: Number.MAX_SAFE_INTEGER, log: Number.MAX_SAFE_INTEGER }
}

function dearer(a: Asked, b: Asked): number {
  const difference = a.raw1 * b.raw0 - b.raw1 * a.raw0
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function isSame(a: Asked | undefined, b: Asked | undefined): boolean {
  return a !== undefined && b !== undefined && dearer(a, b) === 0
}

function isExchange(swap: SwapSeen): boolean {
  const [net0, net1] = [swap.in[0] - swap.out[0], swap.in[1] - swap.out[1]]
  return net0 !== 0n && net1 !== 0n && net0 > 0n !== net1 > 0n
}

/** Where half of the weight lies at or below. */
function middleOfWeight(all: readonly { price: Price; depth: Value }[]): Price | undefined {
  const total = all.reduce((sum, { depth }) => sum + depth, 0n)
  const prices = all.map(({ price }) => price).sort((a, b) => (a < b ? -1 : 1))
  return prices.find((price) => {
    const below = all.filter((other) => other.price <= price).reduce((sum, { depth }) => sum + depth, 0n)
    return below * 2n >= total
  })
}

/** A stablecoin whose own pools see the native coin more than two percent elsewhere is no dollar any more. */
function dollarOf(nativeUsd: Price | undefined, nativeInIt: Price | undefined): Price {
  if (nativeUsd === undefined || nativeInIt === undefined) return ONE_PRICE
  const usd = convertPrice(nativeUsd, invertPrice(nativeInIt)) ?? ONE_PRICE
  const off = usd > ONE_PRICE ? usd - ONE_PRICE : ONE_PRICE - usd
  return off > (ONE_PRICE * 2n) / 100n ? usd : ONE_PRICE
}

/** The sum of the parts if it has at most 76 digits; unknown if any part is. */
export function sumThatFits(parts: readonly (Value | undefined)[]): Value | undefined {
  let sum = 0n
  for (const part of parts) {
    if (part === undefined) return undefined
    sum += part
  }
  return sum < 10n ** 76n ? sum : undefined
}
