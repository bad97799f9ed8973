import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { balance, change, changeSet } from '../../test/support/arbitraries/change-arbitraries.ts'
import { bytes, damaged } from '../../test/support/arbitraries/value-arbitraries.ts'
import { asVersion7, withoutHoldings } from '../../test/support/builders/former-messages.ts'
import {
  type Candle,
  type CandleValues,
  type Change,
  type ChangeSet,
  LIQUIDITY_KINDS,
  SWITCH_REASONS,
  type Trade,
  type TradeDirection,
  type Windows,
} from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { INTERVALS } from '../domain/interval.ts'
import { MAX_TIME } from '../domain/limits.ts'
import { magnitudeOf } from '../domain/magnitude.ts'
import { quoteUnit } from '../domain/quote-unit.ts'
import { WINDOWS } from '../domain/window.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { writeCandleBody } from './candle-body.ts'
import { encodeChangeSet } from './change-codec.ts'
import { type ChangeSetIndex, indexChangeSet, nextChange } from './change-index.ts'
import * as layouts from './change-layouts.ts'
import { TYPE } from './change-type.ts'
import { signed } from './codec.ts'
import { copyCandleBody } from './copy-candle.ts'
import type { FieldKind, RecordLayout } from './record-layout.ts'

const NOTHING: ChangeSet = {
  chain: 'eth',
  seq: 300,
  cause: 'block',
  head: { number: 2, hash: '0x0a', time: 3 },
  finalNumber: 1,
  changes: [],
}

type Fields = Record<string, string | number | bigint | undefined>

const LAYOUTS = new Map((Object.values(layouts) as RecordLayout[]).map((layout) => [layout.type, layout]))

function unreadable(error: unknown): boolean {
  return error instanceof ChaintapeError && error.code === 'message_unreadable'
}

/** All fields of all changes, read at the offsets in the index. */
function readFields({ bytes, places, count }: ChangeSetIndex): { type: number; fields: Fields }[] {
  const found: { type: number; fields: Fields }[] = []
  for (let base = 0; base < places.length; base = nextChange(places, base)) {
    const type = places[base] as number
    const { slots, kinds } = LAYOUTS.get(type) as RecordLayout
    const fields = Object.entries(slots).map(([name, slot]) => [
      name,
      readField(bytes, places[base + slot] as number, kinds[name] as FieldKind),
    ])
    const { trades: _, ...rest } = Object.fromEntries(fields)
    found.push({ type, fields: rest })
  }
  assert.equal(found.length, count)
  return found
}

function readField(bytes: Uint8Array, at: number, kind: FieldKind): Fields[string] {
  if (kind === 'number') return at
  if (at === 0) {
    assert.ok(kind.endsWith('?'))
    return undefined
  }
  const r = new ByteReader(bytes, at)
  const reads = {
    ...{ byte: () => r.u8(), varuint: () => r.varuint(), biguint: () => r.biguint() },
    ...{ signed: () => signed.read(r), text: () => r.text(), id: () => r.id() },
  }
  return reads[kind.replace('?', '') as keyof typeof reads]()
}

/** The same fields, from the change itself. */
function fieldsOf(of: Change): Fields {
  switch (of.type) {
    case 'trade': {
      const { key, sold, bought, side, holdings, ...rest } = of.trade
      const sides = { ...prefixed('sold', sold), ...prefixed('bought', bought) }
      return { ...key, ...sides, side: codeOf(side), ...rest, ...holdingsFields(holdings) }
    }
    case 'tradeRemoved':
      return { ...of.trade.key, time: of.trade.time, pair: of.trade.pair }
    case 'liquidity': {
      const { key, side0, side1, kind, ...rest } = of.liquidity
      const sides = { ...prefixed('side0', side0), ...prefixed('side1', side1) }
      return { ...key, ...sides, kind: LIQUIDITY_KINDS.indexOf(kind), ...rest }
    }
    case 'liquidityRemoved':
      return { ...of.liquidity.key, time: of.liquidity.time, pair: of.liquidity.pair }
    case 'candle':
      return candleFields(of.candle)
    case 'candleRemoved':
      return { ...of.candle, interval: INTERVALS.indexOf(of.candle.interval) }
    case 'pair': {
      const { token0, token1, isMain, lastSide, ...rest } = of.pair
      const sideOf = ({ token, ...side }: typeof token0) => ({ address: token, ...side })
      const sides = { ...prefixed('token0', sideOf(token0)), ...prefixed('token1', sideOf(token1)) }
      return { ...sides, isMain: Number(isMain), lastSide: codeOf(lastSide), ...rest }
    }
    case 'pairRemoved':
      return { address: of.pair }
    case 'token': {
      const { holding, origin, launch, platform, risk, ...rest } = of.token
      const groups = { holding, origin, launch, platform, risk }
      const members = Object.entries(groups).flatMap(([group, member]) =>
        Object.entries(member ?? {}).map(([name, value]) => [
          `${group}.${name}`,
          typeof value === 'boolean' ? Number(value) : value,
        ]),
      )
      return { ...rest, ...Object.fromEntries(members) }
    }
    case 'tokenRemoved':
    case 'contractRemoved':
      return of.type === 'tokenRemoved' ? { address: of.token } : { token: of.token }
    case 'windows':
      return windowsFields(of.windows)
    case 'windowsRemoved':
      return { ...of.windows }
    case 'switch':
    case 'switchRemoved':
      return { ...of.switch, reason: SWITCH_REASONS.indexOf(of.switch.reason) }
    case 'balance': {
      const { amountRaw, beforeRaw } = of.balance
      return { ...of.balance, magnitude: magnitudeOf(amountRaw), magnitudeBefore: magnitudeOf(beforeRaw) }
    }
    case 'contract':
      return { token: of.contract.token }
  }
}

function holdingsFields(holdings: Trade['holdings']): Fields {
  if (holdings === undefined) return {}
  const { isToken0Sold, nativeRaw, sold, bought } = holdings
  const fields = {
    ...{ isToken0Sold: Number(isToken0Sold), nativeRaw },
    ...{ soldRaw: sold?.amountRaw, soldAccounts: sold?.accounts ?? 0 },
    ...{ boughtRaw: bought?.amountRaw, boughtAccounts: bought?.accounts ?? 0 },
  }
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`holdings.${name}`, value]))
}

function candleFields(candle: Candle): Fields {
  const { pair, interval, start, tradeCount, firstTrade, lastTrade } = candle
  const unit = quoteUnit(candle)
  const values = (name: string, known: CandleValues | undefined): Fields => prefixed(name, known ?? {})
  return {
    ...{ pair, start, tradeCount, interval: INTERVALS.indexOf(interval) },
    ...{ ...values('usd', candle.usd), ...values('native', candle.native) },
    ...{ quoteAs: unit === undefined ? 0 : unit === 'usd' ? 1 : 2 },
    ...values('quote', unit === undefined ? candle.quote : undefined),
    ...{ ...prefixed('first', firstTrade), ...prefixed('last', lastTrade) },
  }
}

function windowsFields({ lengths, ...rest }: Windows): Fields {
  return Object.assign({ ...rest }, ...lengths.map((sums, at) => prefixed(WINDOWS[at] as string, sums)))
}

function prefixed(prefix: string, fields: object): Fields {
  const named = Object.entries(fields).map(([name, value]) => [
    `${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    value,
  ])
  return Object.fromEntries(named)
}

function codeOf(side: TradeDirection | undefined): number {
  return side === undefined ? 0 : side === 'buy' ? 1 : 2
}

function isIndexable(of: Change): boolean {
  const isCandle = of.type === 'candle' || of.type === 'candleRemoved'
  return !isCandle || of.candle.start <= MAX_TIME
}

/** Drops absent fields. */
function known(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

test('the index finds every field of every change', () => {
  fc.assert(
    fc.property(changeSet, (set) => {
      const sent = { ...set, changes: set.changes.filter(isIndexable) }
      const index = indexChangeSet(encodeChangeSet(sent))
      const { changes, ...head } = sent
      const { bytes, reader, places, count, ...foundHead } = index
      assert.deepEqual(foundHead, head)
      const found = readFields(index).map(({ type, fields }) => ({ type, fields: known(fields) }))
      assert.deepEqual(
        found,
        changes.map((each) => ({ type: TYPE[each.type], fields: known(fieldsOf(each)) })),
      )
    }),
    { numRuns: 1_000 },
  )
})

test('a version 7 message is indexed as the same message of today', () => {
  fc.assert(
    fc.property(changeSet, (set) => {
      const sent = withoutHoldings({ ...set, changes: set.changes.filter(isIndexable) })
      const { bytes, reader: _, ...found } = indexChangeSet(asVersion7(sent))
      const { bytes: today, reader: __, ...expected } = indexChangeSet(encodeChangeSet(sent))
      assert.deepEqual(bytes, today)
      assert.deepEqual(found, expected)
    }),
  )
})

test('adjacent candles are found completely, whatever they share', () => {
  const candles = fc.sample(change, { numRuns: 2_000, seed: 4 }).filter((each) => each.type === 'candle')
  assert.ok(candles.length > 50)
  const parts = ['usd', 'native', 'quote', 'tradeCount', 'firstTrade', 'lastTrade'] as const
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 2, maxLength: 8 }), (picks) => {
      const changes: Change[] = []
      for (const [at, pick] of picks.entries()) {
        const own = candles[pick % candles.length] as Extract<Change, { type: 'candle' }>
        const before = changes.at(-1) as Extract<Change, { type: 'candle' }> | undefined
        // Each candle takes some parts from the previous one, and possibly one unit's values for another.
        const taken = parts.filter((_, bit) => (pick >> (bit + 4)) & 1)
        const shared = Object.fromEntries(taken.map((part) => [part, (before ?? own).candle[part]]))
        const candle = { ...own.candle, pair: '0xaa', start: at * 60, ...shared } as Candle
        const quote = pick % 5 === 0 ? candle.usd : pick % 5 === 1 ? candle.native : candle.quote
        changes.push({ type: 'candle', candle: { ...candle, quote } })
      }
      const found = readFields(indexChangeSet(encodeChangeSet({ ...NOTHING, changes })))
      assert.deepEqual(
        found.map(({ fields }) => known(fields)),
        changes.map((each) => known(fieldsOf(each))),
      )
    }),
    { numRuns: 500 },
  )
})

test('copying the body of a candle equals encoding it', () => {
  fc.assert(
    fc.property(changeSet, (set) => {
      const changes = set.changes.filter((each) => each.type === 'candle' && isIndexable(each))
      const index = indexChangeSet(encodeChangeSet({ ...set, changes }))
      let base = 0
      for (const each of changes) {
        const [copied, written] = [new ByteWriter(), new ByteWriter()]
        copyCandleBody(copied, index, base)
        if (each.type === 'candle') writeCandleBody(written, each.candle)
        assert.deepEqual(copied.finish(), written.finish())
        base = nextChange(index.places, base)
      }
    }),
    { numRuns: 500 },
  )
})

test('magnitudes are derived from the bytes of a balance', () => {
  fc.assert(
    fc.property(balance, (sent) => {
      const changes: Change[] = [{ type: 'balance', balance: sent }]
      const [found] = readFields(indexChangeSet(encodeChangeSet({ ...NOTHING, changes })))
      assert.equal(found?.fields['magnitude'], magnitudeOf(sent.amountRaw))
    }),
  )
})

test('a truncated or damaged message is indexed or refused, nothing else', () => {
  const encoded = changeSet.map(({ changes, ...set }) =>
    encodeChangeSet({ ...set, changes: changes.filter(isIndexable) }),
  )
  fc.assert(
    fc.property(encoded, fc.nat(), (message, cut) => {
      assert.throws(() => indexChangeSet(message.subarray(0, cut % message.length)), unreadable)
    }),
  )
  const indexesOrRefuses = (message: Uint8Array): void => {
    try {
      indexChangeSet(message)
    } catch (error) {
      assert.ok(unreadable(error), String(error))
    }
  }
  fc.assert(fc.property(damaged(encoded), indexesOrRefuses), { numRuns: 1_000 })
  const head = encodeChangeSet(NOTHING)
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 17 }), (noise, type) =>
      indexesOrRefuses(Buffer.concat([head.subarray(0, -1), Buffer.of(type), noise])),
    ),
    { numRuns: 1_000 },
  )
})
