import { type Input, OPERATIONS, type Operation } from '../contract/operations.ts'
import type { Names } from '../contract/world.ts'
import type { Random } from './random.ts'

/** Inputs for the REST operations: right, nearly right, and hostile. */

/** These ask ClickHouse, which in development answers a few dozen times a second: they come less often. */
const ASKS_HISTORY = new Set(['keyword search', 'swaps', 'liquidity'])
const HISTORY_SHARE = 0.002

const quick = OPERATIONS.filter(({ name }) => !ASKS_HISTORY.has(name))
const slow = OPERATIONS.filter(({ name }) => ASKS_HISTORY.has(name))

export function pickOperation(random: Random): Operation {
  return random.pick(random.chance(HISTORY_SHARE) ? slow : quick)
}

/** Text that has broken servers before. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'null',
  'undefined',
  'NaN',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '-1',
  '0',
  '-0',
  '1e999',
  '-1e999',
  '1e-999',
  '9007199254740993',
  '99999999999999999999999999',
  '0x10',
  '1.5',
  '0b1',
  '１２',
  '٣',
  "' OR 1=1 --",
  "'; DROP TABLE tokens; --",
  '{chain:String}',
  '%',
  '_',
  '\\',
  '$(reboot)',
  '../../../../etc/passwd',
  '<script>alert(1)</script>',
  '\ud800',
  '\udc00\ud800',
  '💩',
  'Ω'.repeat(200),
  '\u202e\u200b\ufeff',
  'İ',
  'ß',
  'x'.repeat(129),
  'x'.repeat(5_000),
  '\r\n',
  '\r\nX-Injected: 1',
  'a,b',
  '[]',
  '{}',
  '*',
]

/** A value that an input accepts, or any other. */
export function valueFor(input: Input, names: Names, random: Random): unknown {
  if (random.chance(0.35)) return random.pick(HOSTILE_TEXTS)
  const { type, maximum = 1_000 } = input
  if (typeof type !== 'string') return random.chance(0.8) ? random.pick(type) : random.pick(HOSTILE_TEXTS)
  switch (type) {
    case 'integer':
      return random.pick([1, 2, maximum, maximum + 1, 0, -1, 10 ** 12, 2 ** 53, 1.5, random.below(2 ** 31)])
    case 'chain':
      return random.pick(['local', 'local', 'tron', 'LOCAL', 'local ', 'constructor'])
    case 'token-id':
    case 'pair-id':
      return idLike(names, random)
    case 'token-ids':
      return idList(maximum, names, random)
    case 'text':
      return input.name === 'cursor'
        ? forgedCursor(random)
        : random.pick(['PEP', 'pep', 'meme', '2026-11', ...HOSTILE_TEXTS])
  }
}

export function idLike(names: Names, random: Random): string {
  const known = random.pick([names.token, names.pair, names.native, names.stable, names.idlePair])
  const hex = Buffer.from(random.bytes(random.pick([20, 20, 32, 19, 0]))).toString('hex')
  const address = random.chance(0.6) ? known : `0x${hex}`
  switch (random.below(12)) {
    case 0:
      return address
    case 1:
      return `${address}-`
    case 2:
      return `-${address}`
    case 3:
      return `${address.toUpperCase()}-local`
    case 4:
      return `${address}-local-local`
    case 5:
      return `${address}${random.pick(HOSTILE_TEXTS)}-local`
    case 6:
      return `${address}-${random.pick(HOSTILE_TEXTS)}`
    case 7:
      return random.pick(HOSTILE_TEXTS)
    default:
      return `${address}-local`
  }
}

/** As a client that has seen through it would write one. */
function forgedCursor(random: Random): string {
  const digits = (most: number): string => String(random.next()).slice(2, 2 + random.between(1, most))
  return Buffer.from(`${digits(12)}.${digits(16)}${digits(14)}`).toString('base64url')
}

function idList(maximum: number, names: Names, random: Random): unknown {
  const length = random.pick([0, 1, 1, 2, 5, 20, maximum, maximum + 1])
  return Array.from({ length }, () => (random.chance(0.02) ? strangeJson(random) : idLike(names, random)))
}

export function strangeJson(random: Random): unknown {
  return random.pick<unknown>([
    null,
    true,
    false,
    0,
    -0,
    1.5,
    -1,
    2 ** 53,
    1e308,
    [],
    {},
    [[]],
    [null],
    { length: 5 },
    { toString: 1 },
    { constructor: { prototype: { polluted: true } } },
    random.pick(HOSTILE_TEXTS),
  ])
}
