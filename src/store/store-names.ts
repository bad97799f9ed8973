/** Each store has its own commit point, and may be unavailable or behind the other. */
export const STORE_NAMES = ['clickhouse', 'redis'] as const
export type StoreName = (typeof STORE_NAMES)[number]

/** Display names. */
export const SERVER_NAMES: Readonly<Record<StoreName, string>> = { clickhouse: 'ClickHouse', redis: 'Redis' }
