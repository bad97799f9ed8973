import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { words } from '../../../../test/support/builders/abi-words.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import { zora } from './protocol.ts'

const COIN_CREATED = '0x3d1462491f7fa8396808c230d95c3fa60fd09ef59506d0b9bd1cf072d2a03f56'
const COIN_CREATED_V4 = '0x2de436107c2096e039c98bbcc3c5a2560583738ce15c234557eecb4d3221aa81'
const CREATOR_COIN_CREATED = '0x74b670d628e152daa36ca95dda7cb0002d6ea7a37b55afe4593db7abd1515781'
const TREND_COIN_CREATED = '0xfb9e81c36dd4134d4eb5055e20d3238cb29a63daef0dd0f8b0f131da85891959'

const FACTORY = '0x777777751622c0d3258f214f9df38e35bf45baf3'
const COIN = '0x253fc97e16d8741bd4ff295a2a2d6e9ee2741d3c'
const CURRENCY = '0xde8089a9bf92581e365366bc32382cfa50acec42'
const CREATOR = padded('0xbf9dd3d0b4d93eed6e51406b5a95e5603916162d')
const REFERRER = padded('0x419ac233a136fb8493c4b44ce231cefe6eb79d34')
const POOL = '0xc15c3300af02e4a871e6ae36a88b539445807bc88b801e197b52c2b09adb86fe'
const HOOK = '0x9ea932730a7787000042e34390b8e435dd839040'

const text = (letters: string): (string | bigint)[] => {
  const hex = Buffer.from(letters).toString('hex')
  const padding = '0'.repeat((64 - (hex.length % 64)) % 64)
  return [BigInt(letters.length), ...((hex + padding).match(/.{64}/g) ?? []).map((word) => `0x${word}`)]
}
const URI = 'ipfs://bafybeib3ncocrfmcna6letl2hppvvknsiaustohsuyqu5ntgbm5mqgzzo4'
const NAME = 'video_20250814_013446_edit'
const key = [COIN, CURRENCY, 30_000n, 200n, HOOK]
const texts = [...text(URI), ...text(NAME), ...text(NAME), ...text('1.1.0')]

/** Base 0x13020b28e7f28558b9cf07a1be11bc898d3de99d8414a8b9a4e7b60a4e4cb7a3, log 0x349. */
const inV4 = rawLog(
  FACTORY,
  [COIN_CREATED_V4, CREATOR, CREATOR, REFERRER],
  words(CURRENCY, 0x180n, 0x200n, 0x240n, COIN, ...key, POOL, 0x280n, ...texts),
)
const ofCreator = { ...inV4, topics: [CREATOR_COIN_CREATED, CREATOR, CREATOR, REFERRER] }
const inV3 = rawLog(
  FACTORY,
  [COIN_CREATED, CREATOR, CREATOR, REFERRER],
  words(CURRENCY, 0xe0n, 0x160n, 0x1a0n, COIN, HOOK, 0x1e0n, ...texts),
)
const trend = rawLog(
  FACTORY,
  [TREND_COIN_CREATED, CREATOR],
  words(0x140n, COIN, ...key, POOL, 0x180n, 0x1c0n, ...text('NEWS'), ...text('curve'), ...text('2.6.0')),
)

function read(log: RawLog) {
  return zora.tokenEvents?.[log.topics[0] ?? '']?.(log)
}

describe('a coin is created', () => {
  test('in a pool of Uniswap V4 or V3, by a creator or for a trend', () => {
    for (const log of [inV4, ofCreator, inV3, trend]) {
      assert.deepEqual(read(log), { type: 'tokenLaunched', token: COIN })
      for (const altered of spoiled(log)) assert.equal(read(altered), undefined)
    }
    assert.equal(Object.keys(zora.tokenEvents ?? {}).length, 4)
  })

  test('unless a parameter is not of its type', () => {
    assert.equal(read(withWord(inV4, 4, 1n << 200n)), undefined, 'the coin is no address')
    assert.equal(read(withWord(inV4, 9, 1n << 200n)), undefined, 'the hook is no address')
    assert.equal(read(withWord(trend, 0, 33n)), undefined, 'the symbol is not at a word')
    assert.equal(read({ ...trend, topics: [TREND_COIN_CREATED, CREATOR, CREATOR] }), undefined)
  })
})
