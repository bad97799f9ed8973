import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedWords } from './check-words.ts'

const linesOf = (path: string, text: string): number[] =>
  refusedWords(path, text).map((found) => Number(found.split(':')[1]))

test('refused words are found in names, comments and texts', () => {
  const text = `const told = 1\n/** Of a pair. */\n// Whoever asks.\nthrow new Error('cannot go on')\nconst retold = 2\n`
  for (const path of ['src/a.ts', 'src/a.test.ts']) assert.deepEqual(linesOf(path, text), [1, 2, 3, 4])
  assert.deepEqual(linesOf('docs/a.md', 'A page.\n\nIt tells all.\n'), [3])
})

test('refused words are found inside identifiers', () => {
  const names = ['assertTold', 'toldBy', 'tellsPools', 'told24h', 'AS_TOLD', 'TOLD_AFTER_MS', 'TELLING_MS']
  assert.deepEqual(linesOf('test/a.ts', names.join('\n')), [1, 2, 3, 4, 5, 6, 7])
  assert.deepEqual(linesOf('test/a.ts', 'threshold withholdToken tellurium setOlder MANIFOLD_TELLER\n'), [])
})
