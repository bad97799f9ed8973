/** What is drawn of a candle; times are Unix seconds. */
export type Bar = {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

export type CandleTexts = {
  readonly time: number
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: string
}

/** What has to be drawn: everything, or single bars. */
export type Redraw = 'all' | readonly Bar[]

/** The candles of a chart. Numbers are for drawing only; texts stay exact. */
export class CandleBook {
  #texts: CandleTexts[] = []
  #changed = new Map<number, CandleTexts>()
  #isReplaced = false

  /** Oldest first. */
  get candles(): readonly CandleTexts[] {
    return this.#texts
  }

  get last(): CandleTexts | undefined {
    return this.#texts.at(-1)
  }

  replace(candles: readonly CandleTexts[]): void {
    this.#texts = [...candles]
    this.#isReplaced = true
  }

  put(candle: CandleTexts): void {
    const at = this.#place(candle.time)
    const isThere = this.#texts[at]?.time === candle.time
    // The chart draws changes at the end cheaply; a new bar in between moves all later ones.
    if (!isThere && at < this.#texts.length) this.#isReplaced = true
    this.#texts.splice(at, isThere ? 1 : 0, candle)
    this.#changed.set(candle.time, candle)
  }

  remove(time: number): void {
    const at = this.#place(time)
    if (this.#texts[at]?.time !== time) return
    this.#texts.splice(at, 1)
    this.#isReplaced = true
  }

  /** What changed since the last call. */
  takeRedraw(scale: number): Redraw {
    const changed = [...this.#changed.values()]
    const isReplaced = this.#isReplaced
    this.#changed = new Map()
    this.#isReplaced = false
    return isReplaced
      ? 'all'
      : changed.sort((one, other) => one.time - other.time).map((one) => barOf(one, scale))
  }

  bars(scale: number): Bar[] {
    return this.#texts.map((candle) => barOf(candle, scale))
  }

  /** Index of the first candle that does not begin before the time. */
  #place(time: number): number {
    let at = this.#texts.length
    while (at > 0 && (this.#texts[at - 1]?.time ?? 0) >= time) at--
    return at
  }
}

/** Prices are multiplied by it: chart libraries round far below the prices of many tokens. */
export function scaleOf({ close }: Pick<CandleTexts, 'close'>): number {
  const price = Number(close)
  return price > 0 && price < 0.01 ? 10 ** -Math.floor(Math.log10(price)) : 1
}

function barOf({ time, open, high, low, close, volume }: CandleTexts, scale: number): Bar {
  const scaled = (text: string): number => Number(text) * scale
  return {
    ...{ time, open: scaled(open), high: scaled(high), low: scaled(low), close: scaled(close) },
    volume: Number(volume),
  }
}
