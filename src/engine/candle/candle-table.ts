import type { Candle } from '../../domain/change.ts'
import type { OrderKey } from '../../domain/order-key.ts'
import type { JournaledState } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'
import type { ChangeSetWriter } from '../../wire/change-set-writer.ts'
import type { PairView } from '../pair/pair-view.ts'
import { CANDLES, candlesOf } from './candle-rows.ts'
import { type CandleTrade, TradeNumbers } from './candle-trade.ts'
import { endedCandles, takeTrade } from './take-trade.ts'
import { writeCandlesRow } from './write-candles.ts'

/** Rows are large, and those of rarely traded pairs are not needed again soon. */
const MAX_ROWS = 16_384

/** By pair: the newest candle of each interval. */
export class CandleTable {
  readonly #rows: Rows<typeof CANDLES.fields>
  readonly #key = new Key()
  readonly #numbers = new TradeNumbers()
  readonly #one
  readonly #other

  constructor(state: JournaledState) {
    this.#rows = state.rows('candles', CANDLES, { key: ['id'], maxRows: MAX_ROWS })
    this.#one = this.#rows.cursor()
    this.#other = this.#rows.cursor()
  }

  /** Whether the last commit evicted rows, so that slots are invalid. */
  get hasEvicted(): boolean {
    return this.#rows.hasEvicted
  }

  /** The slot of a pair's candles, valid until rows are evicted. */
  slotOf(pair: string): number {
    return this.#rows.findOrCreate(this.#key.clear().id(pair))
  }

  /** Trades of a pair must come in order-key order. */
  take(slot: number, key: OrderKey, trade: CandleTrade, starts: readonly number[]): void {
    this.#numbers.set(trade)
    takeTrade(this.#one.edit(slot), this.#other.at(slot), key, this.#numbers, starts)
  }

  /** `pair` is the pair's id in wire encoding. */
  publish(slot: number, pair: Uint8Array, changes: ChangeSetWriter): void {
    writeCandlesRow(changes.next('candle'), pair, this.#one.at(slot), this.#other.at(slot))
  }

  /**
   * Publishes the candles that a trade ends, unless the pair has not traded since block `since`: then they are
   * published already.
   */
  publishEnded(
    slot: number,
    pair: Uint8Array,
    starts: readonly number[],
    since: number,
    changes: ChangeSetWriter,
  ): void {
    const row = this.#one.at(slot)
    const ended = row.lastBlock < since ? 0 : endedCandles(row, starts)
    if (ended > 0) writeCandlesRow(changes.next('candle'), pair, row, this.#other.at(slot), ended)
  }

  /** Publishes the candles of a pair if it was traded since this block. */
  publishSince({ address, names }: PairView, since: number, changes: ChangeSetWriter): void {
    const slot = this.#rows.find(this.#key.clear().id(address))
    if (slot !== NONE && this.#one.at(slot).lastBlock >= since) this.publish(slot, names.idOnWire, changes)
  }

  /** Decodes a row that an undo restored. */
  read(pair: string, bytes: Uint8Array): Candle[] {
    return candlesOf(this.#rows.view(bytes), pair)
  }
}
