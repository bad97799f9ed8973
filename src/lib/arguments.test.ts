import assert from 'node:assert/strict'
import test from 'node:test'
import { ArgumentError, nearestWord, parseArguments } from './arguments.ts'

const OPTIONS = { config: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const

test('options and positionals, in any order', () => {
  const { values, positionals } = parseArguments(['redis', '--config', 'a.yaml', 'rebuild', '-h'], OPTIONS)
  assert.deepEqual({ ...values }, { config: 'a.yaml', help: true })
  assert.deepEqual(positionals, ['redis', 'rebuild'])
  assert.equal(parseArguments(['--config=-x'], OPTIONS).values.config, '-x')
  assert.deepEqual(parseArguments(['--', '--config'], OPTIONS).positionals, ['--config'])
})

test('an invalid command line is answered with a correction', () => {
  const refused: [string[], string][] = [
    [['--confg', 'a'], "unknown option '--confg'; did you mean '--config'?"],
    [['--verion'], "unknown option '--verion'"],
    [['-x'], "unknown option '-x'"],
    [['--__proto__'], "unknown option '--__proto__'"],
    [['--config'], '--config needs a value: --config CONFIG'],
    [['--config', '--help'], '--config needs a value: --config CONFIG'],
    [['--help=yes'], '--help takes no value'],
  ]
  for (const [args, message] of refused) {
    assert.throws(
      () => parseArguments(args, OPTIONS),
      (error) => error instanceof ArgumentError && error.message === message,
      args.join(' '),
    )
  }
})

test('the nearest word is found for typos, and none for unrelated words', () => {
  const known = ['reader', 'engine', 'writer', 'gateway', 'keys', 'redis rebuild']
  const rows: [string, string | undefined][] = [
    ['kyes', 'keys'],
    ['key', 'keys'],
    ['raeder', 'reader'],
    ['gatway', 'gateway'],
    ['redis rebiuld', 'redis rebuild'],
    ['READER', 'reader'],
    ['xyz', undefined],
    ['', undefined],
    ['start', undefined],
  ]
  for (const [word, expected] of rows) assert.equal(nearestWord(word, known), expected, word)
})
