import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Registry } from 'prom-client'
import type { ChainHead } from '../../src/domain/chain-head.ts'
import { ChaintapeError } from '../../src/domain/errors.ts'
import { connectLogs } from '../../src/log/connect.ts'
import { ChainWriter, type ChainWriterParts } from '../../src/roles/writer/chain-writer.ts'
import { createWriterMetrics } from '../../src/roles/writer/metrics.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import type { TableRows } from '../../src/store/clickhouse/rows.ts'
import type { LatestChanges } from '../../src/store/latest-changes.ts'
import { openHotStore } from '../../src/store/redis/hot-store.ts'
import { storySets } from '../support/builders/story.ts'
import { readRowBinary } from '../support/reference/read-row-binary.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { createWriterRig } from '../support/rigs/writer-rig.ts'

let stack: Stack

before(async () => {
  stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
})

after(async () => {
  await stack?.stop()
})

/** Not the fault of a message: the writer does not look for one to blame. */
class Crash extends ChaintapeError {
  constructor() {
    super('store_unavailable', 'the process ends here')
  }
}

type Step = 'write' | 'apply' | 'commit'
type Point = { readonly step: Step; readonly when: 'before' | 'after'; readonly call: number }

const points: Point[] = (['write', 'apply', 'commit'] as const).flatMap((step) =>
  (['before', 'after'] as const).flatMap((when) => [1, 2].map((call) => ({ step, when, call }))),
)

function newestSeq(rows: TableRows): number {
  return Math.max(...readRowBinary(rows).map((row) => Number(row['seq'])))
}

/** Dies at one call of one step, as a process would. */
function crashingAt(
  point: Point,
): <Args extends unknown[], T>(
  step: Step,
  work: (...args: Args) => Promise<T>,
) => (...args: Args) => Promise<T> {
  let calls = 0
  return (step, work) =>
    async (...args) => {
      const isHere = step === point.step && ++calls === point.call
      if (isHere && point.when === 'before') throw new Crash()
      const result = await work(...args)
      if (isHere) throw new Crash()
      return result
    }
}

test('after a crash at any point no store vouches for what it does not hold, and a restart mends all', async () => {
  const rig = await createWriterRig(stack)
  const common = createTestCommon()
  const { config } = rig
  await migrate(config.clickhouse, common)
  const logs = await connectLogs(config.nats, common)
  const history = openHistoryStore(config.clickhouse, common)
  const hot = await openHotStore(config.redis, common)
  const story = storySets({ chain: 'eth', seed: 31, messages: points.length * 12 })
  const parts: ChainWriterParts = {
    folded: { chain: 'eth', generation: { number: 1 } },
    label: () => 'eth',
    log: await logs.open('CHANGES', 'eth'),
    history,
    migrated: Promise.resolve(),
    hot: Promise.resolve(hot),
    rebuildHot: async () => assert.fail('the log holds everything'),
    limits: { max_batch_rows: 150, max_batch_ms: 5 },
    metrics: createWriterMetrics(new Registry()),
    logger: common.logger,
    signal: common.shutdown.signal,
    insist: () => (work) => work(),
    report: () => undefined,
    onCaughtUp: () => undefined,
  }
  try {
    for (const [i, point] of points.entries()) {
      await rig.publish('eth', story.sets.slice(i * 12, i * 12 + 12))
      const crashing = crashingAt(point)
      let rowsUpTo = (await history.marker('eth'))?.seq ?? 0
      let documentsUpTo = (await hot.head('eth'))?.seq ?? 0
      const writer = new ChainWriter({
        ...parts,
        history: {
          ...history,
          write: crashing('write', async (tables) => {
            const written = await history.write(tables)
            rowsUpTo = Math.max(rowsUpTo, ...tables.map(newestSeq))
            return written
          }),
          commit: crashing('commit', history.commit),
        },
        hot: Promise.resolve({
          ...hot,
          apply: crashing('apply', async (latest: LatestChanges, head: ChainHead) => {
            await hot.apply(latest, head)
            documentsUpTo = head.seq
          }),
        }),
      })
      await assert.rejects(writer.run(), Crash, JSON.stringify(point))
      const marker = (await history.marker('eth'))?.seq ?? 0
      const head = (await hot.head('eth'))?.seq ?? 0
      // A set without changes has no rows.
      const rows = story.sets.findLast(({ seq, changes }) => seq <= marker && changes.length > 0)?.seq ?? 0
      assert.ok(rows <= rowsUpTo, JSON.stringify({ point, rows, rowsUpTo }))
      assert.ok(head <= documentsUpTo, JSON.stringify({ point, head, documentsUpTo }))
    }
    const last = new AbortController()
    const running = new ChainWriter({ ...parts, signal: last.signal }).run()
    await rig.written('eth', story.sets)
    last.abort()
    await running
    await rig.assertStored('eth', story)
  } finally {
    await Promise.all([logs.close(), history.close(), hot.close()])
    await rig.close()
  }
})
