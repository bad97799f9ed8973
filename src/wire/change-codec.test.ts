import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { candle, candleValues, change, changeSet } from '../../test/support/arbitraries/change-arbitraries.ts'
import { bytes, damaged } from '../../test/support/arbitraries/value-arbitraries.ts'
import { asVersion7, withoutHoldings } from '../../test/support/builders/former-messages.ts'
import type { Candle, Change, ChangeSet, WindowSums } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { candleStart, INTERVALS } from '../domain/interval.ts'
import { decodeChangeSet, decodeChangeSetHead, encodeChangeSet, openChangeSet } from './change-codec.ts'

const encoded = changeSet.map(encodeChangeSet)
const empty: ChangeSet = {
  chain: 'eth',
  seq: 300,
  cause: 'undo',
  head: { number: 2, hash: '0x0a', time: 3 },
  finalNumber: 1,
  changes: [],
}

function unreadable(error: unknown): boolean {
  return error instanceof ChaintapeError && error.code === 'message_unreadable'
}

function decodesOrRefuses(message: Uint8Array): void {
  try {
    decodeChangeSet(message)
  } catch (error) {
    assert.ok(unreadable(error), String(error))
  }
}

test('a change set survives the wire, and encodes to the same bytes again', () => {
  fc.assert(
    fc.property(changeSet, (sent) => {
      const message = encodeChangeSet(sent)
      const received = decodeChangeSet(message)
      assert.deepEqual(received, sent)
      assert.deepEqual(encodeChangeSet(received), message)
    }),
    { numRuns: 300 },
  )
})

test('a version 7 message is read as a set whose trades have no holdings', () => {
  fc.assert(
    fc.property(changeSet, (any) => {
      const sent = withoutHoldings(any)
      const former = asVersion7(sent)
      assert.deepEqual(decodeChangeSet(former), sent)
      const { set, bytes, offsets } = openChangeSet(former)
      assert.deepEqual(encodeChangeSet(set), encodeChangeSet(sent))
      assert.deepEqual(bytes, encodeChangeSet(sent))
      assert.deepEqual(offsets, openChangeSet(encodeChangeSet(sent)).offsets)
      const { changes: _, ...head } = sent
      assert.deepEqual(decodeChangeSetHead(former), head)
      for (const cut of [former.length >> 1, former.length - 1])
        assert.throws(() => decodeChangeSet(former.subarray(0, cut)), unreadable)
    }),
    { numRuns: 300 },
  )
})

test('an opened set equals a decoded one', () => {
  fc.assert(
    fc.property(changeSet, (sent) => {
      const message = encodeChangeSet(sent)
      const { set, offsets } = openChangeSet(message)
      // Encoding reads all of it.
      assert.deepEqual(encodeChangeSet(set), message)
      assert.equal(offsets.length, sent.changes.length)
    }),
    { numRuns: 300 },
  )
})

test('opening refuses exactly the messages that decoding refuses', () => {
  const refusal = (read: () => void): string | undefined => {
    try {
      read()
      return undefined
    } catch (error) {
      assert.ok(unreadable(error), String(error))
      return String(error)
    }
  }
  fc.assert(
    fc.property(damaged(encoded), (message) => {
      const opening = refusal(() => encodeChangeSet(openChangeSet(message).set))
      assert.equal(
        opening,
        refusal(() => decodeChangeSet(message)),
      )
    }),
    { numRuns: 1_000 },
  )
})

test('the samples contain every kind of change', () => {
  const seen = new Set(fc.sample(change, { numRuns: 300, seed: 1 }).map(({ type }) => type))
  const types: Record<Change['type'], true> = {
    trade: true,
    candle: true,
    pair: true,
    token: true,
    tradeRemoved: true,
    candleRemoved: true,
    pairRemoved: true,
    tokenRemoved: true,
    liquidity: true,
    windows: true,
    switch: true,
    liquidityRemoved: true,
    windowsRemoved: true,
    switchRemoved: true,
    balance: true,
    contract: true,
    contractRemoved: true,
  }
  assert.deepEqual([...seen].sort(), Object.keys(types).sort())
})

test('a set truncated anywhere is refused', () => {
  fc.assert(
    fc.property(encoded, fc.nat(), (message, cut) => {
      assert.throws(() => decodeChangeSet(message.subarray(0, cut % message.length)), unreadable)
    }),
  )
})

test('noise and damage are decoded or refused, nothing else', () => {
  fc.assert(fc.property(bytes, decodesOrRefuses), { numRuns: 500 })
  // After a valid head and change type, which random bytes rarely reach.
  const head = encodeChangeSet(empty).subarray(0, -1)
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 17 }), (noise, type) =>
      decodesOrRefuses(Buffer.concat([head, Buffer.of(type), noise])),
    ),
    { numRuns: 1_000 },
  )
  fc.assert(fc.property(damaged(encoded), decodesOrRefuses), { numRuns: 500 })
})

test('candles around one time are read back, and those with the same trades take one byte each', () => {
  const candle = fc.sample(change, { numRuns: 500, seed: 3 }).flatMap((one) => {
    return one.type === 'candle' && one.candle.usd !== undefined ? [one.candle] : []
  })[0]
  assert.ok(candle !== undefined)
  const row = (time: number, changedFrom: number): Change[] =>
    INTERVALS.map((interval, at): Change => {
      const tradeCount = at < changedFrom ? 1 : 2
      return {
        type: 'candle',
        candle: { ...candle, interval, start: candleStart(interval, time), tradeCount },
      }
    })
  const WEEK = 7 * 86_400
  const sizeOf = (changes: readonly Change[]): number => encodeChangeSet({ ...empty, changes }).length
  fc.assert(
    fc.property(
      fc.integer({ min: WEEK, max: 2_000_000_000 }),
      fc.nat(INTERVALS.length),
      fc.nat(INTERVALS.length),
      (time, from, left) => {
        // With one interval missing, the next candle is not of the next longer interval.
        const changes = row(time, from).filter((_, at) => at !== left)
        assert.deepEqual(decodeChangeSet(encodeChangeSet({ ...empty, changes })).changes, changes)
      },
    ),
  )
  const time = 1_700_000_003
  const alone = sizeOf(row(time, 0).slice(0, 1))
  assert.equal(sizeOf(row(time, 0)), alone + INTERVALS.length - 1)
  assert.ok(sizeOf(row(time, 5)) > alone + INTERVALS.length - 1)
})

test('quote values equal to those in dollars or native coins take one byte', () => {
  fc.assert(
    fc.property(candle, candleValues, fc.constantFrom('usd', 'native'), (any, values, unit) => {
      const sizeOf = (one: Candle): number =>
        encodeChangeSet({ ...empty, changes: [{ type: 'candle', candle: one }] }).length
      const known = { ...any, [unit]: values }
      const size = sizeOf({ ...known, quote: { ...values } })
      assert.equal(size, sizeOf({ ...known, quote: undefined }))
      assert.ok(size < sizeOf({ ...known, quote: { ...values, volume: (values.volume ?? 0n) + 1n } }))
    }),
  )
})

test('unknown codes are refused by name', () => {
  const head = [...encodeChangeSet(empty).subarray(0, -1)]
  const wrong: [bytes: number[], message: string][] = [
    [[2], 'CHANGES message has version 2, not 8'],
    [[8, 0, 0, 3], 'unknown cause'],
    [[...head, 18], 'unknown change type 18'],
    [[...head, 9, 0, 0, 0, 0, 0, 4], 'unknown word 4'],
    [[...head, 10, 0, 0, 0, 24], 'a window cannot begin with 24'],
    [[...head, 10, 0, 0, 0, 33], 'a window cannot begin with 33'],
    [[...head, 10, 0, 0, 0, 15, 15, 15, 15, 15, 15, 0, 2], 'no price at place 0'],
    [[...head, 10, 0, 0, 0, 15, 15, 15, 15, 15, 15, 0, 11], 'no price at place 9'],
    [[...head, 6, 0, 10, 0], 'unknown interval 10'],
    [[...head, 2, 1, 1], 'a candle cannot begin with 1'],
    [[...head, 2, 1, 0, 0, 0, 0, 8], 'the values of a candle cannot begin with 8'],
    [[...head, 2, 1, 0, 0, 0, 0, 32, 32, 64], 'the values of a candle cannot begin with 64'],
    [[...head, 2, 1, 0, 0, 0, 0, 32, 32, 128], 'the values of a candle cannot begin with 128'],
    [[...head, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3], 'unknown direction 3'],
  ]
  for (const [message, reason] of wrong) {
    assert.throws(() => decodeChangeSet(Buffer.from(message)), {
      code: 'message_unreadable',
      message: reason,
    })
  }
})

function sums(buyUsd: bigint, openUsd: bigint | undefined): WindowSums {
  return { buyUsd, sellUsd: 0n, buys: 1, sells: 0, makers: 3, buyers: 2, sellers: 1, openUsd }
}

test('the layout of version 8 is stable', () => {
  const changes: Change[] = [
    {
      type: 'trade',
      trade: {
        ...{ key: { block: 1, tx: 2, log: 3 }, time: 4, pair: '0x0b', amm: 'a', transaction: '0x0c' },
        ...{ sender: '', recipient: '0x0d', wallet: '0x0e', targetToken: undefined, side: 'buy' },
        sold: {
          ...{ token: '0x0f', symbol: 'S', decimals: 6, amountRaw: 1n, reserveRaw: undefined },
          ...{ priceUsd: undefined, priceNative: undefined },
        },
        bought: {
          ...{ token: '0x10', symbol: '', decimals: undefined, amountRaw: 2n, reserveRaw: 3n },
          ...{ priceUsd: undefined, priceNative: undefined },
        },
        ...{ valueUsd: undefined, valueNative: undefined, liquidityUsd: undefined, liquidityNative: 4n },
        holdings: {
          ...{ isToken0Sold: true, nativeRaw: 9n },
          ...{ sold: { amountRaw: 5n, accounts: 2 }, bought: undefined },
        },
      },
    },
    { type: 'tradeRemoved', trade: { key: { block: 1, tx: 2, log: 3 }, time: 4, pair: '0x0b' } },
    { type: 'candleRemoved', candle: { pair: '0x0b', interval: 'k10080', start: 5 } },
    { type: 'pairRemoved', pair: '0x0b' },
    { type: 'tokenRemoved', token: 'So1' },
    {
      type: 'candle',
      candle: {
        pair: '0x0b',
        interval: 's1',
        start: 6,
        usd: { open: 1n, high: 2n, low: 0n, close: 256n, volume: 3n },
        native: undefined,
        quote: { open: 1n, high: 2n, low: 0n, close: 256n, volume: 3n },
        tradeCount: 7,
        firstTrade: { block: 1, tx: 0, log: 0 },
        lastTrade: { block: 1, tx: 0, log: 9 },
      },
    },
    {
      type: 'candle',
      candle: {
        pair: '0x0b',
        interval: 'k1',
        start: 0,
        usd: { open: 1n, high: 2n, low: 1n, close: 2n, volume: 4n },
        native: undefined,
        quote: { open: 1n, high: 2n, low: 0n, close: 2n, volume: 5n },
        tradeCount: 9,
        firstTrade: { block: 1, tx: 0, log: 0 },
        lastTrade: { block: 1, tx: 0, log: 10 },
      },
    },
    {
      type: 'token',
      token: {
        address: '0x0c',
        name: 'N',
        symbol: 'S',
        decimals: 18,
        supplyRaw: 1n,
        priceUsd: undefined,
        priceNative: 2n,
        mainPair: '0x0b',
        mainPairTvlUsd: undefined,
        tvlUsd: 3n,
        fdvUsd: undefined,
        marketCapUsd: undefined,
        holding: undefined,
        origin: undefined,
        launch: undefined,
        platform: undefined,
        risk: undefined,
        updatedAt: 8,
      },
    },
    {
      type: 'token',
      token: {
        ...{ address: '0x0e', name: '', symbol: '', decimals: undefined, supplyRaw: undefined },
        ...{ priceUsd: undefined, priceNative: undefined, mainPair: undefined, mainPairTvlUsd: undefined },
        ...{ tvlUsd: undefined, fdvUsd: undefined, marketCapUsd: 9n },
        holding: { holders: 2, burnedRaw: 1n, lockedRaw: 0n, circulatingRaw: 256n },
        origin: { time: 5, creator: '0x0d' },
        launch: { time: 6, priceUsd: 7n },
        platform: { name: 'p', createdAt: 1, progressPpm: 300, graduatedAt: undefined },
        risk: { score: 40, isHoneypot: false, isMintable: true },
        updatedAt: 8,
      },
    },
    { type: 'balance', balance: { token: '0x0c', holder: '0x0d', amountRaw: -5n, beforeRaw: 256n } },
    { type: 'contractRemoved', token: '0x0c' },
    {
      type: 'windows',
      windows: {
        ...{ pair: '0x0b', token: undefined, amountRaw: 5n },
        lengths: [
          sums(1n, undefined),
          sums(1n, undefined),
          sums(2n, 9n),
          sums(2n, 9n),
          sums(2n, 8n),
          sums(3n, 8n),
        ],
        ...{ highUsd: 7n, lowUsd: 6n, priceUsd: 6n, day: 20, dayOpenUsd: undefined },
      },
    },
    { type: 'windowsRemoved', windows: { pair: undefined, token: '0x0c' } },
    {
      type: 'switch',
      switch: { token: '0x0c', block: 1, time: 2, oldPair: '0x0b', newPair: '0x0d', reason: 'emptied' },
    },
  ]
  const layout = [
    '08 03657468 ac02 01 02 020a 03 00 01',
    '01 01 02 03 04 020b 0161 020c 01 020d 020e 00 01',
    '020f 0153 0106 0101 00 00 00 0210 00 00 0102 010103 00 00 00 00 00 010104',
    '01 01 010109 010105 02 00 00',
    '05 01 02 03 04 020b',
    '06 020b 09 05',
    '07 020b',
    '08 07536f31',
    '02 02 00 020b 00 06 00 020001 0101 0102 00 0103 20 40 07 010000 010009',
    '0b 03 0101 0102 0104 20 07 0102 0105 09 01000a',
    '04 020c 014e 0153 0112 010101 00 010102 01020b 00 010103 00 00 00 00 00 00 00 08',
    '04 020e 00 00 00 00 00 00 00 00 00 00 010109',
    '01 0102 0101 00 01020001 01 05 020d 01 06 010107 01 0170 0101 01ac02 00 01 28 0100 01 08',
    '0f 020c 020d 01 0105 00 020001',
    '11 020c',
    '0a 01020b 00 010106 10 0101 0102 00 0001 03 0f 06 0102 0102 0109 0f 07 0108 0e 0103 0102',
    '010105 010107 02 14 00',
    '0d 00 01020c',
    '0b 020c 01 02 020b 020d 01',
    '00',
  ].join('')
  assert.equal(
    Buffer.from(encodeChangeSet({ ...empty, changes })).toString('hex'),
    layout.replaceAll(' ', ''),
  )
})
