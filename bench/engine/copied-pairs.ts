import assert from 'node:assert/strict'
import { quotedPairsCodec } from '../../src/engine/token/pair-list-codecs.ts'
import { encodeStateKey } from '../../src/state/state-key.ts'
import type { StateStore } from '../../src/store/lmdb/state-store.ts'
import { ByteReader } from '../../src/wire/byte-reader.ts'
import { ByteWriter } from '../../src/wire/byte-writer.ts'
import { PAIRS_PER_GROUP, spreadOf } from './made-market.ts'
import { copyOf, type GroupTemplate, readTemplates, type Write } from './pair-templates.ts'

const WRITES_PER_COMMIT = 500_000
/** With a spread of 32 bits, a pair's number fits in a double exactly. */
const MAX_PAIRS = 2 ** 20
const SUBJECT_COUNT = 'subjects/only'

type Group = { readonly firstPair: number; readonly firstSubject: number; readonly template: GroupTemplate }

/**
 * Adds the pairs from `folded` on to a state that holds those before, as copies of them at other addresses: a fold takes
 * hundreds of microseconds to create a pair. The state must be that of old blocks, after which all windows are empty.
 */
export function copyPairs(store: StateStore, folded: number, pairs: number): void {
  const { position } = store
  assert.ok(position !== undefined && pairs <= MAX_PAIRS)
  assert.ok(folded % PAIRS_PER_GROUP === 0 && pairs % PAIRS_PER_GROUP === 0)
  const templates = readTemplates(store, folded)
  store.commit([...raisedTotals(store, Math.ceil(pairs / (folded - PAIRS_PER_GROUP)))], position)
  const all = copies(store, templates, folded, pairs)
  let isDone = false
  function* batch(): Generator<Write> {
    for (let count = 0; count < WRITES_PER_COMMIT; count++) {
      const next = all.next()
      if (next.done) {
        isDone = true
        return
      }
      yield next.value
    }
  }
  while (!isDone) store.commit(batch(), position)
}

/** The TVL of all pairs of a quote asset, with that of the copies: too low, it would become negative when their TVL falls. */
function* raisedTotals(store: StateStore, factor: number): Generator<Write> {
  for (const [key, value] of store.entries()) {
    if (!key.startsWith('quotedPairs/')) continue
    const { tvlUsd, deepest } = quotedPairsCodec.read(new ByteReader(value))
    const w = new ByteWriter(value.length + 8)
    quotedPairsCodec.write(w, { tvlUsd: tvlUsd * BigInt(factor), deepest })
    yield [Buffer.from(encodeStateKey(key)), w.finish()]
  }
}

/** In key order, so that each commit writes few pages. */
function* copies(
  store: StateStore,
  templates: readonly GroupTemplate[],
  folded: number,
  pairs: number,
): Generator<Write> {
  const groups: Group[] = []
  let subjects = new ByteReader(store.get(SUBJECT_COUNT) as Uint8Array).varuint()
  for (let firstPair = folded; firstPair < pairs; firstPair += PAIRS_PER_GROUP) {
    const template = templates[groups.length % templates.length] as GroupTemplate
    groups.push({ firstPair, firstSubject: subjects, template })
    subjects += template.subjects.length
  }
  const order = Float64Array.from({ length: pairs - folded }, (_, at) => {
    return spreadOf(folded + at) * MAX_PAIRS + folded + at
  }).sort()
  const prefixes = new Set(templates.flatMap(({ addressed }) => [...addressed.keys()]))
  for (const prefix of [...prefixes].sort()) {
    for (const place of order) {
      const pair = place % MAX_PAIRS
      const { firstPair, firstSubject, template } = groups[
        Math.floor((pair - folded) / PAIRS_PER_GROUP)
      ] as Group
      for (const each of template.addressed.get(prefix)?.[pair - firstPair] ?? [])
        yield copyOf(each, firstPair, firstSubject)
    }
  }
  for (const { firstPair, firstSubject, template } of groups)
    for (const each of template.windows) yield copyOf(each, firstPair, firstSubject)
  const count = new ByteWriter(8)
  count.varuint(subjects)
  yield [encodeStateKey(SUBJECT_COUNT), count.finish()]
}
