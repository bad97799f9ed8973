import type { Cursor } from '../../state/cursor.ts'
import type { JournaledState } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import { flag, layout, u256 } from '../../state/layout.ts'
import type { Rows } from '../../state/rows.ts'

/** An amount may be negative until all older transfers are read. */
const BALANCE = layout({ isNegative: flag, amount: u256 })
type BalanceFields = (typeof BALANCE)['fields']

/** A row and its key take about 130 bytes. */
const MAX_ROWS = 262_144

/** Balances by token and holder, or by pool and holder for LP tokens. A balance of zero has no row. */
export class Balances {
  readonly #rows: Rows<BalanceFields>
  readonly #row: Cursor<BalanceFields>
  readonly #key = new Key()
  /** The token that the key starts with, and the end of its words. */
  #token: string | undefined
  #tokenEnd = 0

  constructor(state: JournaledState) {
    this.#rows = state.rows('balance', BALANCE, { key: ['id', 'id'], maxRows: MAX_ROWS })
    this.#row = this.#rows.cursor()
  }

  get(token: string, holder: string): bigint {
    return this.amountAt(this.slotOf(token, holder))
  }

  /** Valid until the end of the block, even if there is no balance. */
  slotOf(token: string, holder: string): number {
    return this.#rows.reserve(this.#keyOf(token, holder))
  }

  amountAt(slot: number): bigint {
    return this.#rows.exists(slot) ? signed(this.#row.at(slot)) : 0n
  }

  setAt(slot: number, amount: bigint): void {
    const exists = this.#rows.exists(slot)
    if (amount === 0n) {
      if (exists) this.#rows.remove(slot)
      return
    }
    if (!exists) this.#rows.createAt(slot)
    const row = this.#row.edit(slot)
    row.isNegative = amount < 0n
    row.amount = amount < 0n ? -amount : amount
  }

  /** Decodes a balance that an undo restored. */
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
