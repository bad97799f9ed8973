import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWireTransaction } from './wire-transaction.ts'

const signature = Buffer.alloc(64, 7)
const payer = Buffer.alloc(32, 1)
const program = Buffer.alloc(32, 2)
const lifetime = Buffer.alloc(32, 3)
const data = Buffer.from('c0ffee', 'hex')

const legacyMessage = Buffer.concat([
  Buffer.of(1, 0, 1, 2),
  payer,
  program,
  lifetime,
  Buffer.of(1, 1, 2, 0, 1, data.length),
  data,
])
const version1 = Buffer.concat([
  // Two bits of the configuration are one price of eight bytes, the third is a limit of four.
  Buffer.of(0x81, 1, 0, 1, 0b111, 0, 0, 0),
  lifetime,
  Buffer.of(1, 2),
  payer,
  program,
  Buffer.alloc(12, 9),
  Buffer.of(1, 2, data.length, 0, 0, 1),
  data,
  signature,
])
const encodings: Readonly<Record<string, Buffer>> = {
  legacy: Buffer.concat([Buffer.of(1), signature, legacyMessage]),
  'version 0': Buffer.concat([Buffer.of(1), signature, Buffer.of(0x80), legacyMessage, Buffer.of(0)]),
  'version 1': version1,
}

for (const [name, bytes] of Object.entries(encodings)) {
  test(`a transaction of ${name} is parsed`, () => {
    const parsed = parseWireTransaction(bytes)
    assert.deepEqual(parsed?.signature, signature)
    assert.deepEqual(parsed?.keys, [payer, program])
    assert.deepEqual(parsed?.instructions, [{ program: 1, accounts: Buffer.of(0, 1), data }])
  })

  test(`a truncated transaction of ${name} is refused`, () => {
    const lookupTables = name === 'version 0' ? 1 : 0
    for (let length = 0; length < bytes.length - lookupTables; length++) {
      assert.equal(parseWireTransaction(bytes.subarray(0, length)), undefined, `${length} bytes`)
    }
  })
}

test('a transaction of an unknown version is refused', () => {
  const bytes = Buffer.concat([Buffer.of(1), signature, Buffer.of(0x82), legacyMessage])
  assert.equal(parseWireTransaction(bytes), undefined)
})
