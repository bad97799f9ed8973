import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Common } from '../../lib/common.ts'
import { connectRedis, type RedisOptions } from './connect.ts'
import { withTimeout } from './with-timeout.ts'

/** The key and month of a lease. */
export type QuotaRef = { readonly keyId: string; readonly month: string }

export type LeaseCall = {
  /** Grows with every call of a gateway, so that late calls are ignored. */
  readonly call: number
  /** Total spent by this gateway in this month. */
  readonly spent: number
  /** Total that this gateway may spend without a further lease; lowering it returns units. */
  readonly ceiling: number
  readonly limit: number
  /** Units needed now. */
  readonly need: number
  /** Units wanted, including expected demand; 0 only reports spending. */
  readonly want: number
  /** A smaller grant is useless, so nothing is granted instead. */
  readonly least: number
}

export type LeaseAnswer = {
  readonly granted: number
  readonly spentByAll: number
  readonly leasedToOthers: number
  /** When the first of those leases expires unless renewed. */
  readonly othersEndMs: number
}

export type QuotaStore = {
  /** Atomic. Fails with `store_unavailable`; the call may or may not have run, and either is harmless. */
  lease(ref: QuotaRef, call: LeaseCall): Promise<LeaseAnswer>
  close(): Promise<void>
}

export type QuotaOptions = RedisOptions & {
  readonly prefix: string
  readonly gateway: string
  readonly leaseMs: number
  /** Durably recorded spending of each gateway, used if Redis has no data for a key and month. */
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

  // The braces put all of a key's hashes in one slot of a Redis cluster.
  const keyOf = (keyId: string, month: string): string => `${options.prefix}:quota:{${keyId}}:${month}`

  const ask = async (
    ref: QuotaRef,
    call: LeaseCall,
    remembered: ReadonlyMap<string, number> | undefined,
  ): Promise<number[]> =>
    withTimeout(
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
