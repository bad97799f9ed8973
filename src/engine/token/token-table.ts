import type { Token } from '../../domain/change.ts'
import type { JournaledState, Table } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'
import type { SideView } from '../pair/pair-view.ts'
import { depthsCodec, quotedPairsCodec } from './pair-list-codecs.ts'
import { namesCodec, namesOf, recordOf, TOKEN, type TokenNames, type TokenRow } from './token-rows.ts'
import { type PairLists, TokenView } from './token-view.ts'

const MAX_ROWS = 32_768
const MAX_OPENED = 16_384

/** Tokens by address. A token is opened once until rows are evicted, and blocks work on its view. */
export class TokenTable {
  readonly #rows: Rows<typeof TOKEN.fields>
  readonly #names: Table<TokenNames>
  readonly #lists: PairLists
  readonly #key = new Key()
  readonly #views: TokenView[] = []
  readonly #opened = new Map<string, TokenView>()
  readonly #ofSides = new Map<SideView, TokenView>()

  constructor(state: JournaledState) {
    this.#rows = state.rows('token', TOKEN, { key: ['id'], maxRows: MAX_ROWS })
    this.#names = state.table('tokenNames', namesCodec)
    this.#lists = {
      targetPairs: state.table('targetPairs', depthsCodec),
      quotedPairs: state.table('quotedPairs', quotedPairsCodec),
    }
  }

  /** Whether the last commit evicted rows, so that slots are invalid. */
  get hasEvicted(): boolean {
    return this.#rows.hasEvicted
  }

  /** Whether views should be closed before the next block, because many are open. */
  get isCrowded(): boolean {
    return this.#opened.size > MAX_OPENED
  }

  /** Invalidates all views. Pairs must be closed with them. */
  close(): void {
    this.#opened.clear()
    this.#ofSides.clear()
  }

  get(address: string): TokenView | undefined {
    const opened = this.#opened.get(address)
    if (opened !== undefined) return opened
    const slot = this.#rows.find(this.#key.clear().id(address))
    return slot === NONE ? undefined : this.#open(slot, this.#namesOf(address))
  }

  /** The token of an open pair's side, found by object identity, which is faster than by address. */
  ofSide(side: SideView): TokenView | undefined {
    const known = this.#ofSides.get(side)
    if (known !== undefined) return known
    const token = this.get(side.token)
    if (token !== undefined) this.#ofSides.set(side, token)
    return token
  }

  /** Creates a token without pairs. */
  create(token: Token): TokenView {
    const names = namesOf(token)
    this.#names.put(token.address, names)
    const view = this.#open(this.#rows.create(this.#key.clear().id(token.address)), names)
    view.supplyRaw = token.supplyRaw
    view.priceUsd = token.priceUsd
    view.priceNative = token.priceNative
    view.fdvUsd = token.fdvUsd
    view.updatedAt = token.updatedAt
    return view
  }

  /** Decodes a row that an undo restored. */
  read(address: string, bytes: Uint8Array): Token {
    return recordOf(this.#namesOf(address), this.#rows.view(bytes))
  }

  /** Whether two versions of a row differ at most in the flags that record where the pair lists are stored. */
  areSame(a: Uint8Array, b: Uint8Array): boolean {
    const words = this.#withoutFlags(a).slice()
    return this.#withoutFlags(b).every((word, at) => word === words[at])
  }

  #withoutFlags(bytes: Uint8Array): Uint32Array {
    // A copy of the row, so it may be written to.
    const row = this.#rows.view(bytes) as TokenRow
    row.isTargetOfSeveral = false
    row.isQuote = false
    return row.words
  }

  #namesOf(address: string): TokenNames {
    const names = this.#names.get(address)
    if (names === undefined) throw new Error(`the names of the token ${address} are missing`)
    return names
  }

  /** Reuses closed views. */
  #open(slot: number, names: TokenNames): TokenView {
    const used = this.#opened.size
    const view = this.#views[used] ?? new TokenView(this.#rows.cursor(), this.#lists)
    this.#views[used] = view
    view.open(slot, names)
    this.#opened.set(names.address, view)
    return view
  }
}
