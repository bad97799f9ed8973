import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const repo = new URL('..', import.meta.url)
const page = readFileSync(new URL('docs/architecture.md', repo), 'utf8')
const mapped = [...page.matchAll(/^\| `(src\/[^`]*)\/` /gm)].map(([, path]) => path ?? '')
const folders = readdirSync(new URL('src', repo), { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isDirectory())
  .map(({ parentPath, name }) => `src${`${parentPath}/${name}`.slice(new URL('src', repo).pathname.length)}`)

/** `src/dex/evm/<protocol>` stands for every folder of `src/dex/evm`. */
function covers(entry: string, folder: string): boolean {
  return new RegExp(`^${entry.replace(/<[a-z]+>/, '[^/]+')}$`).test(folder)
}

test('every folder of src is on the map, and the map names no other', () => {
  assert.ok(folders.length > 50)
  const isParent = (folder: string): boolean => mapped.some((entry) => entry.startsWith(`${folder}/`))
  const missing = folders.filter((folder) => !mapped.some((entry) => covers(entry, folder)))
  assert.deepEqual(
    missing.filter((folder) => !isParent(folder)),
    [],
    'not on the map in docs/architecture.md',
  )
  const gone = mapped.filter((entry) => !folders.some((folder) => covers(entry, folder)))
  assert.deepEqual(gone, [], 'on the map in docs/architecture.md, but not there')
})
