/** The tables that only grow: their rows have a time that is part of their key, so that a removal goes with its row. */
const TIME_COLUMNS = { trades: 'time', liquidity: 'time', candles: 'start' } as const

export type Retention = { readonly [Table in keyof typeof TIME_COLUMNS]?: number | undefined }

/** What has to be done so that each table keeps its rows for as long as wanted, given how the server describes it now. */
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
