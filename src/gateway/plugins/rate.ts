import type { Grant } from '../keys/key-ring.ts'
import { RequestError } from '../problem.ts'
import type { Scope } from '../scope.ts'
import { TokenBucket } from '../ws/token-bucket.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bucket that this request was taken from. */
    rate: TokenBucket | null
  }
}

/**
 * A bucket for each key. Each gateway counts for itself: it is there to protect the gateway, and a shared count would
 * cost every request a round trip. What may be used in all is the quota's business.
 */
export function createBuckets(now: () => number): (grant: Grant) => TokenBucket {
  const buckets = new Map<string, TokenBucket>()
  return ({ keyId, plan }) => {
    let bucket = buckets.get(keyId)
    if (bucket === undefined) {
      bucket = new TokenBucket(plan.requestsPerSecond, now, plan.burst)
      buckets.set(keyId, bucket)
    }
    return bucket
  }
}

/** Refuses what comes faster than the key's plan allows. */
export function limitRate(scope: Scope, bucketOf: (grant: Grant) => TokenBucket): void {
  scope.decorateRequest('rate', null)
  scope.addHook('onRequest', (request, reply, done) => {
    const { grant } = request
    if (grant === null) return done()
    const bucket = bucketOf(grant)
    request.rate = bucket
    if (bucket.take()) return done()
    reply.header('retry-after', bucket.secondsUntil(1))
    done(
      new RequestError('rate_limited', `the plan allows ${grant.plan.requestsPerSecond} requests a second`),
    )
  })
}
