/** Each has a commit point of its own, and may be away, or behind the other. */
export const STORE_NAMES = ['clickhouse', 'redis'] as const
export type StoreName = (typeof STORE_NAMES)[number]

/** What people call them. */
export const SERVER_NAMES: Readonly<Record<StoreName, string>> = { clickhouse: 'ClickHouse', redis: 'Redis' }
