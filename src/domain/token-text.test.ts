import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, type Hex, toHex } from 'viem'
import { cleanText, readTokenText } from './token-text.ts'

function asString(text: string): Hex {
  return encodeAbiParameters([{ type: 'string' }], [text])
}

function words(...values: (bigint | string)[]): Hex {
  return `0x${values.map((value) => (typeof value === 'string' ? value : value.toString(16).padStart(64, '0'))).join('')}`
}

describe('what a token answers', () => {
  test('a string', () => {
    for (const text of ['USD Coin', 'Ünïcödé', '柴犬', '🚀 to the moon', 'x']) {
      assert.equal(readTokenText(asString(text)), text)
    }
  })

  test('the bytes32 of older tokens', () => {
    assert.equal(readTokenText(`0x${Buffer.from('Maker').toString('hex').padEnd(64, '0')}`), 'Maker')
    assert.equal(readTokenText(`0x${Buffer.from('M\0aker').toString('hex').padEnd(64, '0')}`), 'M')
    const full = 'a name of exactly 32 characters!'
    assert.equal(readTokenText(`0x${Buffer.from(full).toString('hex')}`), full)
  })

  test('nothing', () => {
    assert.equal(readTokenText(undefined), '')
    assert.equal(readTokenText('0x'), '')
    assert.equal(readTokenText('0x00'), '')
    assert.equal(readTokenText(asString('')), '')
    assert.equal(readTokenText(words(0n)), '')
  })

  test('a megabyte', () => {
    assert.equal(readTokenText(asString('x'.repeat(1_000_000))), 'x'.repeat(64))
    assert.equal(readTokenText(asString('🚀'.repeat(250_000))), '🚀'.repeat(64))
  })

  test('lengths and offsets that lie', () => {
    const abc = Buffer.from('abc').toString('hex').padEnd(64, '0')
    assert.equal(readTokenText(words(32n, 2n ** 256n - 1n, abc)), '')
    assert.equal(readTokenText(words(32n, 2n ** 32n - 1n, abc)), 'abc')
    assert.equal(readTokenText(words(32n, 2n ** 31n, abc)), 'abc')
    assert.equal(readTokenText(words(32n, 0n, abc)), '')
    assert.equal(readTokenText(words(2n ** 256n - 1n, 3n, abc)), '')
    assert.equal(readTokenText(words(2n ** 32n - 1n, 3n, abc)), '')
    assert.equal(readTokenText(words(64n, 3n, abc)), '')
    assert.equal(readTokenText(words(96n, 3n, abc)), '')
    assert.equal(readTokenText(`${words(32n)}00`), '')
  })

  test('any bytes give a text that may be shown', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200, size: 'max' }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc
        .tuple(fc.nat(100), fc.nat(200), fc.uint8Array({ maxLength: 120, size: 'max' }))
        .map(([offset, length, rest]) =>
          Buffer.concat([
            Buffer.from(words(BigInt(offset), BigInt(length)).slice(2), 'hex'),
            Buffer.from(rest),
          ]),
        ),
    )
    fc.assert(
      fc.property(bytes, (answer) => showable(readTokenText(toHex(Uint8Array.from(answer))))),
      { numRuns: 500 },
    )
  })
})

describe('what may be shown', () => {
  test('nothing invisible', () => {
    assert.equal(cleanText('\0a\u0001b\u007f'), 'ab')
    assert.equal(cleanText('USD\u202eC'), 'USDC')
    assert.equal(cleanText('U\u200bS\u200dD\ufeffC\u2060'), 'USDC')
    assert.equal(cleanText('USDC\u{e0041}'), 'USDC')
    assert.equal(cleanText(' \t\r\nUSDC\u2028\u00a0'), 'USDC')
    assert.equal(cleanText('\u200b\u200b'), '')
  })

  test('no half characters', () => {
    assert.equal(cleanText('a\ud800b\udc00c'), 'abc')
    assert.equal(cleanText('\ufffd?\ufffd'), '?')
    assert.equal(readTokenText(asString(`${'x'.repeat(255)}é`)), 'x'.repeat(64))
  })

  test('one spelling for what looks the same, even with something invisible in between', () => {
    assert.equal(cleanText('e\u0301'), '\u00e9')
    assert.equal(cleanText('e\u200d\u0301'), '\u00e9')
    assert.equal(cleanText('\u212b'), '\u00c5')
  })

  test('at most 64 characters, none of them cut in two and no space at the end', () => {
    assert.equal(cleanText('🚀'.repeat(65)), '🚀'.repeat(64))
    assert.equal(cleanText(`${'x'.repeat(63)} y`), 'x'.repeat(63))
  })

  test('cleaning twice changes nothing more', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom(
        'e',
        '\u0301',
        '\u200d',
        ' ',
        '\u202e',
        '\ud800',
        '\udc00',
        '\ufffd',
        'ﬁ',
        '한',
        '\u1112',
        '\u1161',
      ),
    )
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 80, size: 'max' }), (units) => {
        const once = cleanText(units.join(''))
        showable(once)
        assert.equal(cleanText(once), once)
      }),
      { numRuns: 2_000 },
    )
  })
})

function showable(text: string): void {
  assert.ok(text.isWellFormed())
  assert.ok([...text].length <= 64)
  assert.doesNotMatch(text, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/u)
  assert.equal(text, text.normalize('NFC').trim())
}
