import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Common } from '../../lib/common.ts'
import { connectRedis, type RedisOptions } from './connect.ts'
import { inTime } from './in-time.ts'

/** The key and month of a lease. */
export type QuotaRef = { readonly keyId: string; readonly month: string }

export type LeaseCall = {
  /** Grows with every call of a gateway: one that arrives late is ignored. */
  readonly call: number
  /** In all, in this month, by this gateway. */
  readonly spent: number
  /** In all, what this gateway may spend without a further lease; lower than last time: something is given back. */
  readonly ceiling: number
  readonly limit: number
  /** Asked for right now. */
  readonly need: number
  /** Including what may be needed soon; 0 only reports what was spent. */
  readonly want: number
  /** Less than this is of no use: then rather nothing. */
  readonly least: number
}

export type LeaseAnswer = {
  readonly granted: number
  readonly spentByAll: number
  readonly leasedToOthers: number
  /** When the first of those leases ends, unless it is renewed. */
  readonly othersEndMs: number
}

export type QuotaStore = {
  /** One atomic step. Fails with `store_unavailable`; whether the call was carried out is then unknown, and harmless. */
  lease(ref: QuotaRef, call: LeaseCall): Promise<LeaseAnswer>
  close(): Promise<void>
}

export type QuotaOptions = RedisOptions & {
  readonly prefix: string
  readonly gateway: string
  readonly leaseMs: number
  /** What each gateway has spent by durable record: asked when Redis knows nothing of a key and month (any more). */
  readonly remembered: (ref: QuotaRef) => Promise<ReadonlyMap<string, number>>
}

/** A client waits for this, so it fails early. */
const TIMEOUT_MS = 1_000
const MISSING = -1
const OUTDATED = -2

type LeasingRedis = Redis & { leaseUnits(...args: (string | number)[]): Promise<number[]> }

export async function openQuotaStore(options: QuotaOptions, common: Common): Promise<QuotaStore> {
  const redis = (await connectRedis(options, common)) as Redis as LeasingRedis
  redis.defineCommand('leaseUnits', { lua: readFileSync(new URL('lease.lua', import.meta.url), 'utf8') })

  // The braces keep a key's hashes together where Redis is a cluster.
  const keyOf = (keyId: string, month: string): string => `${options.prefix}:quota:{${keyId}}:${month}`

  const ask = async (
    ref: QuotaRef,
    call: LeaseCall,
    remembered: ReadonlyMap<string, number> | undefined,
  ): Promise<number[]> =>
    inTime(
      () =>
        redis.leaseUnits(
          2,
          ...[keyOf(ref.keyId, ref.month), keyOf(ref.keyId, twoMonthsBefore(ref.month))],
          ...[options.gateway, call.call, call.spent, call.ceiling, call.limit, call.need],
          ...[call.want, call.least, options.leaseMs, remembered === undefined ? '0' : '1'],
          ...[...(remembered ?? [])].flat(),
        ),
      TIMEOUT_MS,
    )

  return {
    lease: async (ref, call) => {
      let answer = await ask(ref, call, undefined)
      if (answer[0] === MISSING) answer = await ask(ref, call, await options.remembered(ref))
      const [granted = OUTDATED, spentByAll = 0, leasedToOthers = 0, othersEndMs = 0] = answer
      if (granted === OUTDATED) {
        throw new ChaintapeError('store_unavailable', 'a later call for the same lease was processed first')
      }
      return { granted, spentByAll, leasedToOthers, othersEndMs }
    },
    close: async () => {
      if (redis.status === 'ready') await redis.quit()
      else redis.disconnect()
    },
  }
}

function twoMonthsBefore(month: string): string {
  const [year, nth] = month.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, nth - 3)).toISOString().slice(0, 7)
}
