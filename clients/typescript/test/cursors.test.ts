import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { storageCursors } from '../src/index.ts'
import { fileCursors } from '../src/node.ts'

let folder: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'chaintape-cursors-'))
})

after(() => rmSync(folder, { recursive: true, force: true }))

test('a file has the latest cursor of each stream, written together', async () => {
  const path = join(folder, 'new/cursors.json')
  const store = fileCursors(path, 20)
  const first = store.set('a', '1')
  const second = store.set('a', '2')
  const third = store.set('b', '3')
  assert.equal(existsSync(path), false)
  await Promise.all([first, second, third])
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { a: '2', b: '3' })
  await store.set('b', '4')
  const again = fileCursors(path)
  assert.deepEqual([await again.get('a'), await again.get('b'), await again.get('c')], ['2', '4', undefined])
  void again.set('a', '5')
  again.flush()
  assert.equal(fileCursors(path).get('a'), '5')
})

test('a file that cannot be written, or read, is an error', async () => {
  const blocked = join(folder, 'file')
  writeFileSync(blocked, 'not JSON')
  await assert.rejects(async () => fileCursors(join(blocked, 'cursors.json'), 1).set('a', '1'))
  assert.throws(() => fileCursors(blocked), SyntaxError)
})

test('a storage of a browser', async () => {
  const items = new Map<string, string>()
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  }
  const store = storageCursors(storage)
  assert.equal(await store.get('a'), undefined)
  await store.set('a', '1')
  assert.deepEqual([await storageCursors(storage).get('a'), [...items.keys()]], ['1', ['chaintape:a']])
})
