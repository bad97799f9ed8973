import type { Pair } from '../../domain/change.ts'
import { RecentlyUsed } from '../../domain/recently-used.ts'
import type { JournaledState } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'
import { fillRow, namesOf, PAIR, type PairNames, recordOf } from './pair-rows.ts'
import { PairView } from './pair-view.ts'

const MAX_ROWS = 32_768
const MAX_OPENED = 16_384

/** Pairs by address. A pair is opened once until rows are evicted, and blocks work on its view. */
export class PairTable {
  readonly #rows: Rows<typeof PAIR.fields>
  readonly #key = new Key()
  readonly #views: PairView[] = []
  readonly #opened = new Map<string, PairView>()
  readonly #names = new RecentlyUsed<PairNames>(MAX_ROWS)

  constructor(state: JournaledState) {
    this.#rows = state.rows('pair', PAIR, { key: ['id'], maxRows: MAX_ROWS })
  }

  /** Whether the last commit evicted rows, so that slots are invalid. */
  get hasEvicted(): boolean {
    return this.#rows.hasEvicted
  }

  /** Whether views should be closed before the next block, because many are open. */
  get isCrowded(): boolean {
    return this.#opened.size > MAX_OPENED
  }

  /** Invalidates all views. */
  close(): void {
    this.#opened.clear()
    this.#names.evict()
  }

  /** After a reorg, another pair may have the same address. */
  forgetNames(): void {
    this.#opened.clear()
    this.#names.clear()
  }

  get(address: string): PairView | undefined {
    const opened = this.#opened.get(address)
    if (opened !== undefined) return opened
    const slot = this.#rows.find(this.#key.clear().id(address))
    return slot === NONE ? undefined : this.#open(slot, address)
  }

  create(pair: Pair): PairView {
    const slot = this.#rows.create(this.#key.clear().id(pair.address))
    const view = this.#nextView()
    fillRow(view.at(slot), pair)
    return this.#open(slot, pair.address, view)
  }

  /** Gives a pair that is being edited its target token. */
  orient(pair: PairView, targetToken: string): void {
    pair.row.targetToken = targetToken
    const names = namesOf(pair.address, pair.row)
    this.#names.set(pair.address, names)
    pair.orient(names)
  }

  /** Decodes a row that an undo restored. */
  read(address: string, bytes: Uint8Array): Pair {
    return recordOf(address, this.#rows.view(bytes))
  }

  #open(slot: number, address: string, view = this.#nextView()): PairView {
    let names = this.#names.get(address)
    if (names === undefined) {
      names = namesOf(address, view.at(slot))
      this.#names.set(address, names)
    }
    view.open(slot, address, names)
    this.#opened.set(address, view)
    return view
  }

  /** Reuses closed views. */
  #nextView(): PairView {
    const used = this.#opened.size
    const view = this.#views[used] ?? new PairView(this.#rows.cursor())
    this.#views[used] = view
    return view
  }
}
