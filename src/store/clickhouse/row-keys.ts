import type { TableName } from './table-names.ts'

/** How the rows of a table are identified, besides the chain, and found by its primary key. */
export type RowKey = {
  readonly key: readonly string[]
  /** The columns of the key that a query narrows down. */
  readonly by: readonly string[]
  /** The column of the key that the partitions and the retention depend on. */
  readonly time?: string
}

const event: RowKey = { key: ['pair', 'time', 'block', 'tx', 'log'], by: ['pair'], time: 'time' }
const document: RowKey = { key: ['address'], by: ['address'] }

export const ROW_KEYS: Readonly<Record<TableName, RowKey>> = {
  trades: event,
  liquidity: event,
  candles: { key: ['pair', 'interval', 'start'], by: ['pair'], time: 'start' },
  pairs: document,
  tokens: document,
  windows: { key: ['kind', 'id'], by: ['id'] },
  switches: { key: ['token', 'block'], by: ['token'] },
  // A token may have millions of holders.
  balances: { key: ['token', 'magnitude', 'holder'], by: ['token', 'magnitude', 'holder'] },
  token_search: { key: ['kind', 'term', 'address'], by: ['term', 'address'] },
  contracts: { key: ['token'], by: ['token'] },
}
