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
 * Refuses what comes faster than the key's plan allows. Each gateway counts for itself: it is there to protect the
 * gateway, and a shared count would cost every request a round trip. What may be used in all is the quota's business.
 */
export function limitRate(scope: Scope, now: () => number): void {
  const buckets = new Map<string, TokenBucket>()
  scope.decorateRequest('rate', null)
  scope.addHook('onRequest', (request, reply, done) => {
    const { grant } = request
    if (grant === null) return done()
    const { keyId, plan } = grant
    let bucket = buckets.get(keyId)
    if (bucket === undefined) {
      bucket = new TokenBucket(plan.requestsPerSecond, now, plan.burst)
      buckets.set(keyId, bucket)
    }
    request.rate = bucket
    if (bucket.take()) return done()
    reply.header('retry-after', bucket.secondsUntil(1))
    done(new RequestError('rate_limited', `the plan allows ${plan.requestsPerSecond} requests a second`))
  })
}
