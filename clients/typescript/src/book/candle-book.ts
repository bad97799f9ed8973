import { type CandleRetraction, type CandleUpdate, isRetraction } from '../streams/items.ts'

/** The candles of one series, from a stream of candles: ready for a chart. */
export class CandleBook {
  readonly #candles = new Map<number, CandleUpdate>()
  /** Starts in order; empty after a change of the set. */
  #order: number[] | undefined

  /** False if the book has this version, or a later one. */
  apply(item: CandleUpdate | CandleRetraction): boolean {
    const known = this.#candles.get(item.time)
    if (isRetraction(item)) {
      if (this.#candles.delete(item.time)) this.#order = undefined
      return known !== undefined
    }
    if (known !== undefined && known.revision >= item.revision) return false
    if (known === undefined) this.#order = undefined
    this.#candles.set(item.time, item)
    return true
  }

  candle(time: number): CandleUpdate | undefined {
    return this.#candles.get(time)
  }

  /** Oldest first. */
  candles(): CandleUpdate[] {
    this.#order ??= [...this.#candles.keys()].sort((a, b) => a - b)
    return this.#order.map((time) => this.#candles.get(time) as CandleUpdate)
  }

  get latest(): CandleUpdate | undefined {
    this.#order ??= [...this.#candles.keys()].sort((a, b) => a - b)
    return this.#candles.get(this.#order.at(-1) ?? -1)
  }

  /** Releases candles that start before this time. */
  dropBefore(time: number): void {
    for (const start of this.#candles.keys()) if (start < time) this.#candles.delete(start)
    this.#order = undefined
  }
}
