import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { generatedFiles } from './generated-files.ts'

const FOLDER = fileURLToPath(new URL('../../clients/typescript/src/generated', import.meta.url))

test('the types of the client are those of the gateway', async () => {
  const files = await generatedFiles()
  assert.deepEqual(readdirSync(FOLDER).sort(), Object.keys(files).sort())
  for (const [name, text] of Object.entries(files))
    assert.ok(readFileSync(join(FOLDER, name), 'utf8') === text, `${name} is stale: run npm run client:types`)
})
