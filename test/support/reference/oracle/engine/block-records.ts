import type { Change, Pair } from '../../../../../src/domain/change.ts'
import type { EngineTables, TokenState } from './tables.ts'

/** Pairs and tokens as the block being folded leaves them, and which of them it touched. */
export class BlockRecords {
  readonly #tables: EngineTables
  /** As the block found them; undefined where it met them first. */
  readonly #pairs = new Map<string, Pair | undefined>()
  readonly #tokens = new Set<string>()

  constructor(tables: EngineTables) {
    this.#tables = tables
  }

  /** By address: the touched pairs, each as it was before the block. */
  get touchedPairs(): ReadonlyMap<string, Pair | undefined> {
    return this.#pairs
  }

  get touchedTokens(): ReadonlySet<string> {
    return this.#tokens
  }

  pair(address: string): Pair {
    return must(this.#tables.pairs.get(address), address)
  }

  token(address: string): TokenState {
    return must(this.#tables.tokens.get(address), address)
  }

  putPair(pair: Pair): void {
    if (!this.#pairs.has(pair.address)) this.#pairs.set(pair.address, this.#tables.pairs.get(pair.address))
    this.#tables.pairs.put(pair.address, pair)
  }

  putToken(state: TokenState): void {
    this.#tables.tokens.put(state.token.address, state)
    this.#tokens.add(state.token.address)
  }

  changes(): Change[] {
    const changes: Change[] = []
    for (const address of this.#pairs.keys()) changes.push({ type: 'pair', pair: this.pair(address) })
    for (const address of this.#tokens) changes.push({ type: 'token', token: this.token(address).token })
    return changes
  }
}

function must<T>(record: T | undefined, id: string): T {
  if (record === undefined) throw new Error(`the record of ${id}, which the block just changed, is missing`)
  return record
}
