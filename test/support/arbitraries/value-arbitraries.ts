import fc from 'fast-check'
import { base58Text } from '../../../src/domain/base58.ts'
import { INTERVALS, type Interval } from '../../../src/domain/interval.ts'
import type { OrderKey } from '../../../src/domain/order-key.ts'

export const MAX_UINT256 = 2n ** 256n - 1n

/** Every record we decode is a plain object with all its keys, so the generated ones are too. */
export function plain<T>(fields: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>
}

export function known<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq: 3 })
}

export function short<T>(item: fc.Arbitrary<T>, maxLength = 4): fc.Arbitrary<T[]> {
  return fc.array(item, { maxLength, size: 'max' })
}

/** Any unsigned integer that a number holds exactly, the edges of its wire form often. */
export const uint: fc.Arbitrary<number> = fc.oneof(
  fc.nat(300),
  fc.maxSafeNat(),
  fc.constantFrom(0, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 49, Number.MAX_SAFE_INTEGER),
)

export const uint256: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX_UINT256 }),
  fc.bigInt({ min: 0n, max: 10n ** 24n }),
  fc.nat(77).map((exponent) => 10n ** BigInt(exponent)),
  fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n, 2n ** 112n - 1n, 2n ** 255n, MAX_UINT256),
)

export const signed: fc.Arbitrary<bigint> = fc.oneof(
  uint256,
  uint256.map((size) => -size),
)

export const bytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 300, size: 'max' })

const hostileTexts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ufeffBOM',
  '\u202egnp.exe',
  'e\u0301',
  '\u200d\u200b',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  '\u{10ffff}',
  '\ufffd',
  '__proto__',
  'constructor',
  'null',
  "'; DROP TABLE trades; --",
  '<script>alert(1)</script>',
  '\r\n\t\u2028\u2029',
  'x'.repeat(5_000),
  '\u{1f680}'.repeat(200),
]

/** Text as a token may name itself: any well-formed Unicode. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary-ascii', maxLength: 20 }),
  fc.constantFrom(...hostileTexts),
)

function hex(size: number): fc.Arbitrary<string> {
  return fc
    .uint8Array({ minLength: size, maxLength: size })
    .map((content) => `0x${Buffer.from(content).toString('hex')}`)
}

const BASE58 = [...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz']

function base58(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...BASE58), minLength, maxLength })
}

export const evmAddress: fc.Arbitrary<string> = hex(20)
export const evmHash: fc.Arbitrary<string> = hex(32)
/** A quarter begin with zeros, which are ones in the text. */
export const solanaAddress: fc.Arbitrary<string> = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(127))
  .map(([content, zeros]) => base58Text(content.fill(0, 0, zeros > 32 ? 0 : zeros), 0))
export const solanaSignature: fc.Arbitrary<string> = base58(86, 88)

/** Mostly not the text of 32 bytes, so that the short form must not be taken. */
const almostAddress = fc.oneof(
  base58(31, 45),
  fc.constantFrom('1'.repeat(31), '1'.repeat(32), '1'.repeat(33), '1'.repeat(44), 'z'.repeat(44)),
  fc
    .tuple(base58(16, 20), fc.constantFrom('0', 'l', 'é', '\u{1f680}'), base58(16, 20))
    .map((parts) => parts.join('')),
)

/** Almost hex, so that the short form must not be taken. */
const almostHex = fc.constantFrom(
  '',
  '0x',
  '0',
  '0x0',
  '0xABCD',
  '0xabcg',
  '0x00 ',
  'x00',
  '0X00',
  '00',
  '0x00\n',
  '0x\u0130\u0130',
  `0x${'\u0161\u0162'.repeat(10)}`,
)

export const address: fc.Arbitrary<string> = fc.oneof(evmAddress, solanaAddress)
export const hash: fc.Arbitrary<string> = fc.oneof(evmHash, solanaSignature)
/** What `id` must carry, whatever it is. */
export const anyId: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: address, weight: 4 },
  { arbitrary: hash, weight: 2 },
  almostHex,
  almostAddress,
  text,
)

export const chainName: fc.Arbitrary<string> = fc.stringMatching(/^[a-z][a-z0-9_]{0,31}$/)
export const interval: fc.Arbitrary<Interval> = fc.constantFrom(...INTERVALS)
export const decimals: fc.Arbitrary<number> = fc.nat(255)

export const orderKey: fc.Arbitrary<OrderKey> = plain<OrderKey>({
  block: uint,
  tx: fc.oneof(fc.nat(20), fc.nat(999_999)),
  log: fc.oneof(fc.nat(20), fc.nat(999_999)),
})

/** A message with a single error: a far better test of a decoder than noise. */
export function damaged(message: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(message, fc.nat(), fc.nat(255), fc.constantFrom('overwrite', 'cut', 'insert', 'remove', 'append'))
    .map(([whole, place, byte, how]) => {
      const at = whole.length === 0 ? 0 : place % whole.length
      const before = whole.subarray(0, at)
      switch (how) {
        case 'overwrite':
          return Buffer.concat([before, Buffer.of(byte), whole.subarray(at + 1)])
        case 'insert':
          return Buffer.concat([before, Buffer.of(byte), whole.subarray(at)])
        case 'remove':
          return Buffer.concat([before, whole.subarray(at + 1)])
        case 'append':
          return Buffer.concat([whole, Buffer.of(byte)])
        default:
          return before
      }
    })
}
