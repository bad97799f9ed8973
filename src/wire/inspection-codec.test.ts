import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inspection } from '../../test/support/arbitraries/contract-arbitraries.ts'
import { damaged } from '../../test/support/arbitraries/value-arbitraries.ts'
import { ChaintapeError } from '../domain/errors.ts'
import {
  ALL_OF_IT_PPM,
  type Inspection,
  MAX_FINDING_LENGTH,
  MAX_FINDINGS,
  taxPpm,
} from '../domain/inspection.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { inspectionCodec } from './inspection-codec.ts'

function encode(value: Inspection): Uint8Array {
  const w = new ByteWriter()
  inspectionCodec.write(w, value)
  return w.finish()
}

function decode(bytes: Uint8Array): Inspection {
  const r = new ByteReader(bytes)
  const value = inspectionCodec.read(r)
  r.end()
  return value
}

const unreadable = (error: unknown) => error instanceof ChaintapeError && error.code === 'message_unreadable'

test('an inspection survives the wire, and encodes to the same bytes again', () => {
  fc.assert(
    fc.property(inspection, (sent) => {
      const bytes = encode(sent)
      assert.deepEqual(decode(bytes), sent)
      assert.deepEqual(encode(decode(bytes)), bytes)
    }),
    { numRuns: 500 },
  )
})

test('an inspection without the fields of a mint has the bytes of the first version', () => {
  fc.assert(
    fc.property(inspection, (any) => {
      const { metadataPowers: _, transferFee: __, holderTransfers: ___, ...contract } = any
      const [before, after] = [encode(contract), encode({ ...contract, metadataPowers: [] })]
      const form = before.findIndex((byte, at) => byte !== after[at])
      assert.equal(before[form], typeof contract.trial === 'object' ? 1 : 0)
      assert.deepEqual(
        [after[form], after.subarray(form + 1, before.length)],
        [(before[form] as number) + 2, before.subarray(form + 1)],
      )
      assert.deepEqual(decode(before), contract)
      assert.throws(() => decode(before.with(form, 8)), unreadable)
    }),
  )
})

test('transfers by holders come behind the fields of a mint, and nothing else changes', () => {
  fc.assert(
    fc.property(inspection, (any) => {
      const { holderTransfers: _, ...former } = any
      const transfers = { tried: 1, failed: 0, failure: undefined }
      const [before, after] = [encode(former), encode({ ...former, holderTransfers: transfers })]
      const form = before.findIndex((byte, at) => byte !== after[at])
      assert.equal(after[form], (before[form] as number) + 4)
      assert.deepEqual(after.subarray(form + 1, before.length), before.subarray(form + 1))
    }),
  )
})

test('damaged bytes give another inspection or a coded error', () => {
  fc.assert(
    fc.property(damaged(inspection.map(encode)), (bytes) => {
      try {
        decode(bytes)
      } catch (error) {
        assert.ok(unreadable(error), String(error))
      }
    }),
    { numRuns: 500 },
  )
})

test('more or longer findings than allowed are neither written nor read', () => {
  const [sample] = fc.sample(inspection, { numRuns: 1, seed: 1 })
  assert.ok(sample)
  const withMint = (mint: readonly string[]) => ({ ...sample, findings: { ...sample.findings, mint } })
  const many = Array.from({ length: MAX_FINDINGS }, () => 'x'.repeat(MAX_FINDING_LENGTH))
  assert.deepEqual(decode(encode(withMint(many))).findings.mint, many)
  assert.throws(() => encode(withMint([...many, 'one more'])), RangeError)
  assert.throws(() => encode(withMint(['x'.repeat(MAX_FINDING_LENGTH + 1)])), RangeError)
  // As a writer without the limit would encode it: another flag's text in a list with one more item.
  const bytes = Buffer.from(encode({ ...withMint(['abc']), proxy: undefined }))
  const at = bytes.indexOf(Buffer.from([1, 3, ...Buffer.from('abc')]))
  const tooMany = Buffer.from([MAX_FINDINGS + 1, ...Array.from({ length: MAX_FINDINGS + 1 }, () => 0)])
  const longer = Buffer.concat([bytes.subarray(0, at), tooMany, bytes.subarray(at + 5)])
  assert.throws(() => decode(longer), unreadable)
})

test('a tax above the whole amount is neither written nor read', () => {
  const [sample] = fc.sample(inspection, { numRuns: 1, seed: 1 })
  assert.ok(sample)
  const step = { works: true, taxPpm: ALL_OF_IT_PPM, gas: undefined, reason: undefined }
  const withTax = (taxPpm: number): Inspection => ({
    ...sample,
    trial: {
      pair: `0x${'11'.repeat(20)}`,
      method: 'call',
      buy: { ...step, taxPpm },
      transfer: undefined,
      sell: undefined,
    },
  })
  assert.deepEqual(decode(encode(withTax(ALL_OF_IT_PPM))), withTax(ALL_OF_IT_PPM))
  assert.throws(() => encode(withTax(ALL_OF_IT_PPM + 1)), RangeError)
  const bytes = Buffer.from(encode(withTax(ALL_OF_IT_PPM)))
  const at = bytes.lastIndexOf(Buffer.from([0xc0, 0x84, 0x3d]))
  bytes[at + 2] = 0x7f
  assert.throws(() => decode(bytes), unreadable)
})

test('the tax is the part that did not arrive', () => {
  assert.equal(taxPpm(1_000n, 950n), 50_000)
  assert.equal(taxPpm(3n, 2n), 333_333)
  assert.equal(taxPpm(10n ** 20n + 1n, 93n * 10n ** 18n + 1n), 70_000, 'the token’s own rounding')
  assert.equal(taxPpm(10n ** 30n, 10n ** 30n - 1n), 0)
  assert.equal(taxPpm(7n, 0n), ALL_OF_IT_PPM)
  assert.equal(taxPpm(7n, 8n), 0, 'a gift is no negative tax')
  assert.equal(taxPpm(0n, 0n), 0)
  assert.equal(taxPpm(7n, -(2n ** 255n)), undefined, 'less than nothing cannot arrive')
  assert.equal(taxPpm(-7n, 3n), undefined)
})
