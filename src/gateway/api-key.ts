import { createHash, timingSafeEqual } from 'node:crypto'

/** Digests are compared, not keys: equal in length whatever was sent, and in constant time. */
export function createKeyCheck(apiKey: string): (given: string) => boolean {
  const expected = digest(apiKey)
  return (given) => timingSafeEqual(digest(given), expected)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
