import { isObject } from './faults.ts'
import type { Operation } from './operations.ts'
import type { Answer } from './requests.ts'
import type { World } from './world.ts'

const POLICY = /^"rate";q=\d+;w=\d+, "cu";q=\d+;w=\d+$/
const LIMIT = /^"rate";r=\d+;t=\d+, "cu";r=(\d+);t=\d+$/
const LAG_TOLERANCE_MS = 10_000

/** What the headers of an answer to a good key lack; `cost` is what it should have cost. */
export function unitFaults({ headers }: Answer, cost: number): string[] {
  const remaining = headers.get('x-cu-remaining') ?? 'nothing'
  const inLimit = LIMIT.exec(headers.get('ratelimit') ?? '')?.[1]
  return [
    ...differs('X-CU-Cost', headers.get('x-cu-cost'), String(cost)),
    ...(/^\d+$/.test(remaining) ? [] : [`X-CU-Remaining is ${remaining}`]),
    ...differs('X-CU-Reset', headers.get('x-cu-reset'), String(nextMonth())),
    ...(POLICY.test(headers.get('ratelimit-policy') ?? '') ? [] : ['RateLimit-Policy is not as documented']),
    ...differs('the units in RateLimit', inLimit, remaining),
  ]
}

export function freshnessFaults(
  { headers }: Answer,
  { head }: Pick<World, 'head'>,
  about: Operation['about'],
) {
  const names = ['x-block', 'x-block-time', 'x-lag-ms']
  if (about === 'no chain') return names.flatMap((name) => (headers.has(name) ? [`${name} is present`] : []))
  const lag = Number(headers.get('x-lag-ms') ?? Number.NaN)
  const expected = Date.now() - head.time * 1_000
  return [
    ...differs('X-Block', headers.get('x-block'), String(head.number)),
    ...differs('X-Block-Time', headers.get('x-block-time'), String(head.time)),
    ...(Math.abs(lag - expected) < LAG_TOLERANCE_MS ? [] : [`X-Lag-Ms is ${lag}`]),
  ]
}

/** Whether an answer is the problem it should be (RFC 9457), and points to what is wrong. */
export function problemFaults(
  { status, headers, body }: Answer,
  wanted: { readonly status: number; readonly code: string; readonly pointer?: string },
): string[] {
  if (!isObject(body)) return [`status ${status}: the body is no problem: ${JSON.stringify(body)}`]
  const { type, title, status: stated, detail, instance, code, errors, ...others } = body
  const pointers = Array.isArray(errors) ? errors.map((item: { pointer: string }) => item.pointer) : []
  const { pointer } = wanted
  return [
    ...differs('the status', status, wanted.status),
    ...differs('the code', code, wanted.code),
    ...differs('the status in the body', stated, status),
    ...differs('Content-Type', headers.get('content-type')?.split(';')[0], 'application/problem+json'),
    ...differs('the type', type, `urn:chaintape:error:${wanted.code}`),
    ...(typeof title === 'string' && title !== '' ? [] : ['there is no title']),
    ...(typeof detail === 'string' && detail !== '' ? [] : ['there is no detail']),
    ...(/^[0-9a-f-]{36}$/.test(String(instance)) ? [] : [`the instance is ${instance}`]),
    ...differs('other members', Object.keys(others).join(), ''),
    ...(pointer === undefined || pointers.includes(pointer) ? [] : [`points to ${pointers}, not ${pointer}`]),
  ]
}

export function differs(what: string, given: unknown, wanted: unknown): string[] {
  return given === wanted ? [] : [`${what} is ${JSON.stringify(given)}, not ${JSON.stringify(wanted)}`]
}

function nextMonth(): number {
  const now = new Date()
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) / 1_000
}
