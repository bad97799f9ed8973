import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MAIN_ARGS } from './main-args.ts'

test('started by its first line, the program has the flags of npm start', () => {
  const main = MAIN_ARGS.at(-1) ?? ''
  const [firstLine] = readFileSync(main, 'utf8').split('\n')
  assert.equal(firstLine, `#!/usr/bin/env -S node ${MAIN_ARGS.slice(0, -1).join(' ')}`)
})
