import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { envelope } from '../../test/support/arbitraries/envelope-arbitraries.ts'
import { bytes, damaged } from '../../test/support/arbitraries/value-arbitraries.ts'
import type { Envelope } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ByteWriter } from './byte-writer.ts'
import { decodeEnvelope, encodeEnvelope, openEnvelope } from './envelope-codec.ts'

const encoded = envelope.map(encodeEnvelope)

function unreadable(error: unknown): boolean {
  return error instanceof ChaintapeError && error.code === 'message_unreadable'
}

function writtenBy(write: (w: ByteWriter) => unknown): Uint8Array {
  const w = new ByteWriter()
  write(w)
  return w.finish()
}

function decodesOrRefuses(message: Uint8Array): void {
  try {
    decodeEnvelope(message)
  } catch (error) {
    assert.ok(unreadable(error), String(error))
  }
}

test('an envelope survives the wire, and encodes to the same bytes again', () => {
  fc.assert(
    fc.property(envelope, (sent) => {
      const message = encodeEnvelope(sent)
      const received = decodeEnvelope(message)
      assert.deepEqual(received, sent)
      assert.deepEqual(encodeEnvelope(received), message)
    }),
    { numRuns: 500 },
  )
})

test('an envelope read in place has the same contents, and its ids are copied as they would be encoded', () => {
  fc.assert(
    fc.property(envelope, (sent) => {
      const opened = openEnvelope(encodeEnvelope(sent))
      if (opened.kind !== 'block') return assert.deepEqual(opened, sent)
      const transactions = opened.transactions.map((each) => {
        const { index, hash, from, logs } = each
        const copied = writtenBy((w) => [each.writeHash(w), each.writeFrom(w)])
        assert.deepEqual(
          copied,
          writtenBy((w) => [w.id(hash), w.id(from)]),
        )
        return { index, hash, from, logs }
      })
      assert.deepEqual({ ...opened, transactions }, sent)
    }),
    { numRuns: 500 },
  )
})

test('a version 4 block, which has no age, is read as not old', () => {
  fc.assert(
    fc.property(envelope, (sent) => {
      if (sent.kind !== 'block') return
      const { isOld: _, ...block } = sent
      const [young, old] = [encodeEnvelope(block), encodeEnvelope({ ...block, isOld: true })]
      const age = young.findIndex((byte, at) => byte !== old[at])
      const before = Buffer.concat([Buffer.of(4), young.subarray(1, age), young.subarray(age + 1)])
      assert.deepEqual(decodeEnvelope(before), block)
    }),
  )
})

test('an envelope truncated anywhere is refused', () => {
  fc.assert(
    fc.property(encoded, fc.nat(), (message, cut) => {
      const short = message.subarray(0, cut % message.length)
      assert.throws(() => decodeEnvelope(short), unreadable)
      assert.throws(() => openEnvelope(short), unreadable)
    }),
    { numRuns: 300 },
  )
})

test('an envelope with trailing bytes is refused', () => {
  fc.assert(
    fc.property(encoded, fc.nat(255), (message, extra) => {
      assert.throws(() => decodeEnvelope(Buffer.concat([message, Buffer.of(extra)])), unreadable)
    }),
  )
})

test('noise and damage are decoded or refused, nothing else', () => {
  fc.assert(fc.property(bytes, decodesOrRefuses), { numRuns: 500 })
  // After a valid version and kind, which random bytes rarely reach.
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 3 }), (noise, kind) =>
      decodesOrRefuses(Buffer.concat([Buffer.of(5, kind, 0), noise])),
    ),
    { numRuns: 1_000 },
  )
  fc.assert(fc.property(damaged(encoded), decodesOrRefuses), { numRuns: 1_000 })
})

test('another version, kind or fact is refused by name', () => {
  assert.throws(() => decodeEnvelope(Buffer.of(2)), {
    code: 'message_unreadable',
    message: 'BLOCKS message has version 2, not 5',
  })
  assert.throws(() => decodeEnvelope(Buffer.of(5, 4, 0)), {
    code: 'message_unreadable',
    message: 'unknown envelope kind 4',
  })
  const empty: Envelope = {
    kind: 'block',
    chain: '',
    number: 0,
    hash: '',
    parentHash: '',
    time: 0,
    transactions: [],
    facts: [],
  }
  const oneFact = Buffer.concat([encodeEnvelope(empty).subarray(0, -1), Buffer.of(1, 9, 0)])
  assert.throws(() => decodeEnvelope(oneFact), { code: 'message_unreadable', message: 'unknown fact type 9' })
})

test('the layout of version 5 is stable', () => {
  const message: Envelope = {
    kind: 'block',
    chain: 'eth',
    number: 300,
    hash: '0x0a',
    parentHash: '0x0b',
    time: 5,
    isOld: true,
    transactions: [
      {
        index: 1,
        hash: '0x0c',
        from: 'Sol',
        logs: [{ index: 2, address: '0x0d', topics: ['0x0e'], data: Uint8Array.of(7) }],
      },
    ],
    facts: [
      {
        type: 'pool',
        address: '0x01',
        factory: '0x02',
        tokens: ['0x03', '0x04'],
        pricing: { kind: 'bins', binStep: 300 },
        reservesBefore: [1n, 256n],
      },
      {
        type: 'pool',
        address: '0x07',
        factory: '0x08',
        tokens: [],
        pricing: { kind: 'trades' },
        reservesBefore: undefined,
        goalRaw: 257n,
      },
      {
        type: 'token',
        address: '0x05',
        nameRaw: Uint8Array.of(0x4e),
        symbolRaw: Uint8Array.of(0, 0xff),
        decimals: 18,
        supplyRaw: 256n,
      },
      {
        type: 'token',
        address: '0x06',
        nameRaw: new Uint8Array(),
        symbolRaw: new Uint8Array(),
        decimals: undefined,
        supplyRaw: undefined,
      },
      {
        type: 'transfers',
        address: '0x09',
        upTo: 300,
        isLast: true,
        first: { time: 5, sender: '0x0a' },
        gains: [{ holder: '0x0b', amountRaw: -5n }],
        issuedRaw: -1n,
        burnedRaw: 2n,
        mintedToZeroRaw: 0n,
      },
      { type: 'balance', address: '0x09', holder: '0x0b', amountRaw: 256n },
    ],
  }
  const layout = [
    '05 01 03657468 ac02 020a 020b 05 01',
    '01 01 020c 07536f6c 01 02 020d 01 020e 01 07',
    '06',
    '01 0201 0202 02 0203 0204 03 ac02 01 02 0101 020001 00',
    '01 0207 0208 00 04 00 01 020101',
    '02 0205 014e 0200ff 01 12 01 02 0001',
    '02 0206 00 00 00 00',
    '03 0209 ac02 01 01 05 020a 01 020b 01 0105 01 0101 0102 00',
    '04 0209 020b 020001',
  ].join('')
  assert.equal(Buffer.from(encodeEnvelope(message)).toString('hex'), layout.replaceAll(' ', ''))
  assert.equal(
    Buffer.from(
      encodeEnvelope({ kind: 'undo', chain: 'eth', lastValid: { number: 1, hash: '0x0a' } }),
    ).toString('hex'),
    '0502036574680102' + '0a',
  )
  assert.equal(
    Buffer.from(encodeEnvelope({ kind: 'final', chain: 'eth', upTo: { number: 1, hash: '0x0a' } })).toString(
      'hex',
    ),
    '0503036574680102' + '0a',
  )
})
