import type { Config } from '../config/schema.ts'
import { decodeGenerations, FIRST_GENERATIONS, storedName } from '../domain/generation.ts'
import type { Common } from '../lib/common.ts'
import { openHistoryStore } from '../store/clickhouse/history-store.ts'
import { openHistoryReader } from '../store/clickhouse/read/history-reader.ts'
import { openHotStore } from '../store/redis/hot-store.ts'
import { rebuildHot } from './writer/rebuild-hot.ts'

/** Drops all chains from Redis and refills it from ClickHouse; a writer then continues from there. */
export async function rebuildRedis(config: Config, common: Common): Promise<void> {
  await using resources = new AsyncDisposableStack()
  const reader = openHistoryReader(config.clickhouse)
  resources.defer(() => reader.close())
  const hot = await openHotStore(config.redis, common)
  resources.defer(() => hot.close())
  const history = openHistoryStore(config.clickhouse, common)
  resources.defer(() => history.close())
  for (const chain of Object.keys(config.chains)) {
    const logger = common.logger.child({ action: 'redis_rebuild', chain })
    // The copy in ClickHouse will do: NATS is not needed for anything else.
    const entry = await history.generations(chain)
    const { serving } = entry === undefined ? FIRST_GENERATIONS : decodeGenerations(Buffer.from(entry))
    const marker = await reader.marker(storedName(chain, serving))
    if (marker === undefined) {
      logger.warn('Chain has no written data yet')
      continue
    }
    const startedAt = performance.now()
    await rebuildHot(marker, { reader, hot })
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    logger.info({ seq: marker.seq, number: marker.number, seconds }, 'Redis refilled')
  }
}
