import type { FastifyReply, FastifyRequest } from 'fastify'
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
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-cu-cost', 0)
  })
}

/**
 * Sets an operation's cost aside once the request is known to be well-formed, charges it if the answer is a success,
 * and tells on every answer what is left.
 */
export function meterRequests(scope: Scope, meter: Pick<Meter, 'open' | 'balance'>): void {
  scope.decorateRequest('bill', null)
  scope.addHook('preHandler', async (request, reply) => {
    const { grant } = request
    if (grant === null) return
    const { config, method, url } = request.routeOptions
    const opened = await meter.open(grant, `${method} ${url}`, config.cu ?? 0)
    if ('reason' in opened) throw refused(opened, reply)
    request.bill = opened
  })
  // The last thing that can still change the answer: from here on it is sent.
  scope.addHook('onSend', async (request, reply) => {
    const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300
    if (request.bill !== null && isSuccess) {
      request.bill.charge()
      reply.header('x-cu-cost', request.routeOptions.config.cu ?? 0)
    } else request.bill?.release()
    request.bill = null
    if (request.grant !== null) tellLimits(request, reply, request.grant, meter)
  })
  // A request that never got an answer.
  scope.addHook('onResponse', async (request) => request.bill?.release())
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
  const { remaining, resetAt, limit } = meter.balance(grant)
  const resetSeconds = Math.max(0, resetAt - Math.floor(Date.now() / 1_000))
  const window = Math.ceil(plan.burst / plan.requestsPerSecond)
  const { seconds } = billingMonth(new Date())
  reply.header('ratelimit-policy', `"rate";q=${plan.burst};w=${window}, "cu";q=${limit};w=${seconds}`)
  reply.header('x-cu-reset', resetAt)
  const left: string[] = []
  if (request.rate !== null) left.push(`"rate";r=${request.rate.left};t=${request.rate.secondsUntilFull}`)
  if (remaining !== undefined) {
    left.push(`"cu";r=${remaining};t=${resetSeconds}`)
    reply.header('x-cu-remaining', remaining)
  }
  reply.header('ratelimit', left.join(', '))
}
