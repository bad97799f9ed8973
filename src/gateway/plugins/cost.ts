import type { FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify'
import type { Grant } from '../keys/key-ring.ts'
import type { Refusal } from '../metering/account.ts'
import { billingMonth } from '../metering/billing-month.ts'
import type { Bill, Meter } from '../metering/meter.ts'
import { RequestError } from '../problem.ts'
import type { Scope } from '../scope.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a successful answer costs, in credit units. */
    cu?: number
  }
  interface FastifyRequest {
    /** What is set aside for the request, until it is known whether it succeeds. */
    bill: Bill | null
  }
}

const UNAVAILABLE_RETRY_SECONDS = 1

/** An answer costs nothing unless something below says otherwise. */
export function tellNoCost(app: Scope): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.header('x-cu-cost', 0)
    done()
  })
}

/**
 * Sets an operation's cost aside once the request is known to be well-formed, charges it if the answer is a success,
 * and tells on every answer what is left.
 */
export function meterRequests(scope: Scope, meter: Pick<Meter, 'open' | 'balance'>): void {
  scope.decorateRequest('bill', null)
  scope.addHook('onRoute', (route) => {
    const operation = `${route.method} ${route.url}`
    const cu = route.config?.cu ?? 0
    const openBill: preHandlerHookHandler = (request, reply, done) => {
      const { grant } = request
      if (grant === null) return done()
      const take = (opened: Bill | Refusal): void => {
        if ('reason' in opened) done(refused(opened, reply))
        else {
          request.bill = opened
          done()
        }
      }
      const opened = meter.open(grant, operation, cu)
      if (opened instanceof Promise) opened.then(take, done)
      else take(opened)
    }
    route.preHandler = [openBill, ...[route.preHandler ?? []].flat()]
  })
  // The last thing that can still change the answer: from here on it is sent.
  scope.addHook('onSend', (request, reply, _payload, done) => {
    const { bill, grant } = request
    const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300
    if (bill !== null && isSuccess) {
      bill.charge()
      reply.header('x-cu-cost', bill.cu)
    } else bill?.release()
    request.bill = null
    if (grant !== null) tellLimits(request, reply, grant, meter)
    done()
  })
  // A request that never got an answer.
  scope.addHook('onResponse', (request, _reply, done) => {
    request.bill?.release()
    done()
  })
}

function refused({ reason, retryMs }: Refusal, reply: FastifyReply): RequestError {
  if (reason === 'unavailable') {
    reply.header('retry-after', UNAVAILABLE_RETRY_SECONDS)
    return new RequestError('metering_unavailable', 'credit units cannot be counted at the moment')
  }
  const resetSeconds = billingMonth(new Date()).endsAt - Math.floor(Date.now() / 1_000)
  reply.header('retry-after', retryMs === undefined ? resetSeconds : Math.ceil(retryMs / 1_000))
  return new RequestError('quota_exhausted', "the plan's credit units of this month are used up")
}

/** `RateLimit` and `RateLimit-Policy`: draft-ietf-httpapi-ratelimit-headers. */
function tellLimits(
  request: FastifyRequest,
  reply: FastifyReply,
  grant: Grant,
  meter: Pick<Meter, 'balance'>,
): void {
  const { plan } = grant
  const now = new Date()
  const { remaining, resetAt, limit } = meter.balance(grant)
  const resetSeconds = Math.max(0, resetAt - Math.floor(now.getTime() / 1_000))
  const window = Math.ceil(plan.burst / plan.requestsPerSecond)
  const { seconds } = billingMonth(now)
  reply.header('ratelimit-policy', `"rate";q=${plan.burst};w=${window}, "cu";q=${limit};w=${seconds}`)
  reply.header('x-cu-reset', resetAt)
  const { rate } = request
  const rateLeft = rate === null ? '' : `"rate";r=${rate.left};t=${rate.secondsUntilFull}`
  const unitsLeft = remaining === undefined ? '' : `"cu";r=${remaining};t=${resetSeconds}`
  reply.header('ratelimit', rateLeft + (rateLeft !== '' && unitsLeft !== '' ? ', ' : '') + unitsLeft)
  if (remaining !== undefined) reply.header('x-cu-remaining', remaining)
}
