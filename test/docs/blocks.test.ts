import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blocksOf, shapeFaults } from './blocks.ts'

test('blocks have their line, their language and the reason why they are not run', () => {
  const text = [
    '# Page',
    '```sh',
    'ls',
    '```',
    'Text',
    '',
    '<!-- not run: needs a chain -->',
    '',
    '  ```json',
    '  {}',
    '  ```',
    '',
  ]
  assert.deepEqual(blocksOf('page.md', text.join('\n')), [
    { page: 'page.md', line: 2, language: 'sh', text: 'ls\n', notRun: undefined },
    { page: 'page.md', line: 9, language: 'json', text: '{}\n', notRun: 'needs a chain' },
  ])
})

test('an answer may show some of the fields, none that is missing and none of another type', () => {
  const real = { id: 'a', list: [{ n: 1, t: 'x' }], unknown: null }
  assert.deepEqual(shapeFaults({ list: [{ n: 5 }, { t: 'y' }] }, real), [])
  assert.deepEqual(shapeFaults({ list: [{ n: '5' }] }, real), ['$.list[0].n is number, documented as string'])
  assert.deepEqual(shapeFaults({ other: 1 }, real), ['$.other is not there'])
  assert.deepEqual(shapeFaults([1], []), ['$ is empty'])
})
