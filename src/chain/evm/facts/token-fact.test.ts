import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, type Hex, toFunctionSelector, toHex } from 'viem'
import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import { shownText } from '../../../domain/token-text.ts'
import { nativeFact } from '../../facts/native-coin.ts'
import { tokenQuestions, toTokenFact } from './token-fact.ts'

function readTokenText(answer: Hex | undefined): string {
  const bytes = answer === undefined ? undefined : Buffer.from(answer.slice(2), 'hex')
  return shownText(toTokenFact('0x01', [bytes]).nameRaw)
}

function asString(text: string): Hex {
  return encodeAbiParameters([{ type: 'string' }], [text])
}

function words(...values: (bigint | string)[]): Hex {
  return `0x${values.map((value) => (typeof value === 'string' ? value : value.toString(16).padStart(64, '0'))).join('')}`
}

describe('responses of a token', () => {
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

  test('any bytes give some text', () => {
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
      fc.property(bytes, (answer) => assert.ok(readTokenText(toHex(Uint8Array.from(answer))).isWellFormed())),
      { numRuns: 500 },
    )
  })
})

test('the calls', () => {
  assert.deepEqual(
    tokenQuestions('0x01').map(({ data }) => data),
    ['name()', 'symbol()', 'decimals()', 'totalSupply()'].map((signature) => toFunctionSelector(signature)),
  )
})

test('the raw answer is kept, with all that is never shown', () => {
  const raw = 'US\u202eD\0C'
  const { nameRaw } = toTokenFact('0x01', [Buffer.from(asString(raw).slice(2), 'hex')])
  assert.equal(Buffer.from(nameRaw).toString(), raw)
  assert.equal(shownText(nameRaw), 'USDC')
})

test('decimals and supply that no token can have are left out', () => {
  const numbers = (decimals: bigint, supply: bigint) => {
    const [, , a, b] = [0n, 0n, decimals, supply].map((value) => Buffer.from(words(value).slice(2), 'hex'))
    const fact = toTokenFact('0x01', [undefined, undefined, a, b])
    return [fact.decimals, fact.supplyRaw]
  }
  assert.deepEqual(numbers(18n, 5n), [18, 5n])
  assert.deepEqual(numbers(255n, 2n ** 256n - 1n), [255, 2n ** 256n - 1n])
  assert.deepEqual(numbers(256n, 0n), [undefined, 0n])
  assert.deepEqual(numbers(2n ** 255n, 0n), [undefined, 0n])
  assert.deepEqual(toTokenFact('0x01', []).supplyRaw, undefined)
})

test('the native coin is known without asking', () => {
  const fact = nativeFact(ZERO_ADDRESS, { name: 'Ether', symbol: 'ETH', decimals: 18 })
  assert.equal(fact.address, ZERO_ADDRESS)
  assert.equal(shownText(fact.symbolRaw), 'ETH')
})
