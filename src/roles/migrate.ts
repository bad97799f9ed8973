import type { Config } from '../config/schema.ts'
import type { Common } from '../lib/common.ts'
import { migrate } from '../store/clickhouse/migrate.ts'

/** The first step of an upgrade: new gateways may read columns that a new writer has not added yet. */
export async function migrateSchema({ clickhouse }: Config, common: Common): Promise<void> {
  await migrate(clickhouse, common)
  common.logger.info({ database: clickhouse.database }, 'Schema is up to date')
}
