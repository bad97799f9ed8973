import { ROUTES_RULES, RULES_VERSION } from '../../../src/domain/chain-settings.ts'
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

/** A token that is no quote asset, but can be exchanged for one. */
type Route = { readonly worth: Worth; readonly depth: Value }

type PriceAfter = {
  readonly main: string | undefined
  readonly price: Worth
  readonly updatedAt: number
  /** How deep each of its pairs was when the token was last updated; a tenth if it is priced by a route. */
  readonly listed: ReadonlyMap<string, Value>
}

/** What any number was at any moment: nothing is remembered, all is looked up. */
export class MarketHistory extends MarketEvents {
  readonly #remembered = new Map<string, unknown>()

  /** The last block, for numbers as they are in the end. */
  get lastPlace(): number {
    return this.blocks.length - 1
  }

  placeOf({ block }: OrderKey): number {
    const place = this.blocks.findIndex(({ number }) => number >= block)
    return place === -1 ? this.blocks.length : place
  }

  /** The place of the block that an event is in; for the end of all, the last one. */
  #placeBefore(at: OrderKey): number {
    return Math.min(this.placeOf(at), this.lastPlace)
  }

  /** A pair without a quote asset gets its target with the first event before which one of its tokens had a route. */
  targetOf(pool: MetPool, place = this.lastPlace): string | undefined {
    const ranked = this.rankedTarget(pool)
    const block = this.blocks[place]
    if (ranked !== undefined || block === undefined || pool.block > block.number) return ranked
    if ((this.market.rules ?? RULES_VERSION) < ROUTES_RULES) return undefined
    return this.#remember(`target ${pool.address} ${place}`, () => {
      const before = this.targetOf(pool, place - 1)
      const hasEvent = this.events.some(
        ({ pool: address, key }) => address === pool.address && key.block === block.number,
      )
      if (before !== undefined || (pool.block !== block.number && !hasEvent)) return before
      const [depth0, depth1] = [pool.token0, pool.token1].map(
        (token) => this.routeAfter(token, place - 1)?.depth ?? 0n,
      ) as [bigint, bigint]
      if (depth0 === 0n && depth1 === 0n) return undefined
      const [lower, higher] = [pool.token0, pool.token1].sort() as [string, string]
      if (depth0 === depth1) return lower === higher ? lower : higher
      return depth0 < depth1 ? pool.token0 : pool.token1
    })
  }

  quoteOf(pool: MetPool, place = this.lastPlace): string | undefined {
    const target = this.targetOf(pool, place)
    return target === undefined ? undefined : target === pool.token0 ? pool.token1 : pool.token0
  }

  /** Whether a pair is priced by the route of its quote. */
  isRouted(pool: MetPool, place = this.lastPlace): boolean {
    const quote = this.quoteOf(pool, place)
    return quote !== undefined && this.kindOf(quote) === undefined
  }

  /** Its main pair leads to a quote asset, or to a token whose main pair does. */
  routeAfter(token: string, place: number, isDirect = false): Route | undefined {
    const { main, price, listed } = this.priceAfter(token, place)
    const depth = listed.get(main ?? '')
    if (this.kindOf(token) !== undefined || main === undefined || price.usd === undefined) return undefined
    const isDeep = (value = 0n): boolean => value > 0n && value >= this.market.minDepthUsd
    if (depth === undefined || !isDeep(depth)) return undefined
    const quote = this.quoteOf(this.poolFact(main), place) ?? ''
    if (this.kindOf(quote) !== undefined) return { worth: price, depth }
    const next = isDirect ? undefined : this.routeAfter(quote, place, true)
    if (next === undefined) return undefined
    const least = lesser(next.depth / 10n, depth)
    return isDeep(least) ? { worth: price, depth: least } : undefined
  }

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

  /** Price of a quote asset after the block in this place; of a major or a token with a route, after `majorPlace`. */
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
        return token === undefined ? NOTHING : (this.routeAfter(token, majorPlace)?.worth ?? NOTHING)
    }
  }

  /** Price of a quote asset during the block of `at`: its value when the previous block ended. */
  quoteWorth(quote: string | undefined, at: OrderKey): Worth {
    const before = this.placeOf(at) - 1
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
    const sync = this.lastSync(pool, at)
    const place = sync === undefined ? -1 : this.placeOf(sync.key)
    const [target, quote] = [this.targetOf(fact, place), this.quoteOf(fact, place)]
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
        const worth = token === this.targetOf(fact, this.#placeBefore(at)) ? prices.target : prices.quote
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
    const quote = this.quoteOf(fact, place)
    const reserve = this.reservesAt(pool, at)[quote === fact.token0 ? 0 : 1]
    return this.worthOf(quote, reserve, this.poolPrices(pool, at)?.quote.usd)
  }

  /** A token after the block in this place: its main pair, its price, and when it last changed. */
  priceAfter(token: string, place: number): PriceAfter {
    const block = this.blocks[place]
    const fact = this.tokenFact(token)
    if (block === undefined || fact === undefined || fact.block > block.number)
      return { main: undefined, price: NOTHING, updatedAt: 0, listed: new Map() }
    return this.#remember(`price ${token} ${place}`, () => {
      const isNew = fact.block === block.number
      const before = isNew
        ? { ...{ main: undefined, listed: new Map() }, ...this.#newPrice(token, place) }
        : this.priceAfter(token, place - 1)
      const known = this.pools.filter((pool) => pool.block <= block.number)
      const asTarget = known.filter((pool) => this.targetOf(pool, place) === token)
      const isAsset = this.kindOf(token) !== undefined
      const asQuote = known.filter((pool) => isAsset && this.quoteOf(pool, place) === token)
      let { main, price, updatedAt, listed } = before
      if ([...asTarget, ...asQuote].some((pool) => this.isTouched(pool, place))) {
        const candidates = asTarget.filter((pool) => listed.has(pool.address) || this.isTouched(pool, place))
        listed = this.#depths(candidates, place)
        const pricing = this.#mainAmong(listed, before.main)
        main = pricing ?? this.#mainAmong(this.#depths(asQuote, place), before.main)
        price = pricing === undefined ? this.#withoutPair(token, place) : this.poolWorth(pricing, place)
        updatedAt = block.time
      }
      const isPriced = main !== undefined && this.targetOf(this.poolFact(main), place) === token
      if (!isPriced && ['stable', 'native'].includes(this.kindOf(token) ?? '')) {
        const worth = this.worthAfter(token, place)
        if (worth.usd !== price.usd || worth.native !== price.native) updatedAt = block.time
        price = worth
      }
      return { main, price, updatedAt, listed }
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
      this.targetOf(pool, place) !== this.targetOf(pool, place - 1) ||
      within(block?.number, this.syncs) ||
      within(block?.number, this.swaps.filter(isExchange)) ||
      this.creations.some((created) => created.pool === address && created.key.block === block?.number) ||
      isSettled
    )
  }

  /** The deepest one; at a tie the lower address; but the main one stays until another is a tenth deeper. */
  #mainAmong(pairs: ReadonlyMap<string, Value>, current: string | undefined): string | undefined {
    const depths = Array.from(pairs, ([address, depth]) => ({ address, depth }))
    const best = depths
      .filter(({ depth }) => depths.every((other) => other.depth <= depth))
      .sort((a, b) => (a.address < b.address ? -1 : 1))[0]
    const main = depths.find(({ address }) => address === current)
    if (best === undefined || main === undefined) return best?.address
    return best.depth * 10n > main.depth * 11n ? best.address : main.address
  }

  /** A pair that is priced by a route is as deep as that route carries, and counts with a tenth of it. */
  #depths(pools: readonly MetPool[], place: number): Map<string, Value> {
    return new Map(
      pools.flatMap((pool): [string, Value][] => {
        const depth = this.depthAfter(pool.address, place)
        if (depth === undefined) return []
        if (!this.isRouted(pool, place)) return [[pool.address, depth]]
        const route = this.routeAfter(this.quoteOf(pool, place) ?? '', place - 1)?.depth ?? 0n
        const tenth = lesser(route, depth) / 10n
        return tenth === 0n ? [] : [[pool.address, tenth]]
      }),
    )
  }

  #newPrice(token: string, place: number): Pick<PriceAfter, 'price' | 'updatedAt'> {
    return { price: this.#withoutPair(token, place - 1), updatedAt: this.blocks[place]?.time ?? 0 }
  }

  #withoutPair(token: string, place: number): Worth {
    const kind = this.kindOf(token)
    return kind === undefined || kind === 'major' ? NOTHING : this.worthAfter(token, place)
  }

  /** By what its pool's price counts for after the block in this place. */
  poolWorth(pool: string, place: number): Worth {
    const fact = this.poolFact(pool)
    const [target, quote] = [this.targetOf(fact, place), this.quoteOf(fact, place)]
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

function lesser(a: bigint, b: bigint): bigint {
  const isLess = a < b
  return isLess ? a : b
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
