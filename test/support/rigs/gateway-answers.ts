import assert from 'node:assert/strict'
import type { Gateway } from './gateway-world.ts'

export type Answer = Awaited<ReturnType<Gateway['get']>>

/** The headers that are ours; those that move with time and use are checked and then left out. */
export function ourHeaders({ headers }: Answer): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) => name.startsWith('x-'))
  const {
    'x-lag-ms': lag,
    'x-cu-remaining': remaining,
    'x-cu-reset': reset,
    ...rest
  } = Object.fromEntries(own)
  if (reset !== undefined) assert.ok(Number(reset) > Date.now() / 1_000, `reset ${reset}`)
  if (remaining !== undefined) assert.match(remaining, /^\d+$/)
  if (lag !== undefined) {
    const expected = Date.now() - Number(rest['x-block-time']) * 1_000
    assert.ok(Math.abs(Number(lag) - expected) < 5_000, `lag ${lag}`)
  }
  return rest
}

/** A problem's `instance` is the request id: checked, then left out. */
export function problemOf({ status, headers, body }: Answer) {
  assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8')
  const { instance, ...rest } = body as { instance: string }
  assert.match(instance, /^[0-9a-f-]{36}$/)
  return { http: status, ...rest }
}

/** What `problemOf` should show. */
export function expected(status: number, code: string, title: string, detail: string, errors?: object[]) {
  const document = { type: `urn:chaintape:error:${code}`, title, status, detail, code }
  return { http: status, ...document, ...(errors === undefined ? {} : { errors }) }
}
