import type { Grant } from '../../access/keys/key-ring.ts'
import type { SharedBucket } from '../../access/metering/shared-bucket.ts'
import { RequestError } from '../problem.ts'
import type { Scope } from '../scope.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bucket that this request was taken from. */
    rate: SharedBucket | null
  }
}

/** Refuses what comes faster than the key's plan allows. */
export function limitRate(scope: Scope, bucketOf: (grant: Grant) => SharedBucket): void {
  scope.decorateRequest('rate', null)
  scope.addHook('onRequest', (request, reply, done) => {
    const { grant } = request
    if (grant === null) return done()
    const bucket = bucketOf(grant)
    request.rate = bucket
    const decide = (isAdmitted: boolean): void => {
      if (isAdmitted) {
        done()
        return
      }
      // A lease that another gateway waits for may be what is missing: never 0 seconds.
      reply.header('retry-after', Math.max(1, bucket.secondsUntil(1)))
      const rate = grant.plan.requestsPerSecond
      done(
        new RequestError(
          'rate_limited',
          `the plan allows ${rate} requests per second; retry after the given delay`,
        ),
      )
    }
    const taken = bucket.takeOrLease()
    if (typeof taken === 'boolean') decide(taken)
    else taken.then(decide, done)
  })
}
