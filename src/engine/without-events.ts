import type { Change } from '../domain/change.ts'
import { decodeChangeSet, encodeChangeSet } from '../wire/change-codec.ts'

const EVENTS: ReadonlySet<Change['type']> = new Set([
  'trade',
  'tradeRemoved',
  'liquidity',
  'liquidityRemoved',
  'candle',
  'candleRemoved',
])

/** A change set with its documents, and without trades, liquidity changes and candles. */
export function withoutEvents(message: Uint8Array): Uint8Array {
  const set = decodeChangeSet(message)
  return encodeChangeSet({ ...set, changes: set.changes.filter(({ type }) => !EVENTS.has(type)) })
}
