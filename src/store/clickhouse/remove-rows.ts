import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import { supplementPrefix } from '../../domain/generation.ts'
import { guardClickhouse } from './failure.ts'
import { TABLE_NAMES } from './table-names.ts'

/** Their partitions hold rows of all chains. */
const SHARED: readonly string[] = ['token_search', 'markers']

const SETTINGS: ClickHouseSettings = {
  // The server refuses to drop a large partition by mistake; this is none.
  max_partition_size_to_drop: '0',
  // Returns once the rows are gone, so that an interruption repeats the removal.
  mutations_sync: '1',
}

/** Removes all rows of a chain under its stored name and its supplements, not its archive; the marker last. */
export async function removeRows(client: ClickHouseClient, chain: string): Promise<void> {
  await removeSupplements(client, supplementPrefix(chain))
  for (const table of [...TABLE_NAMES, 'markers']) {
    if (SHARED.includes(table)) {
      await command(client, `ALTER TABLE ${table} DELETE WHERE chain = {chain:String}`, { chain })
      continue
    }
    for (const partition of await partitionsOf(client, table, chain)) {
      await command(client, `ALTER TABLE ${table} DROP PARTITION ID {partition:String}`, { partition })
    }
  }
}

async function removeSupplements(client: ClickHouseClient, prefix: string): Promise<void> {
  const isOne = 'startsWith(chain, {chain:String})'
  await command(client, `ALTER TABLE archive_markers DELETE WHERE ${isOne}`, { chain: prefix })
  for (const partition of await partitionsOf(client, 'archived_blocks', prefix, isOne)) {
    await command(client, 'ALTER TABLE archived_blocks DROP PARTITION ID {partition:String}', { partition })
  }
}

async function partitionsOf(
  client: ClickHouseClient,
  table: string,
  chain: string,
  condition = 'chain = {chain:String}',
): Promise<string[]> {
  return guardClickhouse(async () => {
    const answer = await client.query({
      query: `SELECT DISTINCT _partition_id AS id FROM ${table} WHERE ${condition}`,
      query_params: { chain },
      format: 'JSONEachRow',
    })
    return (await answer.json<{ id: string }>()).map(({ id }) => id)
  })
}

async function command(
  client: ClickHouseClient,
  query: string,
  query_params: Record<string, string>,
): Promise<void> {
  await guardClickhouse(() => client.command({ query, query_params, clickhouse_settings: SETTINGS }))
}
