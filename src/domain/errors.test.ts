import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ChaintapeError, ERROR_CODES } from './errors.ts'

test('docs/errors.md has exactly one section per error code', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const sections = [...page.matchAll(/^### (\w+)\n+(\w+)/gm)].map(([, code, advice]) => [
    code,
    advice?.toLowerCase(),
  ])
  const codes = Object.entries(ERROR_CODES)
  assert.deepEqual(sections.sort(), codes.sort())
})

test('every error code is raised somewhere', () => {
  const root = new URL('../', import.meta.url).pathname
  const files = globSync('**/*.ts', { cwd: root }).filter(
    (file) => !/\.test\.ts$|domain\/errors\.ts$/.test(file),
  )
  const source = files.map((file) => readFileSync(`${root}${file}`, 'utf8')).join('\n')
  assert.deepEqual(
    Object.keys(ERROR_CODES).filter((code) => !new RegExp(`\\b${code}\\b`).test(source)),
    [],
  )
})

test('the retry class is a property of the code', () => {
  assert.equal(new ChaintapeError('node_unavailable', 'x').retryable, true)
  assert.equal(new ChaintapeError('fenced', 'x').retryable, false)
  assert.equal(new ChaintapeError('malformed_id', 'x').retryable, false)
})
