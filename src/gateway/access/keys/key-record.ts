import { hash } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { ChaintapeError } from '../../../domain/errors.ts'

const time = Type.Integer({ minimum: 0 })

/**
 * What is kept of a key; times are Unix seconds. Of the key itself only the SHA-256: it has 178 random bits, so that
 * nothing slower is needed. A record has two secrets while a rotated key's former one is still accepted.
 */
const keyRecord = Type.Object({
  id: Type.String({ pattern: '^[a-z0-9]{12}$' }),
  name: Type.String(),
  plan: Type.String(),
  created_at: time,
  expires_at: Type.Optional(time),
  revoked_at: Type.Optional(time),
  secrets: Type.Array(
    Type.Object({ sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }), until: Type.Optional(time) }),
  ),
  /** Tokens for the UDF datafeed, metered on this key. */
  chart_tokens: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String({ pattern: '^[a-z0-9]{12}$' }),
        sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        created_at: time,
      }),
    ),
  ),
})

export type KeyRecord = Static<typeof keyRecord>

export function encodeKeyRecord(record: KeyRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record))
}

/** The error contains nothing of the stored value, because that has digests. */
export function decodeKeyRecord(name: string, body: Uint8Array): KeyRecord {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(body).toString())
  } catch {
    parsed = undefined
  }
  if (Value.Check(keyRecord, parsed) && parsed.id === name) return parsed
  throw new ChaintapeError('message_unreadable', `stored API key ${name} is unreadable`)
}

export function digestOf(apiKey: string): string {
  // As text it takes half the time: bytes would be an allocation outside the heap, for every request.
  return hash('sha256', apiKey, 'hex')
}
