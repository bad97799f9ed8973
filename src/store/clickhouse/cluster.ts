/**
 * The same statement for a cluster: run on every node, and with engines that keep their copies alike. The nodes
 * must have the macros `shard` and `replica`, as clusters do.
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

/** The clause for statements that name their engine themselves or make none. */
export function onCluster(cluster: string | undefined): string {
  return cluster === undefined ? '' : ` ON CLUSTER \`${cluster}\``
}
