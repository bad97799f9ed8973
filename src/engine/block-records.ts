import type { Pair } from '../domain/change.ts'
import type { ChangeSetWriter } from '../wire/change-set-writer.ts'
import { writeToken } from '../wire/record-codec.ts'
import type { PairDepth } from './pair/depth.ts'
import type { PairView } from './pair/pair-view.ts'
import { writePairRow } from './pair/write-pair.ts'
import type { EngineTables, TokenState } from './tables.ts'

/** Pairs and tokens as the block being folded leaves them, and which of them it touched. */
export class BlockRecords {
  readonly #tables: EngineTables
  /** How deep they were when the block touched them first. */
  readonly #pairs = new Map<PairView, PairDepth | undefined>()
  readonly #tokens = new Set<string>()
  /** Those that the block has looked at, as they are now: it does so again and again. */
  readonly #states = new Map<string, TokenState | undefined>()

  constructor(tables: EngineTables) {
    this.#tables = tables
  }

  /** The touched pairs, and how deep each was before the block. */
  get touchedPairs(): ReadonlyMap<PairView, PairDepth | undefined> {
    return this.#pairs
  }

  get touchedTokens(): ReadonlySet<string> {
    return this.#tokens
  }

  pair(address: string): PairView {
    return must(this.#tables.pairs.get(address), address)
  }

  token(address: string): TokenState {
    return must(this.tokenIfKnown(address), address)
  }

  tokenIfKnown(address: string): TokenState | undefined {
    let state = this.#states.get(address)
    if (state === undefined) {
      state = this.#tables.tokens.get(address)
      this.#states.set(address, state)
    }
    return state
  }

  addPair(pair: Pair): PairView {
    const view = this.#tables.pairs.create(pair)
    this.#pairs.set(view, undefined)
    return view
  }

  /** Call before every change to a pair. The pair is published even if the change leaves it equal. */
  editPair(pair: PairView): void {
    if (!this.#pairs.has(pair)) this.#pairs.set(pair, pair.depth)
    pair.edit()
  }

  putToken(state: TokenState): void {
    this.#tables.tokens.put(state.token.address, state)
    this.#tokens.add(state.token.address)
    this.#states.set(state.token.address, state)
  }

  publish(changes: ChangeSetWriter): void {
    for (const pair of this.#pairs.keys()) writePairRow(changes.next('pair'), pair)
    for (const address of this.#tokens) writeToken(changes.next('token'), this.token(address).token)
  }
}

function must<T>(record: T | undefined, id: string): T {
  if (record === undefined) throw new Error(`the record of ${id}, which the block just changed, is missing`)
  return record
}
