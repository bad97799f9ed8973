import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { open as openWithVersion3 } from 'lmdb-3'
import { createLogger } from '../../lib/logger.ts'
import { convertOlderFiles, openFile } from './open-file.ts'

const root = mkdtempSync(join(tmpdir(), 'chaintape-lmdb-'))
after(() => rmSync(root, { recursive: true, force: true }))

const OPTIONS = { maxDbs: 2 }
const logger = createLogger('silent')
const { signal } = new AbortController()
const BASE = 6_000
const KEYS = 6_000

type File = ReturnType<typeof openFile>
type Contents = Map<string, number>

function randomOf(seed: number): (below: number) => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0
  return (below) => {
    state = (state ^ (state << 13)) >>> 0
    state = (state ^ (state >>> 17)) >>> 0
    state = (state ^ (state << 5)) >>> 0
    return state % below
  }
}

const stateOf = (file: File) =>
  file.openDB<Buffer, Buffer>({ name: 'state', encoding: 'binary', keyEncoding: 'binary' })
const metaOf = (file: File) => file.openDB<number, string>({ name: 'meta', encoding: 'json' })

/** Records of a few hundred bytes and some of several pages, as an engine has them. */
function fill(file: File, contents: Contents, random: (below: number) => number): void {
  const state = stateOf(file)
  for (let from = 0; from < BASE; from += 500)
    file.transactionSync(() => {
      for (let at = from; at < from + 500; at++) {
        const size = random(25) === 0 ? 2_000 + random(21_000) : 20 + random(400)
        state.putSync(Buffer.from(`base${at}`), Buffer.alloc(size))
        contents.set(`base${at}`, size)
      }
    })
}

function commitOften(file: File, contents: Contents, shift: number): void {
  const [state, meta] = [stateOf(file), metaOf(file)]
  for (let commit = 0; commit < 60; commit++)
    file.transactionSync(() => {
      for (let write = 0; write < 200; write++) {
        const name = `k${(commit * 7_919 + write * 104_729 + shift) % KEYS}`
        if ((commit + write) % 11 === 0) {
          state.removeSync(Buffer.from(name))
          contents.delete(name)
        } else {
          const size = 50 + ((commit * write) % 900)
          state.putSync(Buffer.from(name), Buffer.alloc(size, write))
          contents.set(name, size)
        }
      }
      meta.putSync('position', commit)
    })
}

function assertHolds(file: File, contents: Contents): void {
  const found = new Map(
    Array.from(stateOf(file).getRange(), ({ key, value }) => [key.toString(), value.length]),
  )
  assert.deepEqual(found, contents)
}

test('a file that is committed often and opened again stays whole', async () => {
  // With lmdb 3.5.6, each of these ends with an error or an abort of the process.
  for (const seed of [3, 6, 12, 14]) {
    const dir = join(root, `seed${seed}`)
    const random = randomOf(seed)
    const contents: Contents = new Map()
    let file = openFile(dir, OPTIONS)
    fill(file, contents, random)
    for (let round = 0; round < 6; round++) {
      commitOften(file, contents, random(KEYS))
      await file.close()
      file = openFile(dir, OPTIONS)
    }
    assertHolds(file, contents)
    await file.close()
  }
})

test('files of an earlier release are converted once, with everything in them', async () => {
  const dir = join(root, 'earlier')
  const random = randomOf(1)
  const contents: Contents = new Map()
  for (const folder of [dir, join(dir, 'outbox')]) {
    const earlier = openWithVersion3({ path: folder, maxDbs: 2 }) as unknown as File
    contents.clear()
    fill(earlier, contents, random)
    commitOften(earlier, contents, 0)
    await earlier.close()
    assert.throws(() => openFile(folder, OPTIONS), { code: 'state_outdated' })
  }
  await convertOlderFiles(dir, logger, signal)
  assert.ok(!existsSync(join(dir, 'converted')))
  let file = openFile(join(dir, 'outbox'), OPTIONS)
  assertHolds(file, contents)
  assert.equal(metaOf(file).get('position'), 59)
  for (let round = 0; round < 3; round++) {
    commitOften(file, contents, random(KEYS))
    await file.close()
    file = openFile(join(dir, 'outbox'), OPTIONS)
  }
  await convertOlderFiles(dir, logger, signal)
  assertHolds(file, contents)
  await file.close()
  const state = openFile(dir, OPTIONS)
  assert.equal(metaOf(state).get('position'), 59)
  await state.close()
})

test('a file that cannot be converted is left as it is, and named', async () => {
  const dir = join(root, 'damaged')
  mkdirSync(dir)
  writeFileSync(join(dir, 'data.mdb'), 'not an LMDB file')
  await assert.rejects(convertOlderFiles(dir, logger, signal), {
    code: 'store_unavailable',
    message: /^cannot convert the state in .*damaged$/,
  })
  assert.throws(() => openFile(dir, OPTIONS), { code: 'state_outdated' })
})
