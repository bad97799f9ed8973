import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import type { LogPosition } from '../../domain/log-position.ts'
import { lastSnapshotAt, openNewestState, type StateFolder, takeSnapshotOf } from './snapshots.ts'
import { openStateStore, type StateStore } from './state-store.ts'

const root = mkdtempSync(join(tmpdir(), 'chaintape-snapshots-'))
after(() => rmSync(root, { recursive: true, force: true }))

const logger = pino({ level: 'silent' })
const { signal } = new AbortController()
let folders = 0

const at = (sequence: number, epoch = 'e'): LogPosition => ({ epoch, sequence, link: 7 })
const text = (value: string): Uint8Array => Buffer.from(value)

function newFolder(snapshots = join(root, `snapshots${folders}`)): StateFolder {
  return { dir: join(root, `state${folders++}`), format: 'test-1', snapshots }
}

/** A state with one snapshot per sequence. */
async function withSnapshots(...sequences: number[]): Promise<StateFolder> {
  const folder = newFolder()
  const store = openStateStore(folder)
  for (const sequence of sequences) {
    store.commit(new Map([['a', text(`value ${sequence}`)]]), at(sequence))
    await takeSnapshotOf(folder, signal)
  }
  await store.close()
  return folder
}

/** A machine with an empty disk and these snapshots. */
function openElsewhere(
  { snapshots }: StateFolder,
  { fits = async () => true, isTooOld = async () => false }: Partial<Checks> = {},
  folder = newFolder(snapshots),
): Promise<StateStore> {
  return openNewestState(folder, isTooOld, fits, logger)
}

type Checks = Record<'fits' | 'isTooOld', (position: LogPosition) => Promise<boolean>>

async function contents(store: StateStore): Promise<[number | undefined, string]> {
  const found: [number | undefined, string] = [
    store.position?.sequence,
    Buffer.from(store.get('a') ?? []).toString(),
  ]
  await store.close()
  return found
}

test('an empty disk starts from the newest snapshot, and two are kept', async () => {
  const folder = await withSnapshots(1, 2, 3)
  assert.deepEqual(readdirSync(folder.snapshots).sort(), [
    '0000000000000002.json',
    '0000000000000002.mdb.zst',
    '0000000000000003.json',
    '0000000000000003.mdb.zst',
  ])
  assert.ok(Math.abs(lastSnapshotAt(folder) - Date.now()) < 60_000)
  assert.deepEqual(await contents(await openElsewhere(folder)), [3, 'value 3'])
})

test('there is nothing to copy before the first commit', async () => {
  const folder = newFolder()
  const store = openStateStore(folder)
  assert.equal(await takeSnapshotOf(folder, signal), false)
  await store.close()
  assert.equal(lastSnapshotAt(folder), 0)
})

test('a state that can be continued is not replaced, one that is too old is', async () => {
  const folder = await withSnapshots(1, 2)
  const own = newFolder(folder.snapshots)
  const store = openStateStore(own)
  store.commit(new Map([['a', text('own')]]), at(1))
  await store.close()
  assert.deepEqual(await contents(await openElsewhere(folder, {}, own)), [1, 'own'])
  const isTooOld = async () => true
  assert.deepEqual(await contents(await openElsewhere(folder, { isTooOld }, own)), [2, 'value 2'])
  // A snapshot that is no further is of no use.
  assert.deepEqual(await contents(await openElsewhere(folder, { isTooOld }, own)), [2, 'value 2'])
})

test('a damaged snapshot, one of another log and one of another format are passed over', async () => {
  const damages: readonly ((path: string) => void)[] = [
    (path) => truncateSync(`${path}.mdb.zst`, 100),
    (path) => {
      const bytes = readFileSync(`${path}.mdb.zst`)
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1
      writeFileSync(`${path}.mdb.zst`, bytes)
    },
    (path) => rmSync(`${path}.mdb.zst`),
    (path) => truncateSync(`${path}.json`, 10),
    (path) => rmSync(`${path}.json`),
    (path) => writeFileSync(`${path}.json`, readFileSync(`${path}.json`, 'utf8').replace('test-1', 'test-2')),
  ]
  const whole = await withSnapshots(1, 2)
  for (const damage of damages) {
    const folder = newFolder()
    cpSync(whole.snapshots, folder.snapshots, { recursive: true })
    damage(join(folder.snapshots, '0000000000000002'))
    assert.deepEqual(await contents(await openElsewhere(folder)), [1, 'value 1'])
  }
  const fits = async ({ sequence }: LogPosition) => sequence !== 2
  assert.deepEqual(await contents(await openElsewhere(whole, { fits })), [1, 'value 1'])
  const none = async () => false
  assert.deepEqual(await contents(await openElsewhere(whole, { fits: none })), [undefined, ''])
})

test('a state that another process commits to is copied as of one commit', async () => {
  const program = fileURLToPath(new URL('../../../test/support/rigs/commit-forever.ts', import.meta.url))
  const folder = newFolder()
  const child = fork(program, [folder.dir], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  try {
    await once(child, 'message')
    for (let round = 0; round < 3; round++) await takeSnapshotOf(folder, signal)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const store = await openElsewhere(folder)
  const sequence = store.position?.sequence ?? 0
  assert.ok(sequence > 0)
  const values = [...Array(100).keys()].map((key) => Buffer.from(store.get(`key${key}`) ?? []).toString())
  assert.deepEqual(new Set(values), new Set([String(sequence)]))
  await store.close()
})

test('a copy that is killed leaves the state and earlier snapshots whole', async () => {
  const folder = await withSnapshots(1)
  for (const ms of [50, 150, 250, 400]) {
    const stop = new AbortController()
    const taking = takeSnapshotOf(folder, stop.signal).catch(() => undefined)
    setTimeout(() => stop.abort(), ms)
    await taking
  }
  assert.deepEqual(await contents(await openElsewhere(folder)), [1, 'value 1'])
  assert.deepEqual(await contents(openStateStore(folder)), [1, 'value 1'])
})
