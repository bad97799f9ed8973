/** The tables that grow without bound. Their time is part of the key, so a removal expires with its row. */
const TIME_COLUMNS = { trades: 'time', liquidity: 'time', candles: 'start' } as const

export type Retention = { readonly [Table in keyof typeof TIME_COLUMNS]?: number | undefined }

/** The ALTER statements that change the tables' current TTLs to the configured ones. */
export function retentionStatements(
  wanted: Retention,
  engines: ReadonlyMap<string, string>,
): { readonly table: string; readonly sql: string }[] {
  return Object.entries(TIME_COLUMNS).flatMap(([table, column]) => {
    const days = wanted[table as keyof Retention]
    const expression = days === undefined ? undefined : `${column} + toIntervalDay(${days})`
    if (ttlOf(engines.get(table) ?? '') === expression) return []
    const change = expression === undefined ? 'REMOVE TTL' : `MODIFY TTL ${expression}`
    return [{ table, sql: `ALTER TABLE ${table} ${change}` }]
  })
}

function ttlOf(engine: string): string | undefined {
  return /\bTTL (.+?)(?: SETTINGS |$)/.exec(engine)?.[1]
}
