import { formatOrderKey, parseOrderKey } from '../../../domain/order-key.ts'
import type { EventPlace } from '../../../store/clickhouse/read/history-reader.ts'
import { RequestError } from '../../http/problem.ts'

/** The last second that the store's times can hold. */
const MAX_TIME = 2 ** 32 - 1

/** The end of a page, as text that is opaque to clients. */
export function formatCursor({ time, key }: EventPlace): string {
  return Buffer.from(`${time}.${formatOrderKey(key)}`).toString('base64url')
}

export function parseCursor(cursor: string): EventPlace {
  const [timeText = '', keyText = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split('.')
  const key = parseOrderKey(keyText)
  const time = /^\d{1,10}$/.test(timeText) ? Number(timeText) : undefined
  // Decoding overlooks much: only what would be written the same way was ours.
  const isOurs = key !== undefined && time !== undefined && time <= MAX_TIME
  if (isOurs && formatCursor({ time, key }) === cursor) return { time, key }
  throw new RequestError('malformed_request', 'malformed cursor; use next_cursor of the previous page', [
    { pointer: '#/cursor', detail: 'must be next_cursor of an earlier response' },
  ])
}
