import type { Candle, Change, ChangeSet, Pair } from '../../../src/domain/change.ts'
import { INTERVALS, type Interval } from '../../../src/domain/interval.ts'
import type { Versioned } from '../../../src/store/versioned.ts'
import { buildCandle, Dice } from './change-builders.ts'

export const CANDLE_PAIR = `0x${'1'.repeat(40)}`

type Series = Map<number, Versioned<Candle>>

/** All candles of the pair, by interval and start. */
export type CandleState = Map<Interval, Series>

/** What the engine publishes for one pair that trades, and for reorgs that retract its last trades. */
export class CandleMarket {
  readonly sets: ChangeSet[] = []
  /** After each set. */
  readonly states: CandleState[] = []
  readonly #dice: Dice
  readonly #blocks: { readonly before: CandleState; readonly time: number }[] = []
  #state: CandleState = new Map(INTERVALS.map((interval) => [interval, new Map()]))
  #time = 1_000_000

  /** The document of the pair, if there is one, comes before its first trade. */
  constructor(seed: number, pair?: Pair) {
    this.#dice = new Dice(seed)
    if (pair !== undefined) this.#publish([{ type: 'pair', pair }])
  }

  step(): void {
    const { length } = this.#blocks
    if (length > 0 && this.#dice.below(5) === 0) this.#undo(1 + this.#dice.below(Math.min(6, length)))
    else this.#trade()
  }

  #trade(): void {
    this.#blocks.push({ before: this.#state, time: this.#time })
    this.#time += this.#dice.pick([0, 1, 12, 60, 400, 90_000])
    const key = { block: this.sets.length, tx: 1, log: 1 }
    const candles = INTERVALS.map((interval) =>
      buildCandle(this.#dice, CANDLE_PAIR, interval, key, this.#time),
    )
    this.#state = copyOf(this.#state)
    for (const candle of candles) {
      this.#state.get(candle.interval)?.set(candle.start, { seq: this.sets.length + 1, record: candle })
    }
    this.#publish(candles.map((candle) => ({ type: 'candle', candle })))
  }

  /** Retracted candles are removed, and the latest candle of each interval is published again. */
  #undo(blocks: number): void {
    const [first] = this.#blocks.splice(-blocks)
    if (first === undefined) return
    const gone = this.#state
    this.#state = copyOf(first.before)
    this.#time = first.time
    const changes: Change[] = []
    for (const [interval, series] of this.#state) {
      for (const start of gone.get(interval)?.keys() ?? []) {
        if (!series.has(start))
          changes.push({ type: 'candleRemoved', candle: { pair: CANDLE_PAIR, interval, start } })
      }
      const newest = series.get(Math.max(...series.keys()))
      if (newest === undefined) continue
      series.set(newest.record.start, { seq: this.sets.length + 1, record: newest.record })
      changes.push({ type: 'candle', candle: newest.record })
    }
    this.#publish(changes, 'undo')
  }

  #publish(changes: Change[], cause: ChangeSet['cause'] = 'block'): void {
    const seq = this.sets.length + 1
    const head = { number: seq, hash: '0x01', time: 1_000 + seq }
    this.sets.push({ chain: 'eth', seq, cause, head, finalNumber: 0, changes })
    this.states.push(this.#state)
  }
}

function copyOf(state: CandleState): CandleState {
  return new Map(Array.from(state, ([interval, series]) => [interval, new Map(series)]))
}

export function newestFirst(series: Series): Versioned<Candle>[] {
  return [...series.values()].sort((a, b) => b.record.start - a.record.start)
}
