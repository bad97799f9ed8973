import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sandboxContracts } from './sandbox-contracts.ts'

test("the sandbox's contracts are those of the published packages and of the sources here", () => {
  const file = new URL('../src/sandbox/chain/contracts.json', import.meta.url)
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), sandboxContracts())
})
