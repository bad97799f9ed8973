import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { intAt, smallIntAt, uintAt } from '../../src/dex/evm/abi.ts'
import { DexRegistry } from '../../src/dex/registry.ts'
import type { Candle, ChangeSet, Windows } from '../../src/domain/change.ts'
import type { BlockEnvelope, Fact, RawLog } from '../../src/domain/envelope.ts'
import { candleStart } from '../../src/domain/interval.ts'
import { formatPrice, formatValue, ONE_PRICE } from '../../src/domain/money.ts'
import { volumeOf, WINDOW_MINUTES, WINDOWS } from '../../src/domain/window.ts'
import { rawLog } from '../support/builders/raw-log.ts'
import { assertExpected } from '../support/recorded/expected-lines.ts'
import { knownToken } from '../support/recorded/known-tokens.ts'
import { foldChangeSets, type Tables } from '../support/reference/change-tables.ts'
import { EngineRun } from '../support/rigs/engine-run.ts'

/**
 * A real day of a real pool (USDC/WETH, 0.05 %, 2024-01-05), folded block by block, against what others found in it
 * minute by minute. Their table has the ticks after trades and the amounts; ours has the prices of trades.
 *
 * Exactly, from their table: which minutes have trades; volumes, both in dollars (the USDC that moved) and in native
 * coins (the WETH); what the pool holds in the end. Exactly, from the amounts in the raw logs: open, high, low and
 * close. Within bounds: these prices and their ticks. A trade is paid somewhere between the pool's price before it
 * and the one after it, plus the fee, which raises the price for a buyer of WETH and lowers it for a seller.
 */

type Row = {
  readonly block: number
  readonly time: number
  readonly tx: number
  readonly transaction: string
  readonly log: RawLog
}
type Swap = {
  readonly time: number
  readonly usdc: bigint
  readonly weth: bigint
  /** The pool's state after it. */
  readonly tick: number
}
type Minute = {
  readonly start: number
  readonly net: readonly [bigint, bigint]
  readonly in: readonly [bigint, bigint]
  readonly openTick: number
  readonly closeTick: number
  readonly lowTick: number
  readonly highTick: number
}

const fixtures = process.env['CHAINTAPE_FIXTURES'] ?? resolve(import.meta.dirname, '../../../shared/fixtures')
const folder = join(fixtures, 'evm', 'logs')
const isThere = existsSync(folder)

const POOL = '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640'
const FACTORY = '0x1f98431c8ad98523631ae4a59f267346ea31f984'
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const SWAP = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67'
const MINT = '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde'
const COLLECT = '0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0'
const FEE = 0.0005
/** Base units that an amount may be off by: one for itself, one for its fee. */
const ROUNDED = 2n
/** What it held at midnight is not recorded: round numbers that the day does not exhaust. */
const AT_MIDNIGHT = [200_000_000n * 10n ** 6n, 100_000n * 10n ** 18n] as const

describe('a day of a real pool', { skip: !isThere }, () => {
  const rows = isThere ? rowsOf('uniswapv3-0x88e6a0c2-USDC-WETH-005-2024-01-05.raw') : []
  const minutes = isThere ? minutesOf('uniswapv3-0x88e6a0c2-2024-01-05.expected-minute') : []
  let sets: readonly ChangeSet[]
  let tables: Tables
  let candles: ReadonlyMap<number, Candle>

  before(() => {
    const run = new EngineRun({
      chain: 'eth',
      registry: new DexRegistry([{ amm: 'uniswap_v3', protocol: 'uniswap_v3', factory: FACTORY }]),
      quoteAssets: [
        { address: USDC, kind: 'stable' },
        { address: WETH, kind: 'native' },
      ],
      minDepthUsd: 0n,
      lockers: new Set(),
    })
    for (const block of blocksOf(rows)) {
      run.apply(block)
      run.commit()
    }
    sets = run.sets
    tables = foldChangeSets(sets)
    const all = [...tables.candles.values()].filter(({ interval }) => interval === 'k1')
    candles = new Map(all.map((candle) => [candle.start, candle]))
  })

  test('has candles for the minutes with trades, and for no other', () => {
    const traded = minutes.filter((minute) => minute.in.some((amount) => amount > 0n))
    assert.deepEqual(
      [...candles.keys()],
      traded.map(({ start }) => start),
    )
    const trades = [...candles.values()].reduce((sum, { tradeCount }) => sum + tradeCount, 0)
    assert.deepEqual([trades, tables.trades.size, minutes.length], [6_046, 6_046, 1_440])
  })

  test('has the volumes that others found, to the last digit', () => {
    for (const minute of minutes) {
      const candle = candles.get(minute.start)
      if (candle === undefined) continue
      // The table has the input; the output is input minus net. A trade's amount is either of them.
      const [usdc, weth] = [0, 1].map((at) => 2n * (minute.in[at] ?? 0n) - (minute.net[at] ?? 0n))
      assert.equal(candle.usd?.volume, (usdc ?? 0n) * 10n ** 12n, label(minute))
      assert.equal(candle.native?.volume, weth, label(minute))
      assert.equal(candle.quote?.volume, candle.usd?.volume, label(minute))
    }
  })

  test('has in its windows, minute after minute, what others found in as many minutes', () => {
    const volume = ({ in: paid, net }: Minute): bigint => (2n * paid[0] - net[0]) * 10n ** 12n
    const atEndOf = new Map<number, Windows>()
    let own: Windows | undefined
    for (const { head, changes } of sets) {
      for (const change of changes)
        if (change.type === 'windows' && change.windows.pair === POOL) own = change.windows
      if (own !== undefined) atEndOf.set(candleStart('k1', head.time), own)
    }
    let compared = 0
    for (const [start, { lengths }] of atEndOf) {
      for (const [place, length] of WINDOW_MINUTES.entries()) {
        const inside = minutes.filter((minute) => minute.start <= start && minute.start > start - length * 60)
        const expected = inside.reduce((sum, minute) => sum + volume(minute), 0n)
        const sums = lengths[place]
        assert.equal(sums && volumeOf(sums), expected, `${WINDOWS[place]} at minute ${start}`)
        compared++
      }
    }
    assert.ok(compared >= candles.size * WINDOWS.length)
  })

  test('has the prices that were paid, to the last digit', () => {
    for (const [start, swaps] of swapsByMinute(rows)) {
      const prices = swaps.map(({ usdc, weth }) => (usdc * 10n ** 52n) / weth)
      const sorted = prices.toSorted((a, b) => (a < b ? -1 : 1))
      const { open, high, low, close } = candles.get(start)?.usd ?? {}
      assert.deepEqual([open, high, low, close], [prices[0], sorted.at(-1), sorted[0], prices.at(-1)])
      assert.deepEqual(candles.get(start)?.quote, candles.get(start)?.usd, 'a USDC is a dollar')
      const { open: first, close: last } = candles.get(start)?.native ?? {}
      assert.deepEqual([first, last], [ONE_PRICE, ONE_PRICE], 'a native coin is worth one of itself')
    }
  })

  test('was paid within the ticks that others found, but for the fee and rounding', () => {
    const byMinute = swapsByMinute(rows)
    // The price that the day's first trade found is not recorded: it is taken for the one that it left.
    let lastTick = minutes[0]?.openTick ?? 0
    for (const minute of minutes) {
      const { start, openTick, closeTick, lowTick, highTick } = minute
      const swaps = byMinute.get(start) ?? []
      for (const [at, swap] of swaps.entries()) {
        const found = swaps[at - 1]?.tick ?? lastTick
        const isLast = at === swaps.length - 1
        const ends =
          at === 0 ? [lastTick, openTick] : isLast ? [found, closeTick] : [lastTick, lowTick, highTick]
        assertWithin(swap, ends, `trade ${at + 1} of ${label(minute)}`)
      }
      lastTick = closeTick
    }
  })

  test('leaves in the pool what was there, came in and was not taken out', () => {
    const pair = tables.pairs.get(POOL)
    const moved = [0, 1].map((at) => {
      const traded = minutes.reduce((sum, { net }) => sum + (net[at] ?? 0n), 0n)
      const minted = sumOf(rows, MINT, 2 + at)
      const collected = sumOf(rows, COLLECT, 1 + at)
      return (AT_MIDNIGHT[at] ?? 0n) + traded + minted - collected
    })
    assert.deepEqual([pair?.token0.reserveRaw, pair?.token1.reserveRaw], moved)
  })

  test('has the hours and the day that it had before', () => {
    const lines = [...tables.candles.values()]
      .filter(({ interval }) => interval === 'k60' || interval === 'k1440')
      .map(candleLine)
    assertExpected('engine-day.csv', [
      'interval,start,trades,open,high,low,close,volume_usd,volume_native',
      ...lines,
    ])
  })
})

/**
 * A pool's tick covers all prices up to the next one. The pool rounds to whole base units in its own favour, the
 * amount and the fee: of dust that makes any price (at 12:58 two millionths of a dollar bought 0.000000000001 WETH).
 */
function assertWithin({ usdc, weth }: Swap, ticks: readonly number[], what: string): void {
  // Price of one WETH in USDC: the pool's price is inverted and in base units.
  const atTick = (tick: number): number => 1e12 / 1.0001 ** tick
  const lowest = atTick(Math.max(...ticks) + 1) * (1 - FEE)
  const highest = atTick(Math.min(...ticks)) / (1 - FEE)
  const least = (Number(usdc - ROUNDED) / Number(weth + ROUNDED)) * 1e12
  const most = (Number(usdc + ROUNDED) / Number(weth - ROUNDED)) * 1e12
  assert.ok(most >= lowest && least <= highest, `${what}: ${least} is not within ${lowest} and ${highest}`)
}

function swapsByMinute(rows: readonly Row[]): Map<number, Swap[]> {
  const swaps = rows
    .filter(({ log }) => log.topics[0] === SWAP)
    .map(({ time, log: { data } }): Swap => {
      const [usdc, weth] = [intAt(data, 0) ?? 0n, intAt(data, 1) ?? 0n]
      const size = (delta: bigint): bigint => (delta < 0n ? -delta : delta)
      return { time, usdc: size(usdc), weth: size(weth), tick: smallIntAt(data, 4) ?? 0 }
    })
  return Map.groupBy(swaps, ({ time }) => candleStart('k1', time))
}

function sumOf(rows: readonly Row[], topic: string, word: number): bigint {
  const own = rows.filter(({ log }) => log.topics[0] === topic)
  return own.reduce((sum, { log }) => sum + (uintAt(log.data, word) ?? 0n), 0n)
}

/** Neighbours by our word: blocks without a log of the pool are not recorded. */
function blocksOf(rows: readonly Row[]): BlockEnvelope[] {
  const facts: Fact[] = [
    ...[USDC, WETH].map(knownToken),
    {
      ...{ type: 'pool', address: POOL, factory: FACTORY, tokens: [USDC, WETH] },
      ...{ pricing: { kind: 'sqrtPrice' }, reservesBefore: AT_MIDNIGHT },
    },
  ]
  return [...Map.groupBy(rows, ({ block }) => block)].map(([number, own], at, all) => ({
    ...{ kind: 'block', chain: 'eth', number, time: own[0]?.time ?? 0 },
    ...{ hash: hashOf(number), parentHash: hashOf(all[at - 1]?.[0] ?? 0) },
    transactions: [...Map.groupBy(own, ({ tx }) => tx)].map(([index, logs]) => {
      return { index, hash: logs[0]?.transaction ?? '', from: POOL, logs: logs.map(({ log }) => log) }
    }),
    facts: at === 0 ? facts : [],
  }))
}

function hashOf(block: number): string {
  return `0x${block.toString(16).padStart(64, '0')}`
}

function candleLine({ interval, start, tradeCount, usd, native }: Candle): string {
  assert.ok(usd !== undefined && native !== undefined)
  const prices = [usd.open, usd.high, usd.low, usd.close].map(formatPrice)
  const time = new Date(start * 1_000).toISOString()
  const volumes = [usd.volume ?? 0n, native.volume ?? 0n].map(formatValue)
  return [interval, time, tradeCount, ...prices, ...volumes].join(',')
}

function label({ start }: Minute): string {
  return new Date(start * 1_000).toISOString().slice(11, 16)
}

function rowsOf(name: string): Row[] {
  return linesOf(name)
    .slice(1)
    .map((line) => {
      const [, block, time, transaction = '', tx, index, topics = '', data = ''] =
        /^(\d+),([^,]+),(0x[0-9a-f]+),(\d+),(\d+),"?\[(.*)\]"?,(0x[0-9a-f]*)$/.exec(line) ?? []
      const log = rawLog(POOL, topics.match(/0x[0-9a-f]+/g) ?? [], data)
      return {
        ...{ block: Number(block), time: seconds(time ?? ''), tx: Number(tx), transaction },
        log: { ...log, index: Number(index) },
      }
    })
}

function minutesOf(name: string): Minute[] {
  const [header = '', ...lines] = linesOf(name)
  const columns = header.split(',')
  return lines.map((line) => {
    const cells = line.split(',')
    const cell = (column: string): string => cells[columns.indexOf(column)] ?? ''
    return {
      start: seconds(cell('timestamp')),
      net: [BigInt(cell('netAmount0')), BigInt(cell('netAmount1'))],
      in: [BigInt(cell('inAmount0')), BigInt(cell('inAmount1'))],
      openTick: Number(cell('openTick')),
      closeTick: Number(cell('closeTick')),
      lowTick: Number(cell('lowestTick')),
      highTick: Number(cell('highestTick')),
    }
  })
}

function seconds(time: string): number {
  return Date.parse(`${time.replace(' ', 'T')}Z`) / 1_000
}

function linesOf(name: string): string[] {
  const text = gunzipSync(readFileSync(join(folder, `${name}.csv.gz`))).toString('utf8')
  return text.split(/\r?\n/).filter((line) => line !== '')
}
