import type { Pair } from '../domain/change.ts'
import type { ChangeSetWriter } from '../wire/change-set-writer.ts'
import { writeToken } from '../wire/record-codec.ts'
import type { PairView } from './pair/pair-view.ts'
import { writePairRow } from './pair/write-pair.ts'
import type { EngineTables, PairDepth, TokenState } from './tables.ts'
import { depthOf } from './token/main-pair.ts'

/** Pairs and tokens as the block being folded leaves them, and which of them it touched. */
export class BlockRecords {
  readonly #tables: EngineTables
  /** How deep they were when the block touched them first. */
  readonly #pairs = new Map<string, PairDepth | undefined>()
  readonly #tokens = new Set<string>()

  constructor(tables: EngineTables) {
    this.#tables = tables
  }

  /** By address: the touched pairs, and how deep each was before the block. */
  get touchedPairs(): ReadonlyMap<string, PairDepth | undefined> {
    return this.#pairs
  }

  get touchedTokens(): ReadonlySet<string> {
    return this.#tokens
  }

  pair(address: string): PairView {
    return must(this.#tables.pairs.get(address), address)
  }

  token(address: string): TokenState {
    return must(this.#tables.tokens.get(address), address)
  }

  addPair(pair: Pair): PairView {
    this.#pairs.set(pair.address, undefined)
    return this.#tables.pairs.create(pair)
  }

  /** Must precede every change to a pair. It is told, whether it becomes different or not. */
  editPair(pair: PairView): void {
    if (!this.#pairs.has(pair.address)) this.#pairs.set(pair.address, depthOf(pair))
    pair.edit()
  }

  putToken(state: TokenState): void {
    this.#tables.tokens.put(state.token.address, state)
    this.#tokens.add(state.token.address)
  }

  tell(told: ChangeSetWriter): void {
    for (const address of this.#pairs.keys()) writePairRow(told.next('pair'), this.pair(address))
    for (const address of this.#tokens) writeToken(told.next('token'), this.token(address).token)
  }
}

function must<T>(record: T | undefined, id: string): T {
  if (record === undefined)
    throw new Error(`the record of ${id}, which the block has just touched, is missing`)
  return record
}
