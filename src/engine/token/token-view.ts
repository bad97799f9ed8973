import type {
  Token,
  TokenHolding,
  TokenLaunch,
  TokenOrigin,
  TokenPlatform,
  TokenRisk,
} from '../../domain/change.ts'
import type { Price, Value } from '../../domain/money.ts'
import type { Cursor } from '../../state/cursor.ts'
import type { Table } from '../../state/journaled-state.ts'
import type { PairDepth } from '../pair/depth.ts'
import { isListedAsRouted, NO_QUOTED_PAIRS, type QuotedPairs } from './main-pair.ts'
import {
  firstTradeOf,
  holdingOf,
  originOf,
  platformOf,
  riskOf,
  type TOKEN,
  type TokenNames,
  type TokenRow,
} from './token-rows.ts'

/** Pair lists have no fixed size, so they are records beside the rows; few tokens have them. */
export type PairLists = {
  /** By token with several pairs that have it as their target, or with one that is priced by a route. */
  readonly targetPairs: Table<readonly PairDepth[]>
  /** By quote asset: the pairs that are priced in it. */
  readonly quotedPairs: Table<QuotedPairs>
}

const NO_PAIRS: readonly PairDepth[] = []

/**
 * A token during the fold of a block: reads its row, and writes to it once `edit` was called. Valid until rows are
 * evicted.
 */
export class TokenView implements Token {
  readonly #cursor: Cursor<typeof TOKEN.fields>
  readonly #lists: PairLists
  #row: TokenRow
  #slot = 0
  #names: TokenNames | undefined
  address = ''
  name = ''
  symbol = ''
  decimals: number | undefined
  /** Cached from the row and the lists: converting them costs more than using them. */
  #supplyRaw: bigint | undefined
  #priceUsd: Price | undefined
  #priceNative: Price | undefined
  #mainPair: string | undefined
  #targetPairs: readonly PairDepth[] | undefined
  #quotedPairs: QuotedPairs | undefined

  constructor(cursor: Cursor<typeof TOKEN.fields>, lists: PairLists) {
    this.#cursor = cursor
    this.#lists = lists
    this.#row = cursor.at(0) as TokenRow
  }

  open(slot: number, names: TokenNames): void {
    this.#slot = slot
    // Writable and read-only rows differ in their type only.
    this.#row = this.#cursor.at(slot) as TokenRow
    this.#names = names
    this.address = names.address
    this.name = names.name
    this.symbol = names.symbol
    this.decimals = names.decimals
    this.#supplyRaw = this.#row.supplyRaw
    this.#priceUsd = this.#row.priceUsd
    this.#priceNative = this.#row.priceNative
    this.#mainPair = this.#row.mainPair
    this.#targetPairs = undefined
    this.#quotedPairs = undefined
  }

  /** Must precede every write. */
  edit(): void {
    this.#row = this.#cursor.edit(this.#slot)
  }

  get row(): TokenRow {
    return this.#row
  }

  get names(): TokenNames {
    return this.#names as TokenNames
  }

  get supplyRaw(): bigint | undefined {
    return this.#supplyRaw
  }

  set supplyRaw(amount: bigint | undefined) {
    this.#supplyRaw = amount
    this.#row.supplyRaw = amount
  }

  get priceUsd(): Price | undefined {
    return this.#priceUsd
  }

  set priceUsd(price: Price | undefined) {
    this.#priceUsd = price
    this.#row.priceUsd = price
  }

  get priceNative(): Price | undefined {
    return this.#priceNative
  }

  set priceNative(price: Price | undefined) {
    this.#priceNative = price
    this.#row.priceNative = price
  }

  get mainPair(): string | undefined {
    return this.#mainPair
  }

  get mainPairTvlUsd(): Value | undefined {
    return this.#row.mainPairTvlUsd
  }

  /** The pairs with this token as their target whose depth is known, by address. */
  get targetPairs(): readonly PairDepth[] {
    this.#targetPairs ??= this.#readTargetPairs()
    return this.#targetPairs
  }

  /** The pairs with this token as their quote. */
  get quotedPairs(): QuotedPairs {
    this.#quotedPairs ??= this.#row.isQuote ? this.#lists.quotedPairs.get(this.address) : undefined
    return this.#quotedPairs ?? NO_QUOTED_PAIRS
  }

  /** A token with one pair needs no list: that pair is the main pair. A pair that is priced by a route is always listed. */
  setPairs(
    targetPairs: readonly PairDepth[],
    main: PairDepth | undefined,
    mainTvlUsd: Value | undefined,
  ): void {
    const row = this.#row
    if (main?.pair !== this.#mainPair) row.mainPair = main?.pair
    this.#mainPair = main?.pair
    row.mainPairTvlUsd = mainTvlUsd
    const isListed = targetPairs.length > 1 || targetPairs.some(isListedAsRouted)
    row.onlyDepthUsd = targetPairs.length === 1 && !isListed ? main?.depthUsd : undefined
    const { targetPairs: lists } = this.#lists
    if (isListed) lists.put(this.address, targetPairs)
    else if (row.isTargetOfSeveral) lists.delete(this.address)
    row.isTargetOfSeveral = isListed
    this.#targetPairs = targetPairs
  }

  setQuotedPairs(quotedPairs: QuotedPairs): void {
    this.#quotedPairs = quotedPairs
    this.#row.isQuote = true
    this.#lists.quotedPairs.put(this.address, quotedPairs)
  }

  get tvlUsd(): Value | undefined {
    return this.#row.tvlUsd
  }

  set tvlUsd(value: Value | undefined) {
    this.#row.tvlUsd = value
  }

  get fdvUsd(): Value | undefined {
    return this.#row.fdvUsd
  }

  set fdvUsd(value: Value | undefined) {
    this.#row.fdvUsd = value
  }

  get marketCapUsd(): Value | undefined {
    return this.#row.marketCapUsd
  }

  set marketCapUsd(value: Value | undefined) {
    this.#row.marketCapUsd = value
  }

  get holding(): TokenHolding | undefined {
    return holdingOf(this.#row)
  }

  set holding(holding: TokenHolding | undefined) {
    this.#row.holders = holding?.holders
    this.#row.burnedRaw = holding?.burnedRaw
    this.#row.lockedRaw = holding?.lockedRaw
    this.#row.circulatingRaw = holding?.circulatingRaw
  }

  get origin(): TokenOrigin | undefined {
    return originOf(this.#row)
  }

  set origin(origin: TokenOrigin | undefined) {
    this.#row.originAt = origin?.time
    this.#row.creator = origin?.creator ?? ''
  }

  /** The first trade that was read, in any pair. */
  get firstTrade(): TokenLaunch | undefined {
    return firstTradeOf(this.#row)
  }

  set firstTrade(trade: TokenLaunch | undefined) {
    this.#row.firstTradeAt = trade?.time
    this.#row.firstTradePriceUsd = trade?.priceUsd
  }

  get launch(): TokenLaunch | undefined {
    return this.#row.isLaunchKnown ? this.firstTrade : undefined
  }

  /** The first trade, or undefined: see `launchOf`. */
  set launch(launch: TokenLaunch | undefined) {
    this.#row.isLaunchKnown = launch !== undefined
  }

  get platform(): TokenPlatform | undefined {
    return platformOf(this.#row)
  }

  set platform(platform: TokenPlatform | undefined) {
    const row = this.#row
    row.hasPlatform = platform !== undefined
    row.platform = Buffer.from(platform?.name ?? '')
    row.platformCreatedAt = platform?.createdAt
    row.progressPpm = platform?.progressPpm
    row.graduatedAt = platform?.graduatedAt
  }

  get risk(): TokenRisk | undefined {
    return riskOf(this.#row)
  }

  set risk(risk: TokenRisk | undefined) {
    const row = this.#row
    row.riskScore = risk?.score
    row.isHoneypot = risk?.isHoneypot === true
    row.isNoHoneypot = risk?.isHoneypot === false
    row.isMintable = risk?.isMintable === true
  }

  get updatedAt(): number {
    return this.#row.updatedAt
  }

  set updatedAt(time: number) {
    this.#row.updatedAt = time
  }

  #readTargetPairs(): readonly PairDepth[] {
    const { isTargetOfSeveral, onlyDepthUsd: depthUsd, mainPairTvlUsd: tvlUsd } = this.#row
    if (isTargetOfSeveral) return this.#lists.targetPairs.get(this.address) ?? NO_PAIRS
    if (depthUsd === undefined || tvlUsd === undefined || this.#mainPair === undefined) return NO_PAIRS
    return [{ pair: this.#mainPair, tvlUsd, depthUsd }]
  }
}
