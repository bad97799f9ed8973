import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { ReaderIndex } from '../../../src/chain/reader-index.ts'
import type { ChangeSet } from '../../../src/domain/change.ts'
import type { Envelope } from '../../../src/domain/envelope.ts'
import { STATE_FORMAT } from '../../../src/roles/engine.ts'
import { INDEX_FORMAT } from '../../../src/roles/reader.ts'
import { openOutbox } from '../../../src/store/lmdb/outbox.ts'
import { takeSnapshot } from '../../../src/store/lmdb/take-snapshot.ts'
import { encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import { frameChecksum, splitMessage } from '../../../src/wire/frame.ts'
import { diskStore, EngineRun } from '../rigs/engine-run.ts'
import type { Corpus } from './corpus.ts'
import { engineSettingsOf, type RecordedMarket, type RecordedSettings } from './recorded-markets.ts'

/** What follows the recorded state: messages of BLOCKS, and what the release folded them to. */
export type RecordedFold = {
  readonly settings: RecordedSettings
  /** Messages that are folded into the state. */
  readonly committed: number
  readonly messages: readonly Uint8Array[]
  /** The messages of CHANGES, and their values. */
  readonly published: readonly Uint8Array[]
  readonly sets: readonly ChangeSet[]
  /** The tokens and pools that the index is asked about. */
  readonly addresses: readonly string[]
}

export type RecordedOutbox = {
  readonly epoch: string
  readonly first: number
  readonly frames: readonly Uint8Array[]
}

/** What a reader asks its index. */
export function indexValues(index: ReaderIndex, addresses: readonly string[]) {
  const { tip, floor } = index
  const numbers = Array.from({ length: 20 }, (_, at) => (tip?.number ?? 0) - at)
  return {
    tip,
    floor,
    hashes: numbers.map((number) => index.hashAt(number) ?? null),
    pools: addresses.filter((address) => index.knowsPool(address)),
    tokens: addresses.filter((address) => index.knowsToken(address)),
    unasked: addresses.filter((address) => index.lacksNonCirculating(address)),
    histories: index.histories.length,
  }
}

export async function recordState(corpus: Corpus, markets: readonly RecordedMarket[]): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'chaintape-record-'))
  try {
    for (const market of markets) await recordFold(corpus, market, join(dir, market.family))
    await recordOutbox(corpus, join(dir, 'outbox'))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function recordFold(corpus: Corpus, market: RecordedMarket, dir: string): Promise<void> {
  const { family, settings, envelopes, committed } = market
  const snapshots = corpus.path(join('state', family))
  const [before, after] = [envelopes.slice(0, committed), envelopes.slice(committed)]

  const engineDir = join(dir, 'engine')
  const run = new EngineRun(engineSettingsOf(settings), diskStore(engineDir, STATE_FORMAT))
  for (const envelope of before) run.apply(envelope)
  run.commit()
  await takeSnapshot(engineDir, join(snapshots, 'engine'))
  const sets = after.map((envelope) => run.apply(envelope))
  await run.store.close()

  const readerDir = join(dir, 'reader')
  const store = diskStore(readerDir, INDEX_FORMAT)
  const index = new ReaderIndex(store, { hasHistories: family === 'evm' })
  for (const envelope of before) index.apply(envelope)
  store.write(index.pending(), committed)
  index.committed()
  await takeSnapshot(readerDir, join(snapshots, 'reader'))
  const addresses = addressesIn(envelopes)
  const values = [indexValues(index, addresses)]
  for (const envelope of after) index.apply(envelope)
  values.push(indexValues(index, addresses))
  await store.close()

  const messages = after.map(encodeEnvelope)
  corpus.write(join('state', family, 'fold'), {
    ...{ settings, committed, messages, sets, addresses, index: values },
    published: sets.map(encodeChangeSet),
  })
}

function addressesIn(envelopes: readonly Envelope[]): string[] {
  const facts = envelopes.flatMap((envelope) => (envelope.kind === 'block' ? envelope.facts : []))
  return [...new Set(facts.map(({ address }) => address))].sort()
}

async function recordOutbox(corpus: Corpus, dir: string): Promise<void> {
  const outbox = openOutbox(dir)
  const [epoch, first] = ['recorded', 41]
  const frames: Uint8Array[] = []
  for (let seq = 1; seq <= 5; seq++) {
    const head = { number: seq, hash: `0x${seq}`, time: 1_700_000_000 }
    const bytes = encodeChangeSet({
      ...{ chain: 'eth', seq, cause: 'block', head, finalNumber: 0, changes: [] },
    })
    frames.push(
      ...splitMessage(bytes, frames.length === 0 ? 7 : frameChecksum(frames.at(-1) as Uint8Array), 900),
    )
  }
  for (const [at, frame] of frames.entries()) outbox.add(epoch, first + at, frame)
  await outbox.flushed()
  await outbox.close()
  mkdirSync(corpus.path('state'), { recursive: true })
  writeFileSync(corpus.path('state/outbox.mdb.zst'), zstdCompressSync(readFileSync(join(dir, 'data.mdb'))))
  corpus.write('state/outbox', { epoch, first, frames })
}
