import assert from 'node:assert/strict'
import type { Candle, Change, ChangeSet, Pair, Token, Windows } from '../../src/domain/change.ts'
import type { Envelope } from '../../src/domain/envelope.ts'
import { Engine } from '../../src/engine/engine.ts'
import { klinePush } from '../../src/gateway/shape/kline.ts'
import { KLINE_UNITS, klineRows } from '../../src/gateway/shape/kline-rows.ts'
import { liquidityPush } from '../../src/gateway/shape/liquidity-transaction.ts'
import { pairDetail } from '../../src/gateway/shape/pair-detail.ts'
import { priceEntry } from '../../src/gateway/shape/price-entry.ts'
import { swapPush } from '../../src/gateway/shape/swap-transaction.ts'
import { tokenDetail } from '../../src/gateway/shape/token-detail.ts'
import { tokenHolders } from '../../src/gateway/shape/token-holders.ts'
import { tokenPrice } from '../../src/gateway/shape/token-price.ts'
import { tokenRow } from '../../src/gateway/shape/token-row.ts'
import { withUnknown } from '../../src/gateway/shape/unknown-in-push.ts'
import { tokenWindows } from '../../src/gateway/shape/windows.ts'
import { SAME_BODY, writeCandleRecords } from '../../src/store/redis/candle-writes.ts'
import { documentsOf } from '../../src/store/redis/documents.ts'
import { ByteReader } from '../../src/wire/byte-reader.ts'
import { ByteWriter } from '../../src/wire/byte-writer.ts'
import { readCandleBody } from '../../src/wire/candle-body.ts'
import { decodeChangeSet, encodeChangeSet } from '../../src/wire/change-codec.ts'
import { reportCodec } from '../../src/wire/contract-codec.ts'
import { encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { readPair, readToken } from '../../src/wire/record-codec.ts'
import { END, START } from '../../src/wire/record-layout.ts'
import { readWindows } from '../../src/wire/windows-codec.ts'
import { CHAIN, ExtremeMarket, extremeSettings, FIRST_TIME } from '../support/builders/extreme-market.ts'
import { readRowBinary } from '../support/reference/read-row-binary.ts'
import { latestOf, rowsOfSets } from '../support/reference/rows-of-sets.ts'
import { MemoryState } from '../support/rigs/memory-state.ts'
import type { Random } from './random.ts'

/**
 * A market of amounts at the limits of their types, all the way: fold, CHANGES, rows of ClickHouse, records of Redis,
 * answers. Nothing throws, every cell fits its column, and every number is plain decimal text.
 */

const SETTINGS = extremeSettings()
const READERS = { pair: readPair, token: readToken, contract: reportCodec.read } as const

const AMOUNT_COLUMN = /_raw$/
const FIXED_COLUMN = /_usd|_native|^(usd|native|quote)_(open|high|low|close|volume)$|^value_|^liquidity_/
const DECIMAL_FIELD =
  /price|amount|reserve|volume|tvl|cap$|fdv|total|change|_eth|_usd|^(open|high|low|close)$/
const PLAIN_DECIMAL = /^(-?(0|[1-9]\d*)(\.\d*[1-9])?)?$/

/** One engine for all cases, which forgets each: a new one would cost more than the fold, and its code would never be optimized. */
const engine = new Engine(SETTINGS, new MemoryState())

export function fuzz(random: Random): void {
  try {
    check(random)
  } finally {
    engine.abandon()
  }
}

function check(random: Random): void {
  const market = new ExtremeMarket(random)
  const sets: ChangeSet[] = []
  const apply = (envelope: Envelope): Uint8Array => {
    const bytes = engine.apply(encodeEnvelope(envelope), sets.length + 1)
    sets.push(decodeChangeSet(bytes))
    return bytes
  }
  for (let left = random.chance(0.4) ? 2 : 1; left > 0; left--) {
    const block = market.next()
    const bytes = apply(block)
    if (left > 1 || random.chance(0.8)) continue
    const lastValid = { number: block.number - 1, hash: block.parentHash }
    apply({ kind: 'undo', chain: CHAIN, lastValid })
    // The block again: a block that was folded and undone leaves no trace.
    apply(block)
    const again = encodeChangeSet({ ...(sets.at(-1) as ChangeSet), seq: sets.length - 2 })
    assert.ok(Buffer.compare(again, bytes) === 0)
  }
  // One of them for each case: together they take longer than the fold.
  random.pick([checkRows, checkDocuments, checkAnswers])(sets)
}

/** The last version of each record. */
function checkAnswers(sets: readonly ChangeSet[]): void {
  const world: World = { pairs: new Map(), tokens: new Map() }
  const windows = new Map<string, Windows>()
  const head = sets.at(-1)?.head.time ?? 0
  for (const { changes } of sets) {
    for (const change of changes) {
      if (change.type === 'pair') world.pairs.set(change.pair.address, change.pair)
      if (change.type === 'token') world.tokens.set(change.token.address, change.token)
      if (change.type === 'windows')
        windows.set(change.windows.pair ?? change.windows.token ?? '', change.windows)
      for (const answer of answersOf(change, world)) checkAnswer(answer)
    }
  }
  for (const pair of world.pairs.values()) {
    for (const answer of pairAnswers(pair, windows.get(pair.address), world, head)) checkAnswer(answer)
  }
  for (const token of world.tokens.values()) {
    const own = [...windows.values()].find((each) => each.token === token.address)
    for (const answer of tokenAnswers(token, own, head)) checkAnswer(answer)
  }
}

type World = { readonly pairs: Map<string, Pair>; readonly tokens: Map<string, Token> }

function checkRows(sets: readonly ChangeSet[]): void {
  for (const rows of rowsOfSets(sets)) {
    const checked = rows.columns.flatMap((column) => {
      const check = AMOUNT_COLUMN.test(column)
        ? checkAmount
        : FIXED_COLUMN.test(column)
          ? checkFixed
          : undefined
      return check === undefined ? [] : [{ column, check, name: `${rows.table}.${column}` }]
    })
    for (const row of readRowBinary(rows)) {
      for (const { column, check, name } of checked) {
        const cell = row[column]
        if (cell !== null) check(name, cell ?? '')
      }
    }
  }
}

function checkAmount(name: string, cell: string): void {
  const [amount, limit] = [BigInt(cell), 2n ** (name === 'balances.amount_raw' ? 255n : 256n)]
  assert.ok(amount < limit && amount > -limit && (amount >= 0n || limit === 2n ** 255n), `${name} is ${cell}`)
}

function checkFixed(name: string, cell: string): void {
  const point = cell.indexOf('.')
  assert.ok(/^\d+\.\d+$/.test(cell), `${name} is ${cell}`)
  assert.ok(
    cell.length - 1 <= 76 || (cell.startsWith('0.') && point === 1 && cell.length - 2 <= 76),
    `${name} is ${cell}`,
  )
}

function checkDocuments(sets: readonly ChangeSet[]): void {
  for (const write of documentsOf(latestOf(sets))) {
    if (write.kind === 'candles') {
      const w = new ByteWriter()
      writeCandleRecords(w, write.candles)
      readAll(w.finish(), readCandleRecords)
      continue
    }
    const { kind, ranks, isRemoved, set, base } = write
    for (const [, score] of ranks) assert.ok(Number.isFinite(Number(score)), score)
    if (isRemoved) continue
    const read = kind === 'pairWindows' || kind === 'tokenWindows' ? readWindows : READERS[kind]
    readAll(set.bytes.subarray(set.places[base + START], set.places[base + END]), read)
  }
}

/** As apply.lua does, and then the reader. */
function readCandleRecords(r: ByteReader): void {
  while (r.remaining > 0) {
    const isRemoval = r.u8() >= 0x80
    const start = r.u32()
    r.raw(8)
    if (r.u16() === SAME_BODY) continue
    r.varuint()
    if (!isRemoval) readCandleBody(r, '', 's1', start)
  }
}

function readAll(bytes: Uint8Array, read: (r: ByteReader) => unknown): void {
  const r = new ByteReader(bytes)
  read(r)
  r.end()
}

function answersOf(change: Change, { tokens }: World): unknown[] {
  switch (change.type) {
    case 'trade':
      return [swapPush(CHAIN, change.trade)]
    case 'liquidity':
      return [liquidityPush(CHAIN, change.liquidity)]
    case 'candle':
      // Those of the other intervals have the same values, or sums of them.
      return ['s1', 'k1440'].includes(change.candle.interval) ? candleAnswers(change.candle) : []
    case 'balance': {
      const token = tokens.get(change.balance.token)
      return token === undefined ? [] : [tokenHolders(token, [change.balance], undefined, 18)]
    }
    default:
      return []
  }
}

function candleAnswers(candle: Candle): unknown[] {
  const surroundings = { windows: undefined, pair: undefined, times: undefined }
  const rows = KLINE_UNITS.map((unit) => klineRows([{ seq: 1, record: candle }], unit))
  return [klinePush(CHAIN, candle, surroundings), ...rows]
}

function pairAnswers(pair: Pair, windows: Windows | undefined, { tokens }: World, time: number): unknown[] {
  const target = tokens.get(pair.targetToken ?? '')
  const times = { time, startTime: FIRST_TIME }
  const entry = priceEntry({ chain: CHAIN, pair, target, windows, times })
  return [pairDetail(CHAIN, pair, windows, target, times), entry, withUnknown({ prices: [entry] })]
}

function tokenAnswers(token: Token, windows: Windows | undefined, time: number): unknown[] {
  const seen = tokenWindows(windows, token, { time, startTime: FIRST_TIME })
  const view = { chain: CHAIN, token, windows: seen, listing: undefined, hasLockers: true }
  return [tokenRow(view), tokenPrice(view), tokenDetail(CHAIN, token, [], { time }, undefined)]
}

/** As JSON would hold it. */
function checkAnswer(answer: unknown, field = ''): void {
  if (Array.isArray(answer)) for (const item of answer) checkAnswer(item, field)
  else if (typeof answer === 'object' && answer !== null) {
    for (const [name, value] of Object.entries(answer)) checkAnswer(value, name)
  } else if (typeof answer === 'number') assert.ok(Number.isFinite(answer), field)
  else if (typeof answer === 'string' && isDecimal(field))
    assert.ok(PLAIN_DECIMAL.test(answer), `${field} is ${answer}`)
  else
    assert.ok(
      answer === null || ['string', 'boolean'].includes(typeof answer),
      `${field} is ${String(answer)}`,
    )
}

const decimalFields = new Map<string, boolean>()

function isDecimal(field: string): boolean {
  const known = decimalFields.get(field) ?? DECIMAL_FIELD.test(field)
  decimalFields.set(field, known)
  return known
}
