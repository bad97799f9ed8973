import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cleanText, shownText } from './token-text.ts'

test('any bytes give a displayable text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000, size: 'max' }), (raw) => showable(shownText(raw))),
    { numRuns: 500 },
  )
})

test('only the beginning of a very long text is read', () => {
  assert.equal(shownText(Buffer.from('x'.repeat(1_000_000))), 'x'.repeat(64))
  assert.equal(shownText(Buffer.from('🚀'.repeat(250_000))), '🚀'.repeat(64))
})

describe('displayed text', () => {
  test('has no invisible characters', () => {
    assert.equal(cleanText('\0a\u0001b\u007f'), 'ab')
    assert.equal(cleanText('USD\u202eC'), 'USDC')
    assert.equal(cleanText('U\u200bS\u200dD\ufeffC\u2060'), 'USDC')
    assert.equal(cleanText('USDC\u{e0041}'), 'USDC')
    assert.equal(cleanText(' \t\r\nUSDC\u2028\u00a0'), 'USDC')
    assert.equal(cleanText('\u200b\u200b'), '')
  })

  test('has no broken characters', () => {
    assert.equal(cleanText('a\ud800b\udc00c'), 'abc')
    assert.equal(cleanText('\ufffd?\ufffd'), '?')
    assert.equal(shownText(Buffer.from([0x61, 0xc3])), 'a')
  })

  test('normalizes texts that look the same, also around removed characters', () => {
    assert.equal(cleanText('e\u0301'), '\u00e9')
    assert.equal(cleanText('e\u200d\u0301'), '\u00e9')
    assert.equal(cleanText('\u212b'), '\u00c5')
  })

  test('has at most 64 characters, none cut in half, and no trailing space', () => {
    assert.equal(cleanText('🚀'.repeat(65)), '🚀'.repeat(64))
    assert.equal(cleanText(`${'x'.repeat(63)} y`), 'x'.repeat(63))
  })

  test('is unchanged by a second cleaning', () => {
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
