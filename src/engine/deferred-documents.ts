import type { WindowsRef } from '../domain/change.ts'
import type { BlockEnvelope } from '../domain/envelope.ts'
import type { ChangeSetWriter } from '../wire/change-set-writer.ts'
import type { BlockRecords } from './block-records.ts'
import type { PairView } from './pair/pair-view.ts'
import { writePairRow } from './pair/write-pair.ts'
import { type EngineTables, ONLY } from './tables.ts'
import { writeTokenRow } from './token/write-token.ts'

/** Limits of deferral: blocks, and approximate documents. */
export type Deferral = { readonly maxBlocks: number; readonly maxDocuments: number }

/** Large enough that a busy pair is published rarely, small enough that a message stays small. */
export const DEFERRAL: Deferral = { maxBlocks: 256, maxDocuments: 8_192 }

type Place = Pick<BlockEnvelope, 'number' | 'isOld'>

/**
 * Pairs and tokens that old blocks changed and no message has published since. Their names are part of the state: each
 * block adds those it is the first to change, so an undo removes them again and a restarted engine publishes the same.
 */
export class DeferredDocuments {
  readonly #tables: EngineTables
  /** All names in the state, in block order. */
  readonly #pairs = new Set<string>()
  readonly #tokens = new Set<string>()
  #isRead = false
  readonly #deferral: Deferral

  constructor(tables: EngineTables, deferral: Deferral) {
    this.#tables = tables
    this.#deferral = deferral
  }

  /** The first block whose documents are deferred; undefined if all are published. */
  get since(): number | undefined {
    return this.#tables.deferredSince.get(ONLY)
  }

  begin({ number, isOld }: Place): void {
    if (isOld && this.since === undefined) this.#tables.deferredSince.put(ONLY, number)
  }

  /**
   * Publishes, at the end of a block, its pairs, tokens and candles, or those of all deferred blocks, or none. Returns
   * whose windows to publish with them. New main pairs are always published, because subscribers of a token need them.
   */
  publish(
    block: Place,
    records: BlockRecords,
    traded: ReadonlySet<PairView>,
    newMain: ReadonlySet<string>,
    changes: ChangeSetWriter,
  ): WindowsRef[] {
    const { candles } = this.#tables
    if (this.since === undefined) {
      for (const { candleSlot, names } of traded) candles.publish(candleSlot, names.idOnWire, changes)
      records.publish(changes)
    } else {
      this.#add(block, records)
      if (this.#isDue(block)) return this.#publish(block, records, changes)
      for (const pair of newMain) writePairRow(changes.next('pair'), records.pair(pair))
    }
    return Array.from(newMain, (pair) => ({ pair, token: undefined }))
  }

  /** Reads the names again, because the state was replaced. */
  forget(): void {
    this.#pairs.clear()
    this.#tokens.clear()
    this.#isRead = false
  }

  /** Adds the pairs and tokens that the block changed. */
  #add({ number }: Place, { touchedPairs, touchedTokens }: BlockRecords): void {
    this.#read(number)
    const pairs: string[] = []
    const tokens: string[] = []
    for (const { address } of touchedPairs.keys()) {
      if (this.#pairs.has(address)) continue
      this.#pairs.add(address)
      pairs.push(address)
    }
    for (const { address } of touchedTokens) {
      if (this.#tokens.has(address)) continue
      this.#tokens.add(address)
      tokens.push(address)
    }
    if (pairs.length > 0 || tokens.length > 0) this.#tables.deferred.put(String(number), { pairs, tokens })
  }

  /** Whether this block must publish everything. */
  #isDue({ number, isOld }: Place): boolean {
    const { maxBlocks, maxDocuments } = this.#deferral
    if (!isOld || this.#pairs.size + this.#tokens.size >= maxDocuments) return true
    return number - (this.since ?? number) + 1 >= maxBlocks
  }

  /** Publishes everything except the windows, and returns whose windows to publish. */
  #publish({ number }: Place, records: BlockRecords, changes: ChangeSetWriter): WindowsRef[] {
    const { candles, deferred, deferredSince } = this.#tables
    const since = this.since ?? number
    // A token has windows even if nothing else is known about it.
    const tokens = new Set(this.#tokens)
    for (const address of this.#pairs) {
      const pair = records.pair(address)
      tokens.add(pair.token0.token).add(pair.token1.token)
      candles.publishSince(pair, since, changes)
      writePairRow(changes.next('pair'), pair)
    }
    for (const address of this.#tokens) writeTokenRow(changes.next('token'), records.token(address))
    const ofPairs = Array.from(this.#pairs, (pair) => ({ pair, token: undefined }))
    const ofTokens = Array.from(tokens, (token) => ({ pair: undefined, token }))
    for (let block = since; block <= number; block++) deferred.delete(String(block))
    deferredSince.delete(ONLY)
    this.#pairs.clear()
    this.#tokens.clear()
    return [...ofPairs, ...ofTokens]
  }

  #read(before: number): void {
    if (this.#isRead) return
    this.#isRead = true
    for (let block = this.since ?? before; block < before; block++) {
      const names = this.#tables.deferred.get(String(block))
      for (const pair of names?.pairs ?? []) this.#pairs.add(pair)
      for (const token of names?.tokens ?? []) this.#tokens.add(token)
    }
  }
}
