import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { ReaderIndex } from '../../src/chain/reader-index.ts'
import { Engine } from '../../src/engine/engine.ts'
import { ChainFold } from '../../src/roles/engine/chain-fold.ts'
import { EARLIER_STATE_FORMATS, STATE_FORMAT } from '../../src/roles/engine.ts'
import { EARLIER_INDEX_FORMATS, INDEX_FORMAT } from '../../src/roles/reader.ts'
import { convertOlderFiles } from '../../src/store/lmdb/open-file.ts'
import { openOutbox } from '../../src/store/lmdb/outbox.ts'
import { openNewestState } from '../../src/store/lmdb/snapshots.ts'
import { openStateStore, type StateStore } from '../../src/store/lmdb/state-store.ts'
import { decodeChangeSet, encodeChangeSet } from '../../src/wire/change-codec.ts'
import { decodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { Corpus, firstDifference, plainOf } from '../support/releases/corpus.ts'
import { indexValues, type RecordedFold, type RecordedOutbox } from '../support/releases/record-state.ts'
import { engineSettingsOf } from '../support/releases/recorded-markets.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

const root = mkdtempSync(join(tmpdir(), 'chaintape-releases-'))
after(() => rmSync(root, { recursive: true, force: true }))
const { logger } = createTestCommon()
const FORMATS = {
  engine: { format: STATE_FORMAT, earlier: EARLIER_STATE_FORMATS },
  reader: { format: INDEX_FORMAT, earlier: EARLIER_INDEX_FORMATS },
} as const

const AT_START = { epoch: 'changes', sequence: 1, link: 1 }

/** The last message of CHANGES when the state was committed. */
function emptySet(chain: string, seq: number): Uint8Array {
  const head = { number: 1, hash: '0x1', time: 1 }
  return encodeChangeSet({ chain, seq, cause: 'final', head, finalNumber: 0, changes: [] })
}

for (const version of Corpus.versions()) {
  const corpus = new Corpus(version)
  for (const family of ['evm', 'solana'] as const) {
    describe(`${family} state of release ${version}`, () => {
      const fold = corpus.read<RecordedFold>(`state/${family}/fold`)
      const { committed, messages } = fold
      const recorded = corpus.readPlain(`state/${family}/fold`) as { sets: unknown[]; index: unknown[] }
      const dirOf = (role: string): string => join(root, version, family, role)
      const openSnapshot = (role: keyof typeof FORMATS, name: string = role): Promise<StateStore> =>
        openNewestState(
          { dir: dirOf(name), ...FORMATS[role], snapshots: corpus.path(`state/${family}/${role}`) },
          async () => false,
          async () => true,
          logger,
        )

      test('an engine starts from its snapshot and folds on to the recorded sets', async () => {
        const store = await openSnapshot('engine')
        assert.equal(store.position?.sequence, committed)
        const engine = new Engine(engineSettingsOf(fold.settings), store)
        for (const [at, message] of messages.entries()) {
          const set = decodeChangeSet(engine.apply(message, committed + at + 1))
          assert.equal(firstDifference(recorded.sets[at], plainOf(set)), undefined, `set ${at}`)
        }
        store.commit(engine.pending(), { epoch: 'test', sequence: committed + messages.length, link: 0 })
        engine.committed()
        await store.close()
        const reopened = openStateStore({ dir: dirOf('engine'), format: STATE_FORMAT })
        assert.equal(reopened.position?.sequence, committed + messages.length)
        await reopened.close()
      })

      test('an engine that was killed folds again what the release has published', async () => {
        const opened = await openSnapshot('engine', 'again')
        const last = fold.published.length
        const newest = {
          body: fold.published[last - 1] as Uint8Array,
          position: { epoch: 'changes', sequence: last, link: 1 },
        }
        const confirmed: number[] = []
        const chainFold = new ChainFold({
          engine: new Engine(engineSettingsOf(fold.settings), opened),
          store: opened,
          newest,
          onConfirmed: (seq) => confirmed.push(seq),
        })
        for (const [at, message] of messages.entries())
          chainFold.fold(message, { epoch: 'test', sequence: committed + at + 1, link: 0 })
        assert.equal(confirmed.at(-1), committed + messages.length)
        assert.deepEqual(chainFold.ahead, [])
        chainFold.close()
        await opened.close()
      })

      test('a standby agrees with a leader of the release', async () => {
        const opened = await openSnapshot('engine', 'standby')
        const chainFold = new ChainFold({
          ...{ engine: new Engine(engineSettingsOf(fold.settings), opened), store: opened },
          newest: { body: emptySet(fold.settings.chain, committed), position: AT_START },
          onConfirmed: () => undefined,
        })
        for (const [at, message] of messages.entries()) {
          chainFold.fold(message, { epoch: 'test', sequence: committed + at + 1, link: 0 })
          chainFold.confirm({ epoch: 'changes', sequence: at + 1, link: 1 }, fold.published[at])
        }
        chainFold.abandon()
        await opened.close()
      })

      test('a reader starts from its snapshot and reads on', async () => {
        const store = await openSnapshot('reader')
        assert.equal(store.position?.sequence, committed)
        const index = new ReaderIndex(store, { hasHistories: family === 'evm' })
        const values = () => plainOf(indexValues(index, fold.addresses))
        assert.equal(firstDifference(recorded.index[0], values()), undefined)
        for (const message of messages) index.apply(decodeEnvelope(message))
        assert.equal(firstDifference(recorded.index[1], values()), undefined)
        store.commit(index.pending(), { epoch: 'test', sequence: committed + messages.length, link: 0 })
        await store.close()
      })
    })
  }

  test(`the outbox of release ${version} returns its frames`, async () => {
    const dir = join(root, version, 'outbox')
    mkdirSync(dir, { recursive: true })
    writeFileSync(
      join(dir, 'data.mdb'),
      zstdDecompressSync(readFileSync(corpus.path('state/outbox.mdb.zst'))),
    )
    const { epoch, first, frames } = corpus.read<RecordedOutbox>('state/outbox')
    await convertOlderFiles(dir, logger, new AbortController().signal)
    const outbox = openOutbox(dir)
    for (const [at, frame] of frames.entries())
      assert.deepEqual(Buffer.from(outbox.get(epoch, first + at) ?? []), frame)
    await outbox.close()
  })
}
