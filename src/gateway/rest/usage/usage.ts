import Type from 'typebox'
import type { LatestValues } from '../../../log/latest-values.ts'
import { billingMonth } from '../../access/metering/billing-month.ts'
import type { Balance, Meter } from '../../access/metering/meter.ts'
import { type DayUsage, readUsage, type UsageLedger } from '../../access/metering/usage-ledger.ts'
import { RequestError } from '../../http/problem.ts'
import type { Scope } from '../../http/scope.ts'
import { answerOf, integer, maybeInteger, text } from '../schemas.ts'

export type UsageContext = {
  readonly meter: Pick<Meter, 'freshBalance'>
  readonly ledger: Pick<UsageLedger, 'flush'>
  readonly usage: Pick<LatestValues, 'read'>
}

const MONTH = '^[0-9]{4}-(0[1-9]|1[0-2])$'

const operation = answerOf({ operation: text, requests: integer, cu: integer }, 'UsageOperation')
const day = answerOf({ day: text, operations: Type.Array(operation) }, 'UsageDay')
const answer = answerOf(
  {
    plan: text,
    month: text,
    cu_limit: integer,
    cu_used: integer,
    cu_remaining: maybeInteger,
    reset_at: maybeInteger,
    days: Type.Array(day),
  },
  'Usage',
)

const schema = {
  operationId: 'usage',
  summary: 'Usage of the key by day and operation',
  tags: ['Service'],
  querystring: Type.Object(
    { month: Type.Optional(Type.String({ pattern: MONTH })) },
    { additionalProperties: false },
  ),
  response: { 200: answer },
}

/** `GET /v2/usage`: the usage of the calling key; other keys are never visible. */
export function addUsage(scope: Scope, { meter, ledger, usage }: UsageContext): void {
  scope.get('/v2/usage', { schema, config: { cu: 0 } }, async (request) => {
    const { grant } = request
    if (grant === null)
      throw new RequestError('internal', 'internal server error; retry after the given delay')
    const current = billingMonth(Date.now()).name
    const month = request.query.month ?? current
    await ledger.flush(grant.keyId)
    const days = await readUsage(usage, grant.keyId, month)
    return {
      plan: grant.plan.name,
      month,
      cu_limit: grant.plan.cuPerMonth,
      ...(month === current
        ? presentState(await meter.freshBalance(grant), sumOf(days))
        : { cu_used: sumOf(days) }),
      days: days.map(({ day, operations }) => ({
        day,
        operations: [...operations].map(([operation, { requests, cu }]) => ({ operation, requests, cu })),
      })),
    }
  })
}

/** The other gateways report usage to Redis and NATS every second or two, each at its own time. */
function presentState({ limit, remaining = limit, resetAt }: Balance, written: number) {
  const used = Math.max(limit - remaining, written)
  return { cu_used: used, cu_remaining: Math.max(0, limit - used), reset_at: resetAt }
}

function sumOf(days: readonly DayUsage[]): number {
  return days.flatMap(({ operations }) => [...operations.values()]).reduce((sum, { cu }) => sum + cu, 0)
}
