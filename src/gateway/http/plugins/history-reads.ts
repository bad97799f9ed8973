import type { Grant } from '../../access/keys/key-ring.ts'
import { RequestError } from '../problem.ts'
import type { Scope } from '../scope.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation may query ClickHouse: a key has only so many of these under way. */
    readsHistory?: boolean
  }
}

const RETRY_SECONDS = 1

/**
 * Concurrency limit: a key's history reads at this gateway. One is under way until its queries are over, even if the
 * client left or was answered before, because that is how long it occupies ClickHouse.
 */
export function limitHistoryReads(scope: Scope): void {
  const underWay = new Map<string, number>()
  const take = ({ keyId, plan }: Grant): boolean => {
    const count = underWay.get(keyId) ?? 0
    if (count >= plan.historyReads) return false
    underWay.set(keyId, count + 1)
    return true
  }
  const release = ({ keyId }: Grant): void => {
    const left = (underWay.get(keyId) ?? 1) - 1
    if (left === 0) underWay.delete(keyId)
    else underWay.set(keyId, left)
  }
  scope.addHook('onRoute', (route) => {
    if (route.config?.readsHistory !== true) return
    const { handler } = route
    route.handler = async function limited(request, reply) {
      const { grant } = request
      if (grant === null) return handler.call(this, request, reply)
      if (!take(grant)) {
        reply.header('retry-after', RETRY_SECONDS)
        throw new RequestError(
          'too_many_history_reads',
          `the plan allows ${grant.plan.historyReads} history requests at a time; wait for one to end`,
        )
      }
      try {
        return await handler.call(this, request, reply)
      } finally {
        release(grant)
      }
    }
  })
}
