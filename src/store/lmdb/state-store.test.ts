import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ChaintapeError } from '../../domain/errors.ts'
import { openStateStore, type StateStore } from './state-store.ts'

const root = mkdtempSync(join(tmpdir(), 'chaintape-lmdb-'))
after(() => rmSync(root, { recursive: true, force: true }))

let folders = 0
const newDir = (): string => join(root, String(folders++), 'nested')
const at = (seq: number) => ({ epoch: 'epoch-1', sequence: seq, link: 0xffff_ffff })
const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value))

function dump(store: StateStore): Record<string, string> {
  return Object.fromEntries([...store.entries()].map(([key, value]) => [key, Buffer.from(value).toString()]))
}

test('a new store is empty and has no position', async () => {
  const store = openStateStore({ dir: newDir(), format: 'test-1' })
  assert.equal(store.position, undefined)
  assert.equal(store.get('anything'), undefined)
  assert.deepEqual([...store.entries()], [])
  await store.close()
})

test('state and position survive reopening', async () => {
  const dir = newDir()
  const store = openStateStore({ dir, format: 'test-1' })
  store.commit(
    new Map([
      ['pair/a', text('one')],
      ['pair/b', text('two')],
      ['empty', new Uint8Array()],
      ['large', new Uint8Array(3_000_000).fill(120)],
    ]),
    at(7),
  )
  store.commit(
    new Map([
      ['pair/a', undefined],
      ['pair/b', text('changed')],
      ['never there', undefined],
    ]),
    at(8),
  )
  const expected = { 'pair/b': 'changed', empty: '', large: 'x'.repeat(3_000_000) }
  assert.deepEqual(dump(store), expected)
  await store.close()

  const reopened = openStateStore({ dir, format: 'test-1' })
  assert.deepEqual(reopened.position, at(8))
  assert.deepEqual(dump(reopened), expected)
  assert.equal(reopened.get('pair/a'), undefined)
  assert.deepEqual(reopened.get('empty')?.length, 0)
  await reopened.close()
})

test('a failed commit changes neither state nor position', async () => {
  const dir = newDir()
  const store = openStateStore({ dir, format: 'test-1' })
  store.commit(new Map([['a', text('before')]]), at(1))
  const tooLongForAKey = 'k'.repeat(5_000)
  const writes = new Map<string, Uint8Array | undefined>([
    ['a', text('after')],
    ['b', text('new')],
    [tooLongForAKey, text('x')],
  ])
  assert.throws(() => store.commit(writes, at(2)))
  assert.deepEqual(dump(store), { a: 'before' })
  assert.deepEqual(store.position, at(1))
  await store.close()
  const reopened = openStateStore({ dir, format: 'test-1' })
  assert.deepEqual([dump(reopened), reopened.position], [{ a: 'before' }, at(1)])
  reopened.commit(new Map([['a', text('after')]]), at(2))
  assert.deepEqual([dump(reopened), reopened.position], [{ a: 'after' }, at(2)])
  await reopened.close()
})

test('returned records are not changed by later writes', async () => {
  const store = openStateStore({ dir: newDir(), format: 'test-1' })
  store.commit(new Map([...Array(50).keys()].map((key) => [`key${key}`, text(`value ${key}`)])), at(1))
  const read = [...Array(50).keys()].map((key) => store.get(`key${key}`))
  const listed = [...store.entries()]
  store.commit(new Map([...Array(50).keys()].map((key) => [`key${key}`, text('other')])), at(2))
  assert.deepEqual(
    read.map((value) => Buffer.from(value ?? []).toString()),
    [...Array(50).keys()].map((key) => `value ${key}`),
  )
  for (const [key, value] of listed) assert.equal(Buffer.from(value).toString(), `value ${key.slice(3)}`)
  await store.close()
})

test('records that are views into a larger buffer are stored correctly', async () => {
  const store = openStateStore({ dir: newDir(), format: 'test-1' })
  const larger = Buffer.from('before|inside|after')
  store.commit(new Map([['a', new Uint8Array(larger.buffer, larger.byteOffset + 7, 6)]]), at(1))
  larger.fill(0)
  assert.deepEqual(dump(store), { a: 'inside' })
  await store.close()
})

test('state of another format is refused and left unchanged', async () => {
  const dir = newDir()
  const store = openStateStore({ dir, format: 'test-1' })
  store.commit(new Map([['a', text('x')]]), at(1))
  await store.close()
  assert.throws(
    () => openStateStore({ dir, format: 'test-2' }),
    (error) => error instanceof ChaintapeError && error.code === 'state_outdated' && !error.retryable,
  )
  const reopened = openStateStore({ dir, format: 'test-1' })
  assert.deepEqual([dump(reopened), reopened.position], [{ a: 'x' }, at(1)])
  await reopened.close()
})

test('state of an earlier format that is still read takes the new format with its next commit', async () => {
  const dir = newDir()
  const store = openStateStore({ dir, format: 'test-1' })
  store.commit(new Map([['a', text('x')]]), at(1))
  await store.close()
  const newer = { dir, format: 'test-2', earlier: ['test-1'] }
  const unchanged = openStateStore(newer)
  assert.deepEqual([dump(unchanged), unchanged.position], [{ a: 'x' }, at(1)])
  await unchanged.close()
  await openStateStore({ dir, format: 'test-1' }).close()
  const upgraded = openStateStore(newer)
  upgraded.commit(new Map([['b', text('y')]]), at(2))
  await upgraded.close()
  assert.throws(
    () => openStateStore({ dir, format: 'test-1' }),
    (error) => error instanceof ChaintapeError && /test-2, by id.*test-1, by id/.test(error.message),
  )
  const reopened = openStateStore(newer)
  assert.deepEqual(dump(reopened), { a: 'x', b: 'y' })
  await reopened.close()
})

test('after SIGKILL, state and position are from the same commit', async () => {
  const program = fileURLToPath(new URL('../../../test/support/rigs/commit-forever.ts', import.meta.url))
  const dir = newDir()
  for (let round = 0; round < 3; round++) {
    const child = fork(program, [dir], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const [firstSeq] = (await once(child, 'message')) as [number]
    child.kill('SIGKILL')
    await once(child, 'exit')
    const store = openStateStore({ dir, format: 'test-1' })
    const seq = store.position?.sequence ?? 0
    assert.ok(seq >= firstSeq)
    const values = [...Array(100).keys()].map((key) => Buffer.from(store.get(`key${key}`) ?? []).toString())
    assert.deepEqual(new Set(values), new Set([String(seq)]))
    await store.close()
  }
})
