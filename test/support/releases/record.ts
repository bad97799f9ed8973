/**
 * npm run record:release: records the bytes of every format of the version in package.json, with the values that this
 * program reads from them. Later versions have to read them. A recorded release is never recorded again.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { VERSION } from '../../../src/lib/version.ts'
import { STATE_FORMAT } from '../../../src/roles/engine.ts'
import { INDEX_FORMAT } from '../../../src/roles/reader.ts'
import { CHANGES_VERSION } from '../../../src/wire/change-type.ts'
import { encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import { RECORD_VERSION } from '../../../src/wire/record-codec.ts'
import { Corpus, type ReleaseInfo } from './corpus.ts'
import { recordMessages } from './record-messages.ts'
import { recordState } from './record-state.ts'
import { recordStores } from './record-stores.ts'
import { recordedMarkets } from './recorded-markets.ts'

const corpus = new Corpus(VERSION)
if (corpus.exists) {
  console.error(`${VERSION} is recorded already: raise the version in package.json first`)
  process.exit(1)
}
const undo = { kind: 'undo', chain: 'eth', lastValid: { number: 1, hash: '0x1' } } as const
const info: ReleaseInfo = {
  version: VERSION,
  formats: {
    BLOCKS: encodeEnvelope(undo)[0] as number,
    CHANGES: CHANGES_VERSION,
    'Redis documents': RECORD_VERSION,
    'engine state': STATE_FORMAT,
    'reader index': INDEX_FORMAT,
  },
}
const markets = recordedMarkets()
mkdirSync(corpus.dir, { recursive: true })
recordMessages(corpus, markets)
await recordState(corpus, markets)
await recordStores(corpus, markets)
// Last, so that an interrupted recording has none.
writeFileSync(corpus.path('release.json'), `${JSON.stringify(info, undefined, 2)}\n`)
console.log(`${VERSION} recorded in ${corpus.dir}`)
