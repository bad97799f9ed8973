import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedWords } from './check-words.ts'

const linesOf = (path: string, text: string): number[] =>
  refusedWords(path, text).map((found) => Number(found.split(':')[1]))

test('refused words are found in names, comments and texts of src', () => {
  const text = `const told = 1\n/** Of a pair. */\n// Whoever asks.\nthrow new Error('cannot go on')\nconst retold = 2\n`
  assert.deepEqual(linesOf('src/a.ts', text), [1, 2, 3, 4])
})

test('tests are checked in comments only, pages as a whole', () => {
  const text = `const told = 1\n// told\n  /** told */\nlet a = told // told\n`
  assert.deepEqual(linesOf('src/a.test.ts', text), [2, 3, 4])
  assert.deepEqual(linesOf('docs/a.md', 'A page.\n\nIt tells all.\n'), [3])
})
