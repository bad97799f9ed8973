import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createClient } from '@clickhouse/client'
import { Redis } from 'ioredis'
import { MAIN_ARGS } from '../../dev/main-args.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { openHistoryReader } from '../../src/store/clickhouse/read/history-reader.ts'
import { storySets } from '../support/builders/story.ts'
import { rowsOfSets } from '../support/reference/rows-of-sets.ts'
import { storedDocuments } from '../support/reference/store-dump.ts'
import { environmentWithoutSettings } from '../support/rigs/pipeline.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { createWriterRig, type WriterRig } from '../support/rigs/writer-rig.ts'

let stack: Stack
let redis: Redis

before(async () => {
  stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
  redis = new Redis(stack.redisUrl)
})

after(async () => {
  redis?.disconnect()
  await stack?.stop()
})

async function rebuild(rig: WriterRig): Promise<void> {
  const args = [...MAIN_ARGS, 'redis', 'rebuild', '--config', rig.configFile]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: environmentWithoutSettings() })
  assert.match(stdout, /Redis refilled/)
}

test('rebuilt documents equal the lost ones, key by key, and the writer continues from there', async () => {
  const rig = await createWriterRig(stack, { chains: ['eth', 'bsc', 'base'] })
  try {
    const eth = storySets({ chain: 'eth', seed: 51, messages: 200 })
    const bsc = storySets({ chain: 'bsc', seed: 52, messages: 60 })
    await rig.publish('eth', eth.sets.slice(0, 150))
    await rig.publish('bsc', bsc.sets)
    const first = await rig.start()
    await rig.written('eth', eth.sets.slice(0, 150))
    await rig.written('bsc', bsc.sets)
    await first.stop()

    const { prefix } = rig.config.redis
    const before = await storedDocuments(stack, prefix)
    const kinds = Object.keys(before).map((key) => key.split(':')[0])
    for (const kind of ['pair', 'token', 'windows', 'candles', 'rank', 'head'])
      assert.ok(kinds.includes(kind))
    await redis.flushall()
    await rebuild(rig)
    assert.deepEqual(await storedDocuments(stack, prefix), before)
    // What is there already, and what should not be there, is no hindrance.
    await redis.zadd(`${prefix}:rank:eth:fdv`, 5, '0xnobody')
    await rebuild(rig)
    assert.deepEqual(await storedDocuments(stack, prefix), before)

    await rig.start()
    await rig.publish('eth', eth.sets.slice(150))
    await rig.written('eth', eth.sets)
    await rig.assertStored('eth', eth)
    await rig.assertStored('bsc', bsc)
  } finally {
    await rig.close()
  }
})

test('the latest candles of long series are rebuilt, with the time from which they are complete', async () => {
  const rig = await createWriterRig(stack, { recentCandles: 4 })
  try {
    const eth = storySets({ chain: 'eth', seed: 53, messages: 120 })
    await rig.publish('eth', eth.sets.slice(0, 100))
    const first = await rig.start()
    await rig.written('eth', eth.sets.slice(0, 100))
    await first.stop()
    await redis.flushall()
    await rebuild(rig)
    const published = storySets({ chain: 'eth', seed: 53, messages: 100 })
    await rig.assertStored('eth', published)
    const pair = [...published.world.pairs.keys()][0] ?? ''
    const series = await rig.hot.recentCandles({ chain: 'eth', pair, interval: 's1' }, 100)
    assert.ok(series !== undefined && series.from > 0 && series.candles.length <= 4)
    await rig.start()
    await rig.publish('eth', eth.sets.slice(100))
    await rig.written('eth', eth.sets)
    await rig.assertStored('eth', eth)
  } finally {
    await rig.close()
  }
})

test('candles of idle pairs are not even read, those of others as far back as needed', async () => {
  const rig = await createWriterRig(stack)
  const reader = openHistoryReader(rig.config.clickhouse)
  try {
    const eth = storySets({ chain: 'eth', seed: 55, messages: 120 })
    await rig.publish('eth', eth.sets)
    await rig.start()
    await rig.written('eth', eth.sets)
    const marker = await reader.marker('eth')
    assert.ok(marker)
    const candles = [...eth.world.candles.values()].map(({ record }) => record)
    const latest = new Map<string, number>()
    for (const { pair, interval, start } of candles)
      if (interval === 's1') latest.set(pair, Math.max(start, latest.get(pair) ?? 0))
    const lastTraded = [...latest].map(([pair, time]) => ({ pair, time }))
    const times = lastTraded.map(({ time }) => time).sort((a, b) => a - b)
    const idleSince = times[Math.floor(times.length / 2)] ?? 0
    const expected = lastTraded.filter(({ time }) => time >= idleSince).map(({ pair }) => pair)
    assert.ok(expected.length > 0 && expected.length < lastTraded.length)
    const read = new Set<string>()
    const scope = { recentCandles: 300, idleSince }
    for await (const { versions } of reader.latest({ ...scope, chain: 'eth', upTo: marker.seq }))
      for (const change of versions.flatMap(({ changes }) => changes))
        if (change.type === 'candle') read.add(change.candle.pair)
    assert.deepEqual([...read].sort(), expected.sort())

    // Series with few candles of late are found further back.
    const readSeries = async (since: number) => {
      const found: { candles: Set<string>; oldest: Set<string> } = { candles: new Set(), oldest: new Set() }
      const question = { recentCandles: 4, idleSince: since, chain: 'eth', upTo: marker.seq }
      for await (const { versions, oldest } of reader.latest(question)) {
        for (const change of versions.flatMap(({ changes }) => changes)) {
          if (change.type !== 'candle' && change.type !== 'candleRemoved') continue
          const { pair, interval, start } = change.candle
          if (read.has(pair)) found.candles.add(`${pair} ${interval} ${start}`)
        }
        for (const { pair, interval, start } of oldest)
          if (read.has(pair)) found.oldest.add(`${pair} ${interval} ${start}`)
      }
      return found
    }
    const [recent, all] = [await readSeries(idleSince), await readSeries(0)]
    assert.ok(all.candles.size > 0 && all.oldest.size > 0)
    assert.deepEqual(recent, all)
  } finally {
    await reader.close()
    await rig.close()
  }
})

/** As ClickHouse does sooner or later. */
async function forgetReplacedRows({ config }: WriterRig): Promise<void> {
  const client = createClient({ url: stack.clickhouseUrl, database: config.clickhouse.database })
  for (const table of ['candles', 'pairs', 'tokens', 'windows', 'contracts'])
    await client.command({ query: `OPTIMIZE TABLE ${table} FINAL` })
  await client.close()
}

test('rows of a batch that was not finished do no harm', async () => {
  const rig = await createWriterRig(stack)
  const history = openHistoryStore(rig.config.clickhouse, createTestCommon())
  try {
    const eth = storySets({ chain: 'eth', seed: 54, messages: 80 })
    await rig.publish('eth', eth.sets.slice(0, 60))
    const first = await rig.start()
    await rig.written('eth', eth.sets.slice(0, 60))
    await first.stop()
    await history.write(rowsOfSets(eth.sets.slice(60, 75)))
    await forgetReplacedRows(rig)
    await redis.flushall()
    await rebuild(rig)
    await rig.start()
    await rig.publish('eth', eth.sets.slice(60))
    await rig.written('eth', eth.sets)
    await rig.assertStored('eth', eth)
  } finally {
    await history.close()
    await rig.close()
  }
})
