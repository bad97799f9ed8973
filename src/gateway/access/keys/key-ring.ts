import { ChaintapeError } from '../../../domain/errors.ts'
import type { Logger } from '../../../lib/logger.ts'
import type { LatestValue } from '../../../log/latest-values.ts'
import { decodeKeyRecord, digestOf, type KeyRecord } from './key-record.ts'
import type { Plan } from './plan.ts'

/** A key that was presented and is good; `isValid` says whether it still is. */
export type Grant = { readonly keyId: string; readonly plan: Plan; readonly isValid: () => boolean }

/** `unknown`: missing, misspelt or never given out. `ended`: revoked, expired, or of a plan that is no more. */
export type KeyRefusal = 'unknown' | 'ended'

export type KeyRing = {
  readonly check: (given: unknown) => Grant | KeyRefusal
  /** The same for a chart token; the grant is that of its key. */
  readonly checkChart: (token: string) => Grant | KeyRefusal
  /** Takes in what the key store says of one key. */
  readonly apply: (value: LatestValue) => void
  readonly size: number
}

type Secret = { readonly record: KeyRecord; readonly until: number; readonly grant: Grant | undefined }

/** Every key there is, in memory: a request is checked without asking anybody, and a revocation holds when it arrives. */
export function createKeyRing(options: {
  readonly plans: ReadonlyMap<string, Plan>
  readonly onChange: (keyId: string) => void
  readonly logger: Logger
  readonly now: () => number
}): KeyRing {
  const { plans, onChange, logger, now } = options
  /** By digest. Clients cannot choose a digest, so the lookup time reveals nothing about existing keys. */
  const secrets = new Map<string, Secret>()
  const charts = new Map<string, Secret>()
  const records = new Map<string, KeyRecord>()

  const grantOf = (secret: Secret | undefined): Grant | undefined => {
    if (secret === undefined || secret.record.revoked_at !== undefined) return undefined
    const at = now() / 1_000
    const isCurrent = at < secret.until && at < (secret.record.expires_at ?? Number.POSITIVE_INFINITY)
    return isCurrent ? secret.grant : undefined
  }

  return {
    check: (given) => {
      // The same steps for any input, even none: the time taken reveals nothing.
      const text = typeof given === 'string' ? given : ''
      const secret = secrets.get(digestOf(text))
      if (secret === undefined) return 'unknown'
      return grantOf(secret) ?? 'ended'
    },
    checkChart: (token) => {
      const secret = charts.get(digestOf(token))
      return secret === undefined ? 'unknown' : (grantOf(secret) ?? 'ended')
    },
    apply: ({ name, body }) => {
      let record: KeyRecord
      try {
        record = decodeKeyRecord(name, body)
      } catch (error) {
        // One unreadable record must not disable all other keys.
        const code = error instanceof ChaintapeError ? error.code : 'internal'
        logger.error({ err: error, code, key_id: name }, 'API key record unreadable; key refused')
        return
      }
      for (const { sha256 } of records.get(name)?.secrets ?? []) secrets.delete(sha256)
      for (const { sha256 } of records.get(name)?.chart_tokens ?? []) charts.delete(sha256)
      records.set(name, record)
      const plan = plans.get(record.plan)
      for (const { sha256, until = Number.POSITIVE_INFINITY } of record.secrets) {
        const isValid = (): boolean => grantOf(secrets.get(sha256)) !== undefined
        secrets.set(sha256, { record, until, grant: plan && { keyId: record.id, plan, isValid } })
      }
      for (const { sha256 } of record.chart_tokens ?? []) {
        const isValid = (): boolean => grantOf(charts.get(sha256)) !== undefined
        const grant = plan && { keyId: record.id, plan, isValid }
        charts.set(sha256, { record, until: Number.POSITIVE_INFINITY, grant })
      }
      if (plan === undefined && record.revoked_at === undefined) {
        logger.error({ key_id: name, plan: record.plan }, 'API key has an unknown plan; key refused')
      }
      onChange(name)
    },
    get size() {
      return records.size
    },
  }
}
