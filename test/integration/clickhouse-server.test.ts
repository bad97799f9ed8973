import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'

let stack: Stack
let client: ClickHouseClient

before(async () => {
  stack = await startStack({ services: ['clickhouse'] })
  client = createClient({
    url: stack.clickhouseUrl,
    database: 'market',
    log: { level: ClickHouseLogLevel.OFF },
  })
  const bootstrap = createClient({ url: stack.clickhouseUrl })
  await bootstrap.command({ query: 'CREATE DATABASE market' })
  await bootstrap.close()
})
after(async () => {
  await client?.close()
  await stack?.stop()
})

const rowsOf = async <T>(query: string, query_params: Record<string, unknown> = {}): Promise<T[]> => {
  const result = await client.query({ query, query_params, format: 'JSONEachRow' })
  return await result.json<T>()
}

test('10,000 rows of hostile strings come back exactly', async () => {
  const fragments = [
    "'",
    '"',
    '\\',
    '\n',
    '\n\n',
    ';',
    '\t',
    '\0',
    '--',
    '/*',
    '{x:String}',
    '`',
    'ü',
    '🎉',
    '\u2028',
  ]
  const rows = Array.from({ length: 10_000 }, (_, id) => ({
    id,
    text: `${fragments[id % fragments.length]}${id}${fragments[(id * 7 + 3) % fragments.length]}\\N`,
  }))
  await client.command({
    query: 'CREATE TABLE hostile (id UInt32, text String) ENGINE = MergeTree ORDER BY id',
  })
  const { summary } = await client.insert({ table: 'hostile', values: rows, format: 'JSONEachRow' })
  assert.equal(summary?.written_rows, '10000')
  assert.deepEqual(await rowsOf('SELECT id, text FROM hostile ORDER BY id'), rows)

  const sample = rows.filter(({ id }) => id < fragments.length * 2)
  for (const row of sample) {
    const found = await rowsOf('SELECT id FROM hostile WHERE text = {text:String}', { text: row.text })
    assert.deepEqual(found, [{ id: row.id }])
  }
  const texts = sample.map(({ text }) => text)
  const many = await rowsOf('SELECT id, text FROM hostile WHERE text IN {texts:Array(String)} ORDER BY id', {
    texts,
  })
  assert.deepEqual(many, sample)
})

test('parameters of every kind arrive as their type', async () => {
  const values = { a: '18446744073709551615', b: [1, 2], c: null, d: { k: "v'" }, e: '1.25', f: true }
  const result = await client.query({
    query: `SELECT {a:UInt64} AS a, {b:Array(UInt8)} AS b, {c:Nullable(String)} AS c,
      {d:Map(String, String)} AS d, {e:Decimal(9, 2)} AS e, {f:Bool} AS f FROM {table:Identifier} LIMIT 1`,
    query_params: { ...values, table: 'hostile' },
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
    },
    format: 'JSONEachRow',
  })
  assert.deepEqual(await result.json(), [values])
  const long = 'x'.repeat(200_000)
  assert.deepEqual(await rowsOf('SELECT toUInt32(length({long:String})) AS size', { long }), [
    { size: 200_000 },
  ])
})

test('Decimal(76, 40) goes in and out as the same string', async () => {
  await client.command({
    query: 'CREATE TABLE exact (id UInt8, price Decimal(76, 40)) ENGINE = MergeTree ORDER BY id',
  })
  const prices = [
    '0.0000000000000000000000000000000000000001',
    '123456789012345678901234567890123456.1234567890123456789012345678901234567891',
    '-999999999999999999999999999999999999.9999999999999999999999999999999999999999',
  ]
  const values = prices.map((price, id) => ({ id, price }))
  await client.insert({ table: 'exact', values, format: 'JSONEachRow' })
  assert.deepEqual(await rowsOf('SELECT id, toString(price) AS price FROM exact ORDER BY id'), values)
  const quoted = await client.query({
    query: 'SELECT id, price FROM exact ORDER BY id',
    format: 'JSONEachRow',
    clickhouse_settings: { output_format_json_quote_decimals: 1 },
  })
  assert.deepEqual(await quoted.json(), values)
})

test('ReplacingMergeTree keeps the newest version and drops the deleted', async () => {
  await client.command({
    query: `CREATE TABLE versions (id UInt8, value String, seq UInt64, is_deleted UInt8)
      ENGINE = ReplacingMergeTree(seq, is_deleted) ORDER BY id`,
  })
  const insert = (values: object[]) => client.insert({ table: 'versions', values, format: 'JSONEachRow' })
  await insert([
    { id: 1, value: 'new', seq: 2, is_deleted: 0 },
    { id: 2, value: 'gone', seq: 1, is_deleted: 0 },
  ])
  await insert([
    { id: 1, value: 'old', seq: 1, is_deleted: 0 },
    { id: 2, value: 'gone', seq: 2, is_deleted: 1 },
  ])
  assert.deepEqual(await rowsOf('SELECT id, value FROM versions FINAL'), [{ id: 1, value: 'new' }])
})

test('errors carry the code and the status of the server', async () => {
  const failures: [query: string, code: string, status: number][] = [
    ['SELEC 1', '62', 400],
    ['SELECT * FROM nowhere', '60', 404],
    ['SELECT throwIf(1)', '395', 500],
    ['SELECT 1; SELECT 2', '62', 400],
    ['SELECT 1 SETTINGS no_such_setting = 1', '115', 404],
  ]
  for (const [query, code, status] of failures) {
    await assert.rejects(client.query({ query, format: 'JSONEachRow' }), (error) => {
      assert.ok(error instanceof ClickHouseError, String(error))
      assert.equal(error.code, code)
      return true
    })
    const response = await fetch(stack.clickhouseUrl, { method: 'POST', body: query })
    assert.deepEqual([response.status, response.headers.get('x-clickhouse-exception-code')], [status, code])
  }
  const bad = client.insert({ table: 'exact', values: [{ id: 1, price: 'x' }], format: 'JSONEachRow' })
  await assert.rejects(bad, ClickHouseError)
})

test('settings, parameters and the database of a request end with it, and compression is transparent', async () => {
  const compressing = createClient({
    url: stack.clickhouseUrl,
    compression: { request: true, response: true },
  })
  try {
    await compressing.insert({
      table: 'market.exact',
      values: [{ id: 9, price: '9' }],
      format: 'JSONEachRow',
    })
    const result = await compressing.query({
      query: "SELECT getSetting('max_block_size') AS size, currentDatabase() AS db, {p:String} AS p",
      query_params: { p: 'mine' },
      clickhouse_settings: { max_block_size: '77' },
      format: 'JSONEachRow',
    })
    assert.deepEqual(await result.json(), [{ size: 77, db: 'default', p: 'mine' }])
    const [other] = await rowsOf<{ size: number; db: string }>(
      "SELECT getSetting('max_block_size') AS size, currentDatabase() AS db",
    )
    assert.equal(other?.db, 'market')
    assert.notEqual(other?.size, 77)
    await assert.rejects(rowsOf('SELECT {p:String}'), ClickHouseError)
  } finally {
    await compressing.close()
  }
})

test('readers with parameters run beside writers', async () => {
  await client.command({
    query: 'CREATE TABLE busy (writer UInt8, n UInt32) ENGINE = MergeTree ORDER BY (writer, n)',
  })
  const writers = [1, 2].map(async (writer) => {
    for (let batch = 0; batch < 10; batch++) {
      const values = Array.from({ length: 500 }, (_, index) => ({ writer, n: batch * 500 + index }))
      await client.insert({ table: 'busy', values, format: 'JSONEachRow' })
    }
  })
  const readers = [0, 1, 2, 3, 4, 5, 6, 7].map(async (reader) => {
    for (let round = 0; round < 20; round++) {
      const mine = reader * 1000 + round
      const query = 'SELECT {mine:UInt32} AS mine, count() AS rows FROM busy WHERE writer = {writer:UInt8}'
      const [row] = await rowsOf<{ mine: number; rows: string }>(query, { mine, writer: 1 + (reader % 2) })
      assert.equal(row?.mine, mine)
      assert.equal(Number(row.rows) % 500, 0)
    }
  })
  await Promise.all([...writers, ...readers])
  assert.deepEqual(await rowsOf('SELECT toUInt32(count()) AS rows FROM busy'), [{ rows: 10_000 }])
})

test('data is there after SIGKILL and restart', async () => {
  const before = await rowsOf('SELECT toUInt32(count()) AS rows, max(text) AS text FROM hostile')
  await stack.kill('clickhouse')
  await stack.restart('clickhouse')
  assert.deepEqual(await rowsOf('SELECT toUInt32(count()) AS rows, max(text) AS text FROM hostile'), before)
})
