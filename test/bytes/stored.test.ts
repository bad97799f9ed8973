import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ReaderIndex } from '../../src/chain/reader-index.ts'
import type { Change } from '../../src/domain/change.ts'
import type { Writes } from '../../src/state/journaled-state.ts'
import { encodeStateKey, stateKeyText } from '../../src/state/state-key.ts'
import { rowsOf } from '../../src/store/clickhouse/rows.ts'
import { encodeChangeSet } from '../../src/wire/change-codec.ts'
import { Dice } from '../support/builders/change-builders.ts'
import { buildReport } from '../support/builders/envelope-builders.ts'
import { storySets } from '../support/builders/story.ts'
import { assertExpected } from '../support/recorded/expected-lines.ts'
import { latestOf } from '../support/reference/rows-of-sets.ts'
import { diskStore } from '../support/rigs/engine-run.ts'
import { MemoryState } from '../support/rigs/memory-state.ts'
import { ByteHashes } from './byte-hashes.ts'
import { runMarket } from './market-run.ts'

const dir = mkdtempSync(join(tmpdir(), 'chaintape-bytes-'))
after(() => rmSync(dir, { recursive: true, force: true }))

test('a run of the engine has the recorded bytes: change sets, and every record that it commits', async () => {
  const hashes = new ByteHashes()
  const store = diskStore(dir)
  const { envelopes, sets } = runMarket({
    ...store,
    write: (writes, seq) => {
      const records = recordsOf(writes)
      addRecords(hashes, 'engine', records)
      store.write(writesOf(records), seq)
    },
  })
  await store.close()
  for (const set of sets) {
    hashes.add(`change set of ${set.cause}`, encodeChangeSet(set))
    for (const change of set.changes)
      hashes.add(`change ${change.type}`, encodeChangeSet({ ...set, changes: [change] }))
  }
  const state = new MemoryState()
  const index = new ReaderIndex(state)
  for (const envelope of envelopes) {
    index.apply(envelope)
    const records = recordsOf(index.pending())
    addRecords(hashes, 'reader', records)
    state.write(writesOf(records))
    index.committed()
  }
  assertExpected('bytes-state.csv', hashes.lines(), 'npm test -- bytes')
})

test('rows for ClickHouse have the recorded bytes, by table', () => {
  const { sets } = storySets({ chain: 'eth', seed: 15, messages: 120 })
  const dice = new Dice(16)
  const hashes = new ByteHashes()
  for (const set of sets) {
    const contracts: Change[] = [
      { type: 'contract', contract: buildReport(dice) },
      { type: 'contractRemoved', token: dice.hex(20) },
    ]
    for (const { table, columns, types, chunks } of rowsOf(
      latestOf([{ ...set, changes: [...set.changes, ...contracts] }]),
    ))
      hashes.add(table, columns.join(), types.join(), Buffer.concat(chunks))
  }
  assertExpected('bytes-rows.csv', hashes.lines(), 'npm test -- bytes')
})

type StoredRecord = { readonly table: string; readonly key: Buffer; readonly value: Uint8Array | undefined }

/** Sorted by key: a store holds the same bytes in whatever order they are written. */
function recordsOf(writes: Writes): StoredRecord[] {
  const records = Array.from(writes, ([key, value]) => ({
    table: stateKeyText(key).split('/')[0] ?? '',
    key: Buffer.from(typeof key === 'string' ? encodeStateKey(key) : key),
    value: value && Uint8Array.from(value),
  }))
  return records.sort((a, b) => a.key.compare(b.key))
}

function writesOf(records: readonly StoredRecord[]): Writes {
  return records.map(({ key, value }) => [key, value] as const)
}

function addRecords(hashes: ByteHashes, name: string, records: readonly StoredRecord[]): void {
  for (const { table, key, value } of records) hashes.add(`${name} ${table}`, key, value ?? 'removed')
}
