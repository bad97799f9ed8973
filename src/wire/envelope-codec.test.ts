import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { envelope } from '../../test/support/arbitraries/envelope-arbitraries.ts'
import { bytes, damaged } from '../../test/support/arbitraries/value-arbitraries.ts'
import { asFormerBlock } from '../../test/support/builders/former-messages.ts'
import type { ChainSettings } from '../domain/chain-settings.ts'
import type { Envelope, Fact } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ByteWriter } from './byte-writer.ts'
import { decodeEnvelope, decodeEnvelopeHead, encodeEnvelope, openEnvelope } from './envelope-codec.ts'
import { factCodec } from './fact-codec.ts'

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
        const { index, hash, from, logs, wallet } = each
        const copied = writtenBy((w) => [each.writeHash(w), each.writeFrom(w)])
        assert.deepEqual(
          copied,
          writtenBy((w) => [w.id(hash), w.id(from)]),
        )
        return { index, hash, from, logs, ...(wallet !== undefined && { wallet }) }
      })
      assert.deepEqual({ ...opened, transactions }, sent)
    }),
    { numRuns: 500 },
  )
})

test('blocks of versions 4 and 5 are read without wallets, and those of version 4 as not old', () => {
  fc.assert(
    fc.property(envelope, (sent) => {
      if (sent.kind !== 'block') return
      const transactions = sent.transactions.map(({ wallet: _, ...transaction }) => transaction)
      const before = { ...sent, transactions }
      const { isOld: _, ...young } = before
      assert.deepEqual(decodeEnvelope(asFormerBlock(5, before)), before)
      assert.deepEqual(decodeEnvelope(asFormerBlock(4, young)), young)
      const opened = openEnvelope(asFormerBlock(5, before))
      assert.ok(opened.kind === 'block' && opened.transactions.every(({ wallet }) => wallet === undefined))
    }),
  )
})

test('other version 5 messages are read alike, and none has settings', () => {
  fc.assert(
    fc.property(envelope, (sent) => {
      const before = encodeEnvelope(sent)
      before[0] = 5
      if (sent.kind === 'block') return
      if (sent.kind !== 'settings') return assert.deepEqual(decodeEnvelope(before), sent)
      assert.throws(() => decodeEnvelope(before), unreadable)
      assert.throws(() => decodeEnvelopeHead(before), unreadable)
    }),
  )
})

test('a head has the kind and block of its message, and settings have none', () => {
  fc.assert(
    fc.property(envelope, (sent) => {
      const { kind, number } = decodeEnvelopeHead(encodeEnvelope(sent))
      assert.equal(kind, sent.kind)
      if (sent.kind === 'block') assert.equal(number, sent.number)
      if (sent.kind === 'settings') assert.equal(number, 0)
    }),
  )
})

test('settings of the first rules have no native coin, and their bytes are those of the first release', () => {
  const first = { rules: 1, dexes: [], quoteAssets: [], minDepthUsd: 0n, lockers: [] }
  const native = { address: '0x00', supplyRaw: 258n }
  const bytesOf = (settings: ChainSettings): string =>
    Buffer.from(encodeEnvelope({ kind: 'settings', chain: 'eth', settings })).toString('hex')
  assert.equal(bytesOf(first), '060403657468' + '01' + '00000000')
  assert.equal(bytesOf({ ...first, rules: 2 }), '060403657468' + '02' + '00000000' + '00')
  assert.equal(
    bytesOf({ ...first, rules: 2, native }),
    '060403657468' + '02' + '00000000' + '01' + '0200' + '01' + '020201',
  )
  assert.throws(() => bytesOf({ ...first, native }), RangeError)
})

test('settings whose lockers are out of order or repeated are refused', () => {
  const settings = { rules: 1, dexes: [], quoteAssets: [], minDepthUsd: 0n, lockers: ['0x0a', '0x0b'] }
  const sorted = encodeEnvelope({ kind: 'settings', chain: 'eth', settings })
  const last = sorted.length - 1
  for (const [first, second] of [
    [0x0b, 0x0a],
    [0x0a, 0x0a],
  ] as const) {
    const other = Uint8Array.from(sorted)
    other[last - 2] = first
    other[last] = second
    assert.throws(() => decodeEnvelope(other), { code: 'message_unreadable', message: /ascending/ })
  }
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
    fc.property(bytes, fc.integer({ min: 1, max: 4 }), (noise, kind) =>
      decodesOrRefuses(Buffer.concat([Buffer.of(6, kind, 0), noise])),
    ),
    { numRuns: 1_000 },
  )
  fc.assert(fc.property(damaged(encoded), decodesOrRefuses), { numRuns: 1_000 })
})

test('another version, kind or fact is refused by name', () => {
  assert.throws(() => decodeEnvelope(Buffer.of(2)), {
    code: 'message_unreadable',
    message: 'BLOCKS message has version 2, not 6',
  })
  assert.throws(() => decodeEnvelope(Buffer.of(6, 5, 0)), {
    code: 'message_unreadable',
    message: 'unknown envelope kind 5',
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
  const oneFact = Buffer.concat([encodeEnvelope(empty).subarray(0, -1), Buffer.of(1, 10, 0)])
  assert.throws(() => decodeEnvelope(oneFact), {
    code: 'message_unreadable',
    message: 'unknown fact type 10',
  })
})

test('the layout of a launch is stable', () => {
  const launch = { type: 'launch', address: '0x0a', factory: '0x0b', block: 300 } as const
  const bytesOf = (fact: Fact): string => {
    const w = new ByteWriter()
    factCodec.write(w, fact)
    return Buffer.from(w.finish()).toString('hex')
  }
  const times = { createdAt: 1, graduatedAt: 2 }
  assert.equal(bytesOf({ ...launch, ...times }), '09' + '020a' + '020b' + 'ac02' + '0101' + '0102')
  const unknown = { createdAt: undefined, graduatedAt: undefined }
  assert.equal(bytesOf({ ...launch, ...unknown }), '09' + '020a' + '020b' + 'ac02' + '00' + '00')
})

test('the layout of version 6 is stable', () => {
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
        wallet: { nativeRaw: 9n, tokens: [{ token: '0x0f', amountRaw: 256n, accounts: 2 }] },
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
    '06 01 03657468 ac02 020a 020b 05 01',
    '01 01 020c 07536f6c 01 02 020d 01 020e 01 07 01 01 0109 01 020f 020001 02',
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
    '0602036574680102' + '0a',
  )
  assert.equal(
    Buffer.from(encodeEnvelope({ kind: 'final', chain: 'eth', upTo: { number: 1, hash: '0x0a' } })).toString(
      'hex',
    ),
    '0603036574680102' + '0a',
  )
  const settings: Envelope = {
    kind: 'settings',
    chain: 'eth',
    settings: {
      rules: 1,
      dexes: [
        {
          amm: 'a',
          protocol: 'p',
          factory: '0x0f',
          fromBlock: 300,
          untilBlock: undefined,
          initCodeHash: '0x01',
          deployer: undefined,
          positionManager: '0x02',
        },
      ],
      quoteAssets: [
        { address: '0x0a', kind: 'stable' },
        { address: '0x0b', kind: 'native' },
        { address: 'Sol', kind: 'major' },
      ],
      minDepthUsd: 256n,
      lockers: ['0x0c', '0x0d'],
    },
  }
  assert.equal(
    Buffer.from(encodeEnvelope(settings)).toString('hex'),
    [
      '06 04 03657468 01',
      '01 0161 0170 020f 01ac02 00 010201 00 010202',
      '03 020a 00 020b 01 07536f6c 02',
      '020001 02 020c 020d',
    ]
      .join('')
      .replaceAll(' ', ''),
  )
})
