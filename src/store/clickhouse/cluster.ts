/**
 * Rewrites a statement for a cluster: it runs on every node and creates replicated engines. The nodes must define the
 * macros `shard` and `replica`.
 */
export function forCluster(sql: string, cluster: string | undefined): string {
  if (cluster === undefined) return sql
  return sql
    .replace(
      /^(\s*(?:CREATE (?:TABLE|DATABASE) IF NOT EXISTS|ALTER TABLE) `?\w+`?)/m,
      `$1 ON CLUSTER \`${cluster}\``,
    )
    .replace(/\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/, (_, engine: string, parameters = '') => {
      const place = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'"
      return `ENGINE = Replicated${engine}(${[place, parameters].filter((part) => part !== '').join(', ')})`
    })
}

/** The clause for statements that already contain their engine or need none. */
export function onCluster(cluster: string | undefined): string {
  return cluster === undefined ? '' : ` ON CLUSTER \`${cluster}\``
}
