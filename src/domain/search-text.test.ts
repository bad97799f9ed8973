import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LOOKALIKES } from './lookalikes.ts'
import { foldedOf, lettersOf, looksOf, searchTermsOf, skeletonOf } from './search-text.ts'

const character = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.constantFrom(
    ...'aAiIlL10oO|$. ',
    ...LOOKALIKES.keys(),
    ...['ﷺ', 'İ', 'ß', 'ﬁ', '𝐔', 'Ｕ', '\ud800', '\u0301', '\u200b'],
  ),
)
const anything = fc.array(character, { maxLength: 120, size: 'max' }).map((parts) => parts.join(''))

test('keys have bounded length, and the key of a key is itself', () => {
  fc.assert(
    fc.property(anything, (text) => {
      for (const keyOf of [foldedOf, skeletonOf, lettersOf, looksOf]) {
        const key = keyOf(text)
        assert.ok([...key].length <= 64 && key.isWellFormed())
      }
      assert.equal(foldedOf(foldedOf(text)), foldedOf(text))
      assert.equal(skeletonOf(skeletonOf(text)), skeletonOf(text))
    }),
    { numRuns: 3_000 },
  )
})

test('a text of signs alone has the letters that its signs look like, or itself', () => {
  assert.equal(skeletonOf('|\u2104'), 'l')
  assert.equal(skeletonOf('$.'), '$.')
})

test('a standalone accent counts as a space, and two spaces as one', () => {
  assert.equal(skeletonOf('a\u1fbf a'), 'a a')
  assert.equal(skeletonOf('\u1fbfa'), 'a')
})

test('texts with the same letters or the same looks have the same skeleton', () => {
  const letters = fc.constantFrom(...'PEpeLlIi1|0oOＰ$. ', 'Р', 'І', 'Ӏ', 'İ', 'É')
  const text = fc.array(letters, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, (a, b) => {
      if (foldedOf(a) === foldedOf(b)) assert.equal(lettersOf(a), lettersOf(b))
      if (lettersOf(a) === lettersOf(b) || looksOf(a) === looksOf(b))
        assert.equal(skeletonOf(a), skeletonOf(b))
    }),
    { numRuns: 20_000 },
  )
})

describe('forged symbols', () => {
  const forgeries: readonly (readonly [genuine: string, forged: string, how: string])[] = [
    ['USDT', '\u054dSDT', 'Armenian, trustwallet/assets 37070'],
    ['USDT', '\u054d\u0405D\u13a2', 'Armenian, Cyrillic and Cherokee'],
    ['USDT', 'USDТ', 'Cyrillic'],
    ['USDC', 'USD\u03f9', 'Greek'],
    ['PEPE', 'РЕРЕ', 'all Cyrillic'],
    ['PEPE', 'ＰＥＰＥ', 'fullwidth'],
    ['PEPE', '𝐏𝐄𝐏𝐄', 'mathematical'],
    ['PEPE', 'P\u200bE\u202ePE\ufeff', 'invisible characters'],
    ['PEPE', 'PÉPẸ', 'accents'],
    ['PEPE', '$PEPE', 'a dollar sign'],
    ['USDT', 'USDT.', 'a dot'],
    ['USDT', 'USDT\u3164', 'a filler that is a letter to Unicode'],
    ['WBTC', 'ꓪꓐꓔꓚ', 'Lisu'],
    ['LINK', 'LlNK', 'a small l for a capital I'],
    ['LINK', 'L1NK', 'a one'],
    ['DOGE', 'D0GE', 'a zero'],
    ['SOLO', 'S0L0', 'zeros'],
  ]
  for (const [genuine, forged, how] of forgeries) {
    test(`${genuine}: ${how}`, () => {
      assert.equal(skeletonOf(forged), skeletonOf(genuine))
      assert.equal(looksOf(forged), looksOf(genuine))
    })
  }

  test('symbols that only resemble each other loosely have different looks', () => {
    for (const [a, b] of [
      ...[
        ['BIT', 'BLT'],
        ['SOL', 'SOI'],
        ['AI', 'AL'],
        ['USDT', 'USDC'],
        ['PEPE', 'PEPE2'],
        ['USDC', 'USDC.e'],
      ],
      ...[
        ['한국', '중국'],
        ['₿', '🐸'],
      ],
    ] as const) {
      assert.notEqual(looksOf(a), looksOf(b), `${a} ${b}`)
      assert.notEqual(lettersOf(a), lettersOf(b), `${a} ${b}`)
    }
  })
})

test('invisible text has no key', () => {
  for (const text of ['', ' ', '\u200b', '\0', '\ud800', '\u202e\u3164']) assert.equal(skeletonOf(text), '')
})

test('a token is found by its symbol, and by its name from each significant word on', () => {
  assert.deepEqual(searchTermsOf({ symbol: 'UNI', name: 'Uniswap' }), [
    { kind: 'symbol', term: 'unl' },
    { kind: 'name', term: 'unlswap' },
  ])
  assert.deepEqual(
    searchTermsOf({ symbol: 'SHIB', name: 'The Shiba Inu Token' }).map(({ kind, term }) => `${kind} ${term}`),
    ['symbol shlb', 'name the shlba lnu token', 'word shlba lnu token', 'word lnu token'],
  )
  assert.deepEqual(searchTermsOf({ symbol: '', name: '\u200b' }), [])
  assert.equal(searchTermsOf({ symbol: 'X', name: 'a b c d e f g h' }).length, 5)
})

test('the key of a prefix is a prefix of the key', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcilIL10oXYZ '), minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(word, word, (start, rest) => {
      fc.pre(start.trim() === start && rest.trim() === rest)
      assert.ok(skeletonOf(start + rest).startsWith(skeletonOf(start)))
    }),
  )
})
