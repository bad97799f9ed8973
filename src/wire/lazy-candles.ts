import type { Candle, CandleValues } from '../domain/change.ts'
import type { Interval } from '../domain/interval.ts'
import type { OrderKey } from '../domain/order-key.ts'
import { ByteReader } from './byte-reader.ts'
import { readCandles } from './candle-codec.ts'

/** Like `readCandles`, but decodes only the pair, interval and start of each candle. */
export function readCandlesLazily(r: ByteReader, bytes: Uint8Array): Candle[] {
  const run = new CandleRun(bytes, r.position)
  const refs = r.skim(() => readCandles(r))
  return refs.map(({ pair, interval, start }, index) => new LazyCandle(run, index, pair, interval, start))
}

/** Adjacent candles are delta coded, so they are decoded together. */
class CandleRun {
  readonly #bytes: Uint8Array
  readonly #start: number
  #candles: readonly Candle[] | undefined

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes
    this.#start = start
  }

  at(index: number): Candle {
    this.#candles ??= readCandles(new ByteReader(this.#bytes, this.#start))
    return this.#candles[index] as Candle
  }
}

class LazyCandle implements Candle {
  readonly pair: string
  readonly interval: Interval
  readonly start: number
  readonly #run: CandleRun
  readonly #index: number

  constructor(run: CandleRun, index: number, pair: string, interval: Interval, start: number) {
    this.pair = pair
    this.interval = interval
    this.start = start
    this.#run = run
    this.#index = index
  }

  get usd(): CandleValues | undefined {
    return this.#run.at(this.#index).usd
  }

  get native(): CandleValues | undefined {
    return this.#run.at(this.#index).native
  }

  get quote(): CandleValues | undefined {
    return this.#run.at(this.#index).quote
  }

  get tradeCount(): number {
    return this.#run.at(this.#index).tradeCount
  }

  get firstTrade(): OrderKey {
    return this.#run.at(this.#index).firstTrade
  }

  get lastTrade(): OrderKey {
    return this.#run.at(this.#index).lastTrade
  }
}
