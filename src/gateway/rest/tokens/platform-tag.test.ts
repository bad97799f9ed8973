import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_WINDOWS, sampleToken } from '../../../../test/support/builders/market-samples.ts'
import type { TokenPlatform } from '../../../domain/change.ts'
import type { TokenView } from '../../shape/token-row.ts'
import { parsePlatformTag } from './platform-tag.ts'

function viewOf(platform: Partial<TokenPlatform> | undefined): TokenView {
  const unknown = { name: 'four_meme', createdAt: undefined, progressPpm: undefined, graduatedAt: undefined }
  const token = sampleToken({ platform: platform && { ...unknown, ...platform }, mainPairTvlUsd: 7n })
  return { chain: 'bsc', token, windows: NO_WINDOWS, listing: undefined, hasLockers: true }
}

function parsed(tag: string, order: 'tx_volume_u_24h' | 'main_pair_tvl' = 'tx_volume_u_24h') {
  const found = parsePlatformTag(tag, order)
  assert.ok(found, tag)
  return found
}

test('a tag is one rank of one group, and a platform may have underscores in its name', () => {
  for (const [tag, platform, rank] of [
    ['meme', undefined, 'meme/volume_24h'],
    ['four_meme_in_hot', 'four_meme', 'four_meme_in/volume_24h'],
    ['four_meme_out_hot', 'four_meme', 'four_meme_out/volume_24h'],
    ['flap_in_new', 'flap', 'flap_in/new'],
    ['flap_out_new', 'flap', 'flap_out/new'],
    ['flap_in_almost', 'flap', 'flap_in/almost'],
    ['flap_in_in_hot', 'flap_in', 'flap_in_in/volume_24h'],
  ] as const) {
    assert.deepEqual([parsed(tag).platform, parsed(tag).rank], [platform, rank])
  }
})

test('orderby sorts meme and hot tags, not the others', () => {
  assert.equal(parsed('meme', 'main_pair_tvl').rank, 'meme/main_pair_tvl')
  assert.equal(parsed('flap_out_hot', 'main_pair_tvl').rank, 'flap_out/main_pair_tvl')
  assert.equal(parsed('flap_in_new', 'main_pair_tvl').rank, 'flap_in/new')
  assert.equal(parsed('meme', 'main_pair_tvl').orderOf(viewOf({})), 7n)
  assert.equal(parsed('flap_in_new').orderOf(viewOf({ createdAt: 5 })), 5n)
  assert.equal(parsed('flap_out_new').orderOf(viewOf({ createdAt: 5, graduatedAt: 9 })), 9n)
  assert.equal(parsed('flap_in_almost').orderOf(viewOf({ progressPpm: 3 })), 3n)
})

test('anything else is no tag', () => {
  for (const tag of [
    '',
    'MEME',
    'meme ',
    '_in_hot',
    'flap',
    'flap_in',
    'flap_hot',
    'flap_out_almost',
    'flap_in_hot_',
  ]) {
    assert.equal(parsePlatformTag(tag, 'tx_volume_u_24h'), undefined, tag)
  }
})

test('a token carries the tags of its platform and of where it stands now', () => {
  const carried = (view: TokenView) =>
    ['meme', 'four_meme_in_hot', 'four_meme_in_almost', 'four_meme_out_new', 'flap_in_hot'].map((tag) =>
      parsed(tag).isOf(view),
    )
  assert.deepEqual(carried(viewOf(undefined)), [false, false, false, false, false])
  assert.deepEqual(carried(viewOf({})), [true, true, false, false, false])
  assert.deepEqual(carried(viewOf({ progressPpm: 799_999 })), [true, true, false, false, false])
  assert.deepEqual(carried(viewOf({ progressPpm: 800_000 })), [true, true, true, false, false])
  assert.deepEqual(carried(viewOf({ progressPpm: 800_000, graduatedAt: 1 })), [
    true,
    false,
    false,
    true,
    false,
  ])
  assert.deepEqual(carried(viewOf({ name: 'flap' })), [true, false, false, false, true])
})
