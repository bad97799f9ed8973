import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_IMPORTED_HOLDERS } from '../../domain/imported-balances.ts'
import { readBalances } from './read-balances.ts'

const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`

test('lines of address and balance, with or without a header, quotes and a byte order mark', () => {
  const upper = `0x${'AB'.repeat(20)}`
  assert.deepEqual(
    readBalances(`\uFEFFaddress,balance\r\n${upper},5\r\n"${address(2)}" , "${2n ** 255n - 1n}"\r\n\r\n`),
    new Map([
      [upper.toLowerCase(), 5n],
      [address(2), 2n ** 255n - 1n],
    ]),
  )
})

const REFUSED: Record<string, [text: string, RegExp]> = {
  'no balances': ['address,balance\n', /no balances/],
  'a header that is not the first line': [`${address(1)},1\naddress,balance`, /line 2 is not/],
  'a balance with a point': [`${address(1)},1.5`, /line 1 is not/],
  'a negative balance': [`${address(1)},-1`, /line 1 is not/],
  'a balance in hex': [`${address(1)},0x10`, /line 1 is not/],
  'three columns': [`${address(1)},1,2`, /line 1 is not/],
  'a short address': ['0x12,1', /line 1 is not/],
  'a balance beyond the limit': [`${address(1)},${2n ** 255n}`, /exceeds/],
  'the zero address': [`${address(0)},1`, /zero address/],
  'an address twice, in other letters': [`0x${'ab'.repeat(20)},1\n0x${'AB'.repeat(20)},2`, /listed twice/],
  'too many holders': [
    Array.from({ length: MAX_IMPORTED_HOLDERS + 1 }, (_, at) => `${address(at + 1)},1`).join('\n'),
    /at most/,
  ],
}
for (const [name, [text, message]] of Object.entries(REFUSED))
  test(`a file is refused: ${name}`, () => {
    assert.throws(() => readBalances(text), { code: 'import_refused', message })
  })
