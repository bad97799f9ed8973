import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  anyId,
  known,
  plain,
  short,
  signed,
  uint,
  uint256,
} from '../../test/support/arbitraries/value-arbitraries.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import type { Codec } from '../wire/codec.ts'
import { type Holding, holdingCodec, type LargeHolder, type NonCirculating } from './holders/tables.ts'
import type { PairDepth } from './pair/depth.ts'
import type { QuotedPairs } from './token/main-pair.ts'
import { depthsCodec, quotedPairsCodec } from './token/pair-list-codecs.ts'

const holding: fc.Arbitrary<Holding> = plain<Holding>({
  isRead: fc.boolean(),
  hasUnreliableBalances: fc.boolean(),
  holders: uint,
  overdrawn: uint,
  issuedRaw: signed,
  burnedRaw: uint256,
  deadRaw: signed,
  lockedRaw: signed,
  nonCirculating: known(plain<NonCirculating>({ deadRaw: uint256, lockedRaw: uint256, burnedRaw: uint256 })),
  large: short(plain<LargeHolder>({ holder: anyId, amountRaw: uint256 })),
  first: known(plain<NonNullable<Holding['first']>>({ time: uint, creator: anyId })),
})

const depths: fc.Arbitrary<PairDepth[]> = short(
  plain<PairDepth>({ pair: anyId, tvlUsd: uint256, depthUsd: uint256 }),
)

const quotedPairs: fc.Arbitrary<QuotedPairs> = plain<QuotedPairs>({ tvlUsd: uint256, deepest: depths })

function encode<T>(codec: Codec<T>, value: T): Uint8Array {
  const w = new ByteWriter()
  codec.write(w, value)
  return w.finish()
}

function survivesRoundTrip<T>(codec: Codec<T>, values: fc.Arbitrary<T>): void {
  fc.assert(
    fc.property(values, (value) => {
      const bytes = encode(codec, value)
      assert.deepEqual(encode(codec, structuredClone(value)), bytes)
      const r = new ByteReader(bytes)
      const decoded = codec.read(r)
      r.end()
      assert.deepEqual(decoded, value)
      assert.deepEqual(encode(codec, decoded), bytes)
    }),
  )
}

test('a holding survives a round trip, and a clone has the same bytes', () => {
  survivesRoundTrip(holdingCodec, holding)
})

test("so do the depths of a token's pairs", () => {
  survivesRoundTrip(depthsCodec, depths)
})

test('so do the pairs of a quote asset', () => {
  survivesRoundTrip(quotedPairsCodec, quotedPairs)
})
