import type { Pair, Token } from '../domain/change.ts'
import type { ChangeSetWriter } from '../wire/change-set-writer.ts'
import type { PairDepth } from './pair/depth.ts'
import type { PairView, SideView } from './pair/pair-view.ts'
import { writePairRow } from './pair/write-pair.ts'
import type { EngineTables } from './tables.ts'
import type { TokenView } from './token/token-view.ts'
import { writeTokenRow } from './token/write-token.ts'

/** Pairs and tokens as the block being folded leaves them, and which of them it touched. */
export class BlockRecords {
  readonly #tables: EngineTables
  /** Depth of each pair when the block first touched it; undefined if it was priced by a route. */
  readonly #pairs = new Map<PairView, PairDepth | undefined>()
  readonly #tokens = new Set<TokenView>()

  constructor(tables: EngineTables) {
    this.#tables = tables
  }

  /** The touched pairs, and the depth before the block of those that counted for their quote asset. */
  get touchedPairs(): ReadonlyMap<PairView, PairDepth | undefined> {
    return this.#pairs
  }

  get touchedTokens(): ReadonlySet<TokenView> {
    return this.#tokens
  }

  pair(address: string): PairView {
    return must(this.#tables.pairs.get(address), address)
  }

  token(address: string): TokenView {
    return must(this.tokenIfKnown(address), address)
  }

  tokenIfKnown(address: string): TokenView | undefined {
    return this.#tables.tokens.get(address)
  }

  tokenOf(side: SideView): TokenView | undefined {
    return this.#tables.tokens.ofSide(side)
  }

  addPair(pair: Pair): PairView {
    const view = this.#tables.pairs.create(pair)
    this.#pairs.set(view, undefined)
    return view
  }

  /** Call before every change to a pair. The pair is published even if the change leaves it equal. */
  editPair(pair: PairView): void {
    if (!this.#pairs.has(pair)) this.#pairs.set(pair, pair.isRouted ? undefined : pair.depth)
    pair.edit()
  }

  addToken(token: Token): void {
    this.#tokens.add(this.#tables.tokens.create(token))
  }

  /** Call before every change to a token. The token is published even if the change leaves it equal. */
  editToken(token: TokenView): void {
    this.#tokens.add(token)
    token.edit()
  }

  publish(changes: ChangeSetWriter): void {
    for (const pair of this.#pairs.keys()) writePairRow(changes.next('pair'), pair)
    for (const token of this.#tokens) writeTokenRow(changes.next('token'), token)
  }
}

function must<T>(record: T | undefined, id: string): T {
  if (record === undefined) throw new Error(`the record of ${id}, which the block just changed, is missing`)
  return record
}
