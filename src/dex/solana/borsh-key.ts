import type { ByteCursor } from './byte-cursor.ts'
import { recurringText } from './key-text.ts'

const KEY_BYTES = 32

/** The next key of an event, in base58; empty if the event ends before. */
export function readKey(cursor: ByteCursor): string {
  const bytes = cursor.bytes(KEY_BYTES)
  return bytes.length === KEY_BYTES ? recurringText(bytes) : ''
}
