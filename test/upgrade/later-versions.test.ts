import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { open } from 'lmdb'
import { ChaintapeError } from '../../src/domain/errors.ts'
import { parseCursor } from '../../src/gateway/ws/cursor.ts'
import { openOutbox } from '../../src/store/lmdb/outbox.ts'
import { openStateStore } from '../../src/store/lmdb/state-store.ts'
import { readStored } from '../../src/store/redis/stored-value.ts'
import { decodeChangeSet, encodeChangeSet } from '../../src/wire/change-codec.ts'
import { decodeEnvelope, encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { decodeFrame, encodeFrame } from '../../src/wire/frame.ts'
import { RECORD_VERSION, readPair } from '../../src/wire/record-codec.ts'

const LATER = 200
const root = mkdtempSync(join(tmpdir(), 'chaintape-later-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** The error names the version that was met and the one that this program has. */
function assertRefused(read: () => unknown, ...named: readonly (string | number)[]): void {
  assert.throws(read, (error) => {
    assert.ok(error instanceof ChaintapeError)
    assert.ok(['message_unreadable', 'state_outdated'].includes(error.code))
    for (const version of named) assert.match(error.message, new RegExp(`\\b${version}\\b`))
    return true
  })
}

test('messages of later versions are refused with both versions', () => {
  const ref = { number: 1, hash: '0x01' }
  const block = Buffer.from(encodeEnvelope({ kind: 'undo', chain: 'eth', lastValid: ref }))
  const [blocksVersion = 0] = block
  block[0] = LATER
  assertRefused(() => decodeEnvelope(block), LATER, blocksVersion)

  const head = { ...ref, time: 1 }
  const set = { chain: 'eth', seq: 1, cause: 'block', head, finalNumber: 0, changes: [] } as const
  const changes = Buffer.from(encodeChangeSet(set))
  const [changesVersion = 0] = changes
  changes[0] = LATER
  assertRefused(() => decodeChangeSet(changes), LATER, changesVersion)

  const body = Buffer.from('body')
  const frame = Buffer.from(encodeFrame({ link: 0, part: 0, parts: 1, body, isCompressed: false }))
  const [, frameVersion = 0] = frame
  frame[1] = LATER
  const covered = frame.subarray(0, -4)
  const checksums = [true, false].map((isLittle) => {
    const end = Buffer.alloc(4)
    if (isLittle) end.writeUInt32LE(crc32(covered))
    else end.writeUInt32BE(crc32(covered))
    return Buffer.concat([covered, end])
  })
  const readable = checksums.find((each) => !isDamaged(each)) ?? assert.fail('no checksum fits')
  assertRefused(() => decodeFrame(readable), LATER, frameVersion)
})

function isDamaged(frame: Buffer): boolean {
  try {
    decodeFrame(frame)
    return false
  } catch (error) {
    return (error as ChaintapeError).code === 'log_damaged'
  }
}

test('records of later versions are refused with both versions', async () => {
  assertRefused(() => readStored(Buffer.from(`${LATER}:7\nx`), readPair), LATER, RECORD_VERSION)

  const state = join(root, 'state')
  await openStateStore({ dir: state, format: 'engine-200' }).close()
  assertRefused(() => openStateStore({ dir: state, format: 'engine-9' }), 'engine-200', 'engine-9')

  const outbox = join(root, 'outbox')
  await openOutbox(outbox).close()
  const db = open({ path: outbox, maxDbs: 2 })
  await db.openDB<string, string>({ name: 'meta', encoding: 'json' }).put('format', 'outbox-200')
  await db.close()
  assertRefused(() => openOutbox(outbox), 'outbox-200', 'outbox-1')
})

test('a cursor of a later form is not taken for one of this form', () => {
  assert.equal(parseCursor('c2.W10'), undefined)
})
