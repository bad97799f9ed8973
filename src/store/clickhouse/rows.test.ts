import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { report } from '../../../test/support/arbitraries/contract-arbitraries.ts'
import {
  buildCandle,
  buildLiquidity,
  buildPair,
  buildSwitch,
  buildToken,
  buildTrade,
  buildWindows,
  Dice,
} from '../../../test/support/builders/change-builders.ts'
import { readRowBinary, type TextRow } from '../../../test/support/reference/read-row-binary.ts'
import { rowsOfSets } from '../../../test/support/reference/rows-of-sets.ts'
import type { Candle, Change, ChangeSet } from '../../domain/change.ts'
import type { ContractReport } from '../../domain/contract-report.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { TableRows } from './rows.ts'
import { TABLE_NAMES } from './table-names.ts'

const pool = { address: '0xaa', token0: '0xbb', token1: '0xcc' }
const key = { block: 7, tx: 1, log: 2 }
const dice = new Dice(1)
/** For columns without NULL; a decimal is NULL. */
const DEFAULTS = new Set(['', '0', 'false'])

function setOf(seq: number, ...changes: Change[]): ChangeSet {
  return {
    chain: 'eth',
    seq,
    cause: 'block',
    head: { number: 7, hash: '0x01', time: 5 },
    finalNumber: 0,
    changes,
  }
}

function rowObjects(tables: readonly TableRows[], table: string): TextRow[] {
  const found = tables.find((rows) => rows.table === table)
  return found === undefined ? [] : readRowBinary(found)
}

test('a trade is one row; unknown values are NULL and money keeps every digit', () => {
  const built = buildTrade(dice, pool, key, 1_000)
  const trade = {
    ...built,
    side: undefined,
    targetToken: undefined,
    valueUsd: 1n,
    valueNative: undefined,
    sold: { ...built.sold, priceUsd: 10n ** 76n - 1n, amountRaw: 2n ** 256n - 1n, decimals: undefined },
  }
  const [row] = rowObjects(rowsOfSets([setOf(3, { type: 'trade', trade })]), 'trades')
  assert.equal(row?.['chain'], 'eth')
  assert.equal(row?.['seq'], '3')
  assert.equal(row?.['is_deleted'], '0')
  assert.deepEqual([row?.['block'], row?.['tx'], row?.['log']], ['7', '1', '2'])
  assert.equal(row?.['time'], '1000')
  assert.equal(row?.['value_usd'], '0.000000000000000001')
  assert.equal(row?.['value_native'], null)
  assert.equal(row?.['side'], null)
  assert.equal(row?.['target_token'], null)
  assert.equal(row?.['sold_decimals'], null)
  assert.equal(row?.['sold_price_usd'], `${'9'.repeat(36)}.${'9'.repeat(40)}`)
  assert.equal(row?.['sold_amount_raw'], (2n ** 256n - 1n).toString())
})

test('a removal is a row with only the natural key and a version', () => {
  const tables = rowsOfSets([
    setOf(
      9,
      { type: 'tradeRemoved', trade: { key, time: 60, pair: '0xaa' } },
      { type: 'candleRemoved', candle: { pair: '0xaa', interval: 'k1', start: 60 } },
      { type: 'pairRemoved', pair: '0xaa' },
      { type: 'tokenRemoved', token: '0xbb' },
      { type: 'liquidityRemoved', liquidity: { key, time: 60, pair: '0xaa' } },
      { type: 'windowsRemoved', windows: { pair: undefined, token: '0xbb' } },
      { type: 'switchRemoved', switch: buildSwitch(dice, '0xbb', 7, 60) },
    ),
  ])
  const known = (table: string): Record<string, string | null> =>
    Object.fromEntries(
      Object.entries(rowObjects(tables, table)[0] ?? {}).filter(([, cell]) => !DEFAULTS.has(cell ?? '')),
    )
  const common = { chain: 'eth', seq: '9', is_deleted: '1' }
  assert.deepEqual(known('trades'), {
    ...common,
    pair: '0xaa',
    time: '60',
    block: '7',
    tx: '1',
    log: '2',
  })
  assert.deepEqual(known('candles'), { ...common, pair: '0xaa', interval: 'k1', start: '60' })
  assert.deepEqual(known('pairs'), { ...common, address: '0xaa' })
  assert.deepEqual(known('tokens'), { ...common, address: '0xbb' })
  assert.deepEqual(known('liquidity'), known('trades'))
  assert.deepEqual(known('windows'), { ...common, kind: 'token', id: '0xbb' })
  assert.deepEqual(known('switches'), { ...common, token: '0xbb', block: '7' })
})

test('only the latest of several versions in a batch is written', () => {
  const candle = buildCandle(dice, '0xaa', 'k1', key, 60)
  const other = { ...candle, start: 120 }
  const ref = { pair: '0xaa', interval: 'k1', start: 60 } as const
  const tables = rowsOfSets([
    setOf(1, { type: 'candle', candle }, { type: 'candle', candle: other }),
    setOf(2, { type: 'candleRemoved', candle: ref }),
    setOf(3, { type: 'candle', candle: { ...candle, tradeCount: 77 } }),
    setOf(4, { type: 'candleRemoved', candle: { ...ref, start: 120 } }),
  ])
  const rows = rowObjects(tables, 'candles').map((row) => [row['start'], row['seq'], row['is_deleted']])
  assert.deepEqual(rows, [
    ['60', '3', '0'],
    ['120', '4', '1'],
  ])
})

test("quote values equal to another unit's are not written twice", () => {
  const values = (open: bigint) => ({ open, high: 4n, low: 1n, close: 3n, volume: 5n })
  const written = (quote: Candle['quote']): unknown => {
    const built = buildCandle(dice, '0xaa', 'k1', key, 60)
    const candle = { ...built, usd: values(1n), native: values(2n), quote }
    const [row] = rowObjects(rowsOfSets([setOf(1, { type: 'candle', candle })]), 'candles')
    return [row?.['quote_as'], row?.['quote_open']?.replace(/^0\.0+/, ''), row?.['quote_volume'] ?? null]
  }
  assert.deepEqual(written(values(1n)), ['usd', undefined, null])
  assert.deepEqual(written(values(2n)), ['native', undefined, null])
  assert.deepEqual(written(values(3n)), [null, '3', '0.000000000000000005'])
  assert.deepEqual(written(undefined), [null, undefined, null])
})

test('a trade that a reorg moved to another time leaves a removal behind', () => {
  const trade = buildTrade(dice, pool, key, 60)
  const tables = rowsOfSets([
    setOf(2, { type: 'tradeRemoved', trade: { key, time: 60, pair: '0xaa' } }),
    setOf(3, { type: 'trade', trade: { ...trade, time: 61 } }),
  ])
  const rows = rowObjects(tables, 'trades').map((row) => [row['time'], row['seq'], row['is_deleted']])
  assert.deepEqual(rows, [
    ['60', '2', '1'],
    ['61', '3', '0'],
  ])
})

test('windows of a pair and a token become a row each, with independent removals', () => {
  const shared = buildWindows(dice, { pair: '0xaa', token: '0xbb' }, 60)
  const own = buildWindows(dice, { pair: undefined, token: '0xbb' }, 60)
  const rows = (...sets: ChangeSet[]): unknown[] =>
    rowObjects(rowsOfSets(sets), 'windows').map((row) => [
      ...[row['kind'], row['id'], row['seq'], row['shared_with'], row['buys_4h']],
    ])
  const [first, second] = [
    setOf(1, { type: 'windows', windows: shared }),
    // Within one version, the later change wins.
    setOf(
      2,
      { type: 'windowsRemoved', windows: { pair: undefined, token: '0xbb' } },
      { type: 'windows', windows: own },
    ),
  ]
  assert.deepEqual(rows(first), [
    ['pair', '0xaa', '1', '0xbb', String(shared.lengths[4]?.buys)],
    ['token', '0xbb', '1', '0xaa', String(shared.lengths[4]?.buys)],
  ])
  assert.deepEqual(rows(first, second), [
    ['pair', '0xaa', '1', '0xbb', String(shared.lengths[4]?.buys)],
    ['token', '0xbb', '2', null, String(own.lengths[4]?.buys)],
  ])
})

test('a token has a row per search term with its latest rank; a removal adds none', () => {
  const token = {
    ...buildToken(dice, '0xbb', 5),
    symbol: 'LINK',
    name: 'Chain LINK',
    mainPairTvlUsd: undefined,
  }
  const worth = (mainPairTvlUsd: bigint): Change => ({ type: 'token', token: { ...token, mainPairTvlUsd } })
  const rows = (...sets: ChangeSet[]): unknown[] =>
    rowObjects(rowsOfSets(sets), 'token_search').map((row) => [
      ...[row['kind'], row['term'], row['address'], row['standing'], row['seq'], row['is_deleted']],
    ])
  const found = (standing: string, seq: string): unknown[] =>
    [
      ['symbol', 'llnk'],
      ['name', 'chaln llnk'],
      ['word', 'llnk'],
    ].map(([kind, term]) => [kind, term, '0xbb', standing, seq, '0'])
  assert.deepEqual(rows(setOf(1, { type: 'token', token })), found('0', '1'))
  assert.deepEqual(rows(setOf(1, worth(1n)), setOf(2, worth(3n * 10n ** 18n - 1n))), found('2', '2'))
  assert.deepEqual(rows(setOf(3, worth(10n ** 58n))), found((2n ** 64n - 1n).toString(), '3'))
  assert.deepEqual(rows(setOf(1, worth(1n)), setOf(2, { type: 'tokenRemoved', token: '0xbb' })), [])
})

test('an empty batch gives no tables', () => {
  assert.deepEqual(rowsOfSets([setOf(1), setOf(2)]), [])
})

test('a number beyond the limits of its column is NULL', () => {
  const [beyondAmount, beyondFixed] = [2n ** 256n, 10n ** 76n]
  const built = buildToken(dice, '0xbb', 5)
  const token = { ...built, supplyRaw: beyondAmount, priceUsd: beyondFixed, tvlUsd: beyondFixed - 1n }
  const windows = buildWindows(dice, { pair: '0xaa', token: undefined }, 60)
  const lengths = windows.lengths.map((sums) => ({ ...sums, buyUsd: beyondFixed, sellUsd: undefined }))
  const tables = rowsOfSets([
    setOf(
      1,
      { type: 'token', token },
      { type: 'windows', windows: { ...windows, amountRaw: beyondAmount, lengths } },
    ),
  ])
  const [row] = rowObjects(tables, 'tokens')
  assert.deepEqual([row?.['supply_raw'], row?.['price_usd']], [null, null])
  assert.equal(row?.['tvl_usd'], `${'9'.repeat(58)}.${'9'.repeat(18)}`)
  const [sums] = rowObjects(tables, 'windows')
  assert.deepEqual([sums?.['amount_raw'], sums?.['buy_usd_24h'], sums?.['sell_usd_24h']], [null, null, null])
})

test('a value that no key column can hold is refused instead of wrapped', () => {
  const token = buildToken(dice, '0xbb', 5)
  const refused: Change[] = [
    { type: 'token', token: { ...token, updatedAt: 2 ** 32 } },
    { type: 'candleRemoved', candle: { pair: '0xaa', interval: 'k10080', start: 2 ** 32 } },
  ]
  for (const change of refused) {
    assert.throws(
      () => rowsOfSets([setOf(1, change)]),
      (error) => error instanceof ChaintapeError && error.code === 'message_unreadable',
    )
  }
})

test('a lone surrogate in a name does not reach the server', () => {
  const token = { ...buildToken(dice, '0xbb', 5), name: 'a\ud800' }
  assert.equal(rowObjects(rowsOfSets([setOf(1, { type: 'token', token })]), 'tokens')[0]?.['name'], 'a\ufffd')
})

test('a text is copied byte by byte', () => {
  const token = { ...buildToken(dice, '0xbb', 5), name: 'a\tb\nc\\N\r\0é€😀'.repeat(40) }
  const [row] = rowObjects(rowsOfSets([setOf(1, { type: 'token', token })]), 'tokens')
  assert.equal(row?.['name'], token.name)
})

const COLUMN = /^ {4}(?:ADD COLUMN IF NOT EXISTS )?([a-z]\w*) /

test('the written columns are exactly the declared ones', () => {
  const written = rowsOfSets([
    setOf(
      1,
      { type: 'trade', trade: buildTrade(dice, pool, key, 60) },
      { type: 'candle', candle: buildCandle(dice, '0xaa', 'k1', key, 60) },
      { type: 'pair', pair: buildPair(dice, pool, 60) },
      { type: 'token', token: buildToken(dice, '0xbb', 60) },
      { type: 'liquidity', liquidity: buildLiquidity(dice, pool, key, 60) },
      { type: 'windows', windows: buildWindows(dice, { pair: '0xaa', token: undefined }, 60) },
      { type: 'switch', switch: buildSwitch(dice, '0xbb', 7, 60) },
      { type: 'balance', balance: { token: '0xbb', holder: '0xcc', amountRaw: 5n, beforeRaw: 0n } },
      {
        type: 'contract',
        contract: { ...(fc.sample(report, { numRuns: 1, seed: 1 })[0] as ContractReport), time: 60 },
      },
    ),
  ])
  assert.deepEqual(written.map(({ table }) => table).sort(), [...TABLE_NAMES].sort())
  const folder = new URL('./migrations/', import.meta.url)
  const migrations = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'))
  for (const { table, columns } of written) {
    const lines = migrations
      .filter((sql) => new RegExp(`^(?:CREATE TABLE IF NOT EXISTS|ALTER TABLE) ${table}$`, 'm').test(sql))
      .flatMap((sql) => sql.split('\n').filter((line) => COLUMN.test(line)))
    const declared = lines.flatMap((line) => COLUMN.exec(line)?.[1] ?? [])
    assert.deepEqual([...columns].sort(), declared.sort(), table)
    const uncommented = lines.filter((line) => !line.includes(' COMMENT '))
    assert.deepEqual(uncommented, [])
  }
})
