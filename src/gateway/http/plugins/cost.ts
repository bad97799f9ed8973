import type { FastifyReply, preHandlerHookHandler } from 'fastify'
import { QueryTimeout } from '../../../domain/errors.ts'
import type { Grant } from '../../access/keys/key-ring.ts'
import type { Plan } from '../../access/keys/plan.ts'
import type { Refusal } from '../../access/metering/account-state.ts'
import { billingMonth } from '../../access/metering/billing-month.ts'
import type { Bill, Meter } from '../../access/metering/meter.ts'
import type { SharedBucket } from '../../access/metering/shared-bucket.ts'
import type { AnswerHeaders } from '../answer-headers.ts'
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
    /** A query of the request was ended because it took too long: it is charged all the same. */
    isTimedOut: boolean
  }
}

type ChargedRoute = {
  readonly method: string | readonly string[]
  readonly url?: string | undefined
  readonly config?: { readonly cu?: number } | undefined
}

const UNAVAILABLE_RETRY_SECONDS = 1

/** An answer costs nothing unless something below says otherwise. */
export function setNoCostHeader(app: Scope): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.header('x-cu-cost', 0)
    done()
  })
}

/**
 * Reserves an operation's cost once the request is valid, charges it if the response is a success or a query timed out,
 * and reports the remaining units on every response.
 */
export function meterRequests(scope: Scope, meter: Pick<Meter, 'open' | 'balance'>): void {
  scope.decorateRequest('bill', null)
  scope.decorateRequest('isTimedOut', false)
  scope.addHook('onRoute', (route) => {
    const { operation, cu } = chargedFor(route)
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
  scope.addHook('onError', (request, _reply, error, done) => {
    if (error instanceof QueryTimeout) request.isTimedOut = true
    done()
  })
  // The last thing that can still change the answer: from here on it is sent.
  scope.addHook('onSend', (request, reply, _payload, done) => {
    const { bill, grant } = request
    const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300
    if (bill !== null && (isSuccess || request.isTimedOut)) {
      bill.charge()
      reply.header('x-cu-cost', bill.cu)
    } else bill?.release()
    request.bill = null
    if (grant !== null) setLimitHeaders(reply, grant, request.rate, meter)
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
    return new RequestError(
      'metering_unavailable',
      'credit units cannot be metered; retry after the given delay',
    )
  }
  const now = Date.now()
  const resetSeconds = billingMonth(now).endsAt - Math.floor(now / 1_000)
  reply.header('retry-after', retryMs === undefined ? resetSeconds : Math.ceil(retryMs / 1_000))
  return new RequestError(
    'quota_exhausted',
    "the plan's credit units of this month are exhausted; retry after the given delay",
  )
}

/** What a route is called in a key's usage, and what it costs. */
export function chargedFor(route: ChargedRoute): { readonly operation: string; readonly cu: number } {
  return { operation: `${route.method} ${route.url}`, cu: route.config?.cu ?? 0 }
}

const policies = new WeakMap<Plan, { readonly seconds: number; readonly text: string }>()

/** As text; only months of another length change it. */
function policyOf(plan: Plan, seconds: number): string {
  const known = policies.get(plan)
  if (known?.seconds === seconds) return known.text
  const { burst, requestsPerSecond, cuPerMonth } = plan
  const window = Math.ceil(burst / requestsPerSecond)
  const text = `"rate";q=${burst};w=${window}, "cu";q=${cuPerMonth};w=${seconds}`
  policies.set(plan, { seconds, text })
  return text
}

/** `RateLimit` and `RateLimit-Policy`: draft-ietf-httpapi-ratelimit-headers. */
export function setLimitHeaders(
  reply: AnswerHeaders,
  grant: Grant,
  rate: Pick<SharedBucket, 'left' | 'secondsUntilFull'> | null,
  meter: Pick<Meter, 'balance'>,
): void {
  const { plan } = grant
  const now = Date.now()
  const { remaining, resetAt } = meter.balance(grant, now)
  const resetSeconds = Math.max(0, resetAt - Math.floor(now / 1_000))
  reply.header('ratelimit-policy', policyOf(plan, billingMonth(now).seconds))
  reply.header('x-cu-reset', resetAt)
  const rateLeft = rate === null ? '' : `"rate";r=${rate.left};t=${rate.secondsUntilFull}`
  if (remaining === undefined) return void reply.header('ratelimit', rateLeft)
  const left = `${remaining}`
  reply.header('ratelimit', `${rateLeft}${rateLeft === '' ? '' : ', '}"cu";r=${left};t=${resetSeconds}`)
  reply.header('x-cu-remaining', left)
}
