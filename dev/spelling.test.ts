import assert from 'node:assert/strict'
import { test } from 'node:test'
import english from 'dictionary-en'
import nspell from 'nspell'
import { misspelledWords, PROJECT_WORDS } from './spelling.ts'

const found = (path: string, text: string): string[] =>
  misspelledWords(path, text).map((line) => line.replace(/^[^:]*:/, '').replace(/ is misspelled.*/, ''))

test('a misspelled or British word on a page is reported with its line', () => {
  const page = '# Reciever\n\nIts behaviour is the pool’s.\n\n| a | cancelled |\n'
  assert.deepEqual(found('docs/a.md', page), ['1: Reciever', '3: behaviour', '5: cancelled'])
})

test('words of the field have their endings and keep their capitals', () => {
  const page = 'Backfilled from ClickHouse’s WebSockets, not from Clickhouse.'
  assert.deepEqual(found('docs/a.md', page), ['1: Clickhouse'])
})

test('code, link targets, identifiers and acronyms are not checked', () => {
  const page =
    'A `reciever`, [a link](docs/recieve.md), ``a `recieve` b``, recieve_it(), 0xrecieve, NFTs.\n\n' +
    '```sh\nrecieve\n```\n\n  ```\n  recieve\n  ```\n\nrecieve\n'
  assert.deepEqual(found('docs/a.md', page), ['11: recieve'])
})

test('texts of a source file are checked, its names and comments are not', () => {
  const source = [
    '// recieve it',
    "const recieve = { summary: 'Recieve a swap', code: 'recieve' }",
    'const text = `One \\`recieve\\`,',
    `two recieve \${recieve}, it\\'s\nrecieve it <b>all</b>\``,
  ].join('\n')
  assert.deepEqual(found('src/gateway/a.ts', source), ['2: Recieve', '4: recieve', '5: recieve'])
})

test('the project dictionary is sorted and lists only words that English lacks', () => {
  const entries = PROJECT_WORDS.trimEnd().split('\n')
  assert.deepEqual(entries, [...new Set(entries)].toSorted())
  const plain = nspell({ aff: Buffer.from(english.aff), dic: Buffer.from(english.dic) })
  const words = entries.map((entry) => entry.split('/')[0] ?? '')
  assert.deepEqual(
    words.filter((word) => plain.correct(word)),
    [],
  )
})
