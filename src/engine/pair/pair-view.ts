import type { Pair, PairSide, TradeDirection } from '../../domain/change.ts'
import type { Price, Value } from '../../domain/money.ts'
import type { Cursor } from '../../state/cursor.ts'
import { NONE } from '../../state/slot-index.ts'
import type { Priced, Ratio } from '../pool/pool.ts'
import { depthOf, type PairDepth } from './depth.ts'
import { type Oriented, orient } from './oriented.ts'
import type { PAIR, PairNames, PairRow, SideNames, SideRow } from './pair-rows.ts'

const NOTHING = new Uint8Array(0)

/**
 * A pair during the fold of a block: reads its row, and writes to it once `edit` was called. Valid until rows are
 * evicted.
 */
export class PairView implements Pair {
  readonly token0 = new SideView()
  readonly token1 = new SideView()
  readonly #cursor: Cursor<typeof PAIR.fields>
  #row: PairRow
  #slot = 0
  address = ''
  amm = ''
  targetToken: string | undefined
  /** Slots of its prices and candles; NONE until they are looked up. */
  askedSlot = NONE
  candleSlot = NONE
  counted: Priced['counted']
  /** Cached: the target's price in its quote asset at the last priced ratio. */
  priced: { readonly ratio: Ratio; readonly inQuote: Price | undefined } | undefined
  /** Both tokens are known to have had their first trade. */
  hasTraded = false
  /** Its sides by role; undefined without a target token. */
  oriented: Oriented<SideView> | undefined
  #names: PairNames | undefined
  #depth: PairDepth | undefined
  #isDepthKnown = false

  constructor(cursor: Cursor<typeof PAIR.fields>) {
    this.#cursor = cursor
    this.#row = cursor.at(0) as PairRow
  }

  /** Writable and read-only rows differ in their type only. */
  at(slot: number): PairRow {
    this.#slot = slot
    this.#row = this.#cursor.at(slot) as PairRow
    return this.#row
  }

  open(slot: number, address: string, names: PairNames): void {
    this.at(slot)
    this.#isDepthKnown = false
    this.askedSlot = NONE
    this.candleSlot = NONE
    this.counted = undefined
    this.priced = undefined
    this.hasTraded = false
    this.#names = names
    this.address = address
    this.amm = names.amm
    this.targetToken = names.targetToken
    this.token0.open(this.#row.side0.at(0), names.token0)
    this.token1.open(this.#row.side1.at(0), names.token1)
    this.oriented = orient(this)
  }

  /** Must follow a change of the target token. */
  orient(names: PairNames): void {
    this.#names = names
    this.#isDepthKnown = false
    this.priced = undefined
    this.targetToken = names.targetToken
    this.oriented = orient(this)
  }

  /** Must precede every write. */
  edit(): void {
    this.#row = this.#cursor.edit(this.#slot)
  }

  get row(): PairRow {
    return this.#row
  }

  get names(): PairNames {
    return this.#names as PairNames
  }

  /** Cached: it is read several times per block. Only `setTvl` changes it. */
  get depth(): PairDepth | undefined {
    if (!this.#isDepthKnown) {
      this.#depth = depthOf(this)
      this.#isDepthKnown = true
    }
    return this.#depth
  }

  get isMain(): boolean {
    return this.#row.isMain
  }

  set isMain(isMain: boolean) {
    this.#row.isMain = isMain
  }

  get tvlUsd(): Value | undefined {
    return this.#row.tvlUsd
  }

  /** Sets the TVL, and with the value of the quote side the depth. Must follow every change of reserves or prices. */
  setTvl(usd: Value | undefined, native: Value | undefined, quoteUsd: Value | undefined): void {
    this.#row.tvlUsd = usd
    this.#row.tvlNative = native
    this.#isDepthKnown = true
    this.#depth =
      usd === undefined || quoteUsd === undefined
        ? undefined
        : { pair: this.address, tvlUsd: usd, depthUsd: quoteUsd }
  }

  get tvlNative(): Value | undefined {
    return this.#row.tvlNative
  }

  get fdvUsd(): Value | undefined {
    return this.#row.fdvUsd
  }

  set fdvUsd(value: Value | undefined) {
    this.#row.fdvUsd = value
  }

  get isRouted(): boolean {
    return this.#row.isRouted
  }

  set isRouted(isRouted: boolean) {
    this.#row.isRouted = isRouted
  }

  get createdAt(): number | undefined {
    return this.#row.createdAt
  }

  set createdAt(time: number | undefined) {
    this.#row.createdAt = time
  }

  get updatedAt(): number {
    return this.#row.updatedAt
  }

  set updatedAt(time: number) {
    this.#row.updatedAt = time
  }

  get firstTradeAt(): number | undefined {
    return this.#row.firstTradeAt
  }

  set firstTradeAt(time: number | undefined) {
    this.#row.firstTradeAt = time
  }

  get lastTradeAt(): number | undefined {
    return this.#row.lastTradeAt
  }

  set lastTradeAt(time: number | undefined) {
    this.#row.lastTradeAt = time
  }

  get lastTradePriceUsd(): Price | undefined {
    return this.#row.lastTradePriceUsd
  }

  set lastTradePriceUsd(price: Price | undefined) {
    this.#row.lastTradePriceUsd = price
  }

  get lastSide(): TradeDirection | undefined {
    return this.#row.isLastBuy ? 'buy' : this.#row.isLastSell ? 'sell' : undefined
  }

  set lastSide(side: TradeDirection | undefined) {
    this.#row.isLastBuy = side === 'buy'
    this.#row.isLastSell = side === 'sell'
  }

  get athPriceUsd(): Price | undefined {
    return this.#row.athPriceUsd
  }

  set athPriceUsd(price: Price | undefined) {
    this.#row.athPriceUsd = price
  }
}

export class SideView implements PairSide {
  token = ''
  symbol = ''
  decimals: number | undefined
  onWire: Uint8Array = NOTHING
  #row: SideRow | undefined
  /** Cached from the row: converting limbs to a bigint costs more than its use. */
  #reserveRaw: bigint | undefined
  #priceUsd: Price | undefined
  #priceNative: Price | undefined

  open(row: SideRow, { token, symbol, decimals, onWire }: SideNames): void {
    this.#row = row
    this.onWire = onWire
    this.token = token
    this.symbol = symbol
    this.decimals = decimals
    this.#reserveRaw = row.reserveRaw
    this.#priceUsd = row.priceUsd
    this.#priceNative = row.priceNative
  }

  get row(): SideRow {
    return this.#row as SideRow
  }

  get reserveRaw(): bigint | undefined {
    return this.#reserveRaw
  }

  set reserveRaw(amount: bigint | undefined) {
    if (amount === this.#reserveRaw) return
    this.#reserveRaw = amount
    this.row.reserveRaw = amount
  }

  get initialReserveRaw(): bigint | undefined {
    return this.row.initialReserveRaw
  }

  set initialReserveRaw(amount: bigint | undefined) {
    this.row.initialReserveRaw = amount
  }

  get priceUsd(): Price | undefined {
    return this.#priceUsd
  }

  set priceUsd(price: Price | undefined) {
    if (price === this.#priceUsd) return
    this.#priceUsd = price
    this.row.priceUsd = price
  }

  get priceNative(): Price | undefined {
    return this.#priceNative
  }

  set priceNative(price: Price | undefined) {
    if (price === this.#priceNative) return
    this.#priceNative = price
    this.row.priceNative = price
  }
}
