import type { PoolPrice } from '../../dex/events.ts'
import type { Row } from '../../state/cursor.ts'
import type { JournaledState } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import { i32, layout, optional, u32, u256, u320 } from '../../state/layout.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'
import type { Priced, Ratio } from './pool.ts'

const MAX_ROWS = 32_768

/** Pool prices. The square of a root price takes 320 bits. */
const PRICE = layout({
  sqrtPriceX96: optional(u256),
  tick: i32,
  bin: optional(u32),
  exchange0: optional(u256),
  exchange1: optional(u256),
  counted0: optional(u320),
  counted1: optional(u320),
})

/** By pool, and by pair; a pool of two tokens is its pair. */
export class PriceTable {
  readonly #rows: Rows<typeof PRICE.fields>
  readonly #key = new Key()
  readonly #price

  constructor(state: JournaledState) {
    this.#rows = state.rows('price', PRICE, { key: ['id'], maxRows: MAX_ROWS })
    this.#price = this.#rows.cursor()
  }

  /** Whether the last commit evicted rows, so that slots are invalid. */
  get hasEvicted(): boolean {
    return this.#rows.hasEvicted
  }

  /** The price in the pool's last event. */
  reported(pool: Priced): PoolPrice | undefined {
    const slot = this.#slotOf(pool)
    if (!this.#rows.exists(slot)) return undefined
    const { sqrtPriceX96, tick, bin } = this.#price.at(slot)
    if (bin !== undefined) return { kind: 'bin', id: bin }
    return sqrtPriceX96 === undefined ? undefined : { kind: 'sqrt', sqrtPriceX96, tick }
  }

  setReported(pool: Priced, price: PoolPrice): void {
    const row = this.#edit(pool)
    row.sqrtPriceX96 = price.kind === 'sqrt' ? price.sqrtPriceX96 : undefined
    row.tick = price.kind === 'sqrt' ? price.tick : 0
    row.bin = price.kind === 'bin' ? price.id : undefined
  }

  /** The last exchange, for pools whose events report no price. */
  lastExchange(pair: Priced): Ratio | undefined {
    const slot = this.#slotOf(pair)
    if (!this.#rows.exists(slot)) return undefined
    const { exchange0, exchange1 } = this.#price.at(slot)
    return exchange0 === undefined || exchange1 === undefined
      ? undefined
      : { raw0: exchange0, raw1: exchange1 }
  }

  setLastExchange(pair: Priced, { raw0, raw1 }: Ratio): void {
    const row = this.#edit(pair)
    row.exchange0 = raw0
    row.exchange1 = raw1
  }

  /** The pair's counted price, as of the last block that touched it. */
  counted(pair: Priced): Ratio | undefined {
    pair.counted ??= { ratio: this.#readCounted(pair) }
    return pair.counted.ratio
  }

  setCounted(pair: Priced, ratio: Ratio | undefined): void {
    const row = this.#edit(pair)
    row.counted0 = ratio?.raw0
    row.counted1 = ratio?.raw1
    pair.counted = { ratio }
  }

  #readCounted(pair: Priced): Ratio | undefined {
    const slot = this.#slotOf(pair)
    if (!this.#rows.exists(slot)) return undefined
    const { counted0, counted1 } = this.#price.at(slot)
    return counted0 === undefined || counted1 === undefined ? undefined : { raw0: counted0, raw1: counted1 }
  }

  /** The slot of the row, or of a reserved place while there is none. */
  #slotOf(priced: Priced): number {
    if (priced.askedSlot === NONE) priced.askedSlot = this.#rows.reserve(this.#key.clear().id(priced.address))
    return priced.askedSlot
  }

  #edit(priced: Priced): Row<typeof PRICE.fields> {
    const slot = this.#slotOf(priced)
    if (!this.#rows.exists(slot)) this.#rows.createAt(slot)
    return this.#price.edit(slot)
  }
}
