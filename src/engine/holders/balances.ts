import type { Cursor } from '../../state/cursor.ts'
import type { JournaledState } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import { flag, layout, u256 } from '../../state/layout.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'

/** An amount may be negative until all older transfers are read. */
const BALANCE = layout({ isNegative: flag, amount: u256 })
type BalanceFields = (typeof BALANCE)['fields']

/** A row and its key take about 130 bytes. */
const MAX_ROWS = 262_144

/** Balances by token and holder, or by pool and holder for its shares. A balance of zero has no row. */
export class Balances {
  readonly #rows: Rows<BalanceFields>
  readonly #row: Cursor<BalanceFields>
  readonly #key = new Key()
  /** The token that the key starts with, and where its words end. */
  #token: string | undefined
  #tokenEnd = 0

  constructor(state: JournaledState) {
    this.#rows = state.rows('balance', BALANCE, { key: ['id', 'id'], maxRows: MAX_ROWS })
    this.#row = this.#rows.cursor()
  }

  get(token: string, holder: string): bigint {
    const slot = this.#rows.find(this.#keyOf(token, holder))
    return slot === NONE ? 0n : signed(this.#row.at(slot))
  }

  set(token: string, holder: string, amount: bigint): void {
    const key = this.#keyOf(token, holder)
    const slot = this.#rows.find(key)
    if (amount === 0n) {
      if (slot !== NONE) this.#rows.remove(slot)
      return
    }
    const row = this.#row.edit(slot === NONE ? this.#rows.create(key) : slot)
    row.isNegative = amount < 0n
    row.amount = amount < 0n ? -amount : amount
  }

  /** A balance as an undo reports it. */
  read(bytes: Uint8Array | undefined): bigint {
    return bytes === undefined ? 0n : signed(this.#rows.view(bytes))
  }

  /** Transfers come token by token, so the key's first part seldom changes. */
  #keyOf(token: string, holder: string): Key {
    if (this.#token !== token) {
      this.#tokenEnd = this.#key.clear().id(token).length
      this.#token = token
    }
    this.#key.length = this.#tokenEnd
    return this.#key.id(holder)
  }
}

function signed({ isNegative, amount }: { readonly isNegative: boolean; readonly amount: bigint }): bigint {
  return isNegative ? -amount : amount
}
