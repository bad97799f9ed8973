import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import type { Common } from '../../lib/common.ts'
import { connectRedis, type RedisOptions } from './connect.ts'
import { withTimeout } from './with-timeout.ts'

export type RateCall = {
  readonly perSecond: number
  readonly burst: number
  /** Leased earlier and not used. */
  readonly giveBack: number
  readonly want: number
}

export type RateAnswer = {
  readonly granted: number
  /** Tokens in the shared bucket after this call. */
  readonly left: number
  /** Gateways with a recent lease from this bucket, including this one. */
  readonly gateways: number
}

export type RateStore = {
  /** Atomic. Fails with `store_unavailable`; tokens granted by such a call are lost. */
  lease(keyId: string, call: RateCall): Promise<RateAnswer>
  close(): Promise<void>
}

export type RateOptions = RedisOptions & { readonly prefix: string; readonly gateway: string }

/** Short, because a request may wait for it. */
const TIMEOUT_MS = 250
const ACTIVE_MS = 10_000

type LeasingRedis = Redis & { leaseTokens(...args: (string | number)[]): Promise<[number, number, number]> }

export async function openRateStore(options: RateOptions, common: Common): Promise<RateStore> {
  const redis = (await connectRedis(options, common)) as Redis as LeasingRedis
  redis.defineCommand('leaseTokens', { lua: readFileSync(new URL('rate.lua', import.meta.url), 'utf8') })
  return {
    lease: async (keyId, { perSecond, burst, giveBack, want }) => {
      // The braces put both keys on one node of a Redis cluster.
      const name = `${options.prefix}:rate:{${keyId}}`
      const args = [options.gateway, perSecond, burst, giveBack, want, ACTIVE_MS]
      const [granted, left, gateways] = await withTimeout(
        () => redis.leaseTokens(2, name, `${name}:gateways`, ...args),
        TIMEOUT_MS,
      )
      return { granted, left: left / 1_000, gateways }
    },
    close: async () => {
      if (redis.status === 'ready') await redis.quit()
      else redis.disconnect()
    },
  }
}
