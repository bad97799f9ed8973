import type { IncomingMessage, ServerResponse } from 'node:http'
import { EXPOSED_HEADERS } from './response-headers.ts'
import type { Interceptor } from './server.ts'

/** In `gateway.allowed_origins`: pages of every origin. */
export const ANY_ORIGIN = '*'

/** A day; Chromium caps it at two hours. */
const PREFLIGHT_SECONDS = 86_400

/**
 * Adds CORS headers to every response to a browser and answers preflights, before the framework and the cached response
 * fast path see the request (docs/decisions/0047). Credentials are never allowed, so a literal `*` is safe: browsers hide
 * the response from a page that sent cookies.
 */
export function allowOrigins(
  allowed: readonly string[],
  countPreflight: (status: number) => void,
): Interceptor {
  if (allowed.length === 0) return () => false
  const isAny = allowed.includes(ANY_ORIGIN)
  const listed = new Set(allowed.map((origin) => origin.toLowerCase()))
  return (request, response) => {
    const { origin } = request.headers
    if (!isAny) response.setHeader('vary', 'Origin')
    if (origin === undefined || !(isAny || listed.has(origin.toLowerCase()))) return false
    response.setHeader('access-control-allow-origin', isAny ? ANY_ORIGIN : origin)
    if (isPreflight(request)) {
      answerPreflight(response)
      countPreflight(204)
      return true
    }
    response.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
    return false
  }
}

/** A body is never read here: the framework refuses it. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  )
}

function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'Content-Type, X-API-KEY',
    'access-control-max-age': `${PREFLIGHT_SECONDS}`,
  })
  response.end()
}
