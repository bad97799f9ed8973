import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { RequestError } from '../http/problem.ts'
import type { Scope } from '../http/scope.ts'
import type { TerminalFile, TerminalFiles } from './terminal-files.ts'

/**
 * Scripts, styles and data of the gateway's own host only: names of tokens are hostile text, and a logo on another host
 * would reveal to that host who looks at which token. `'self'` includes the WebSocket.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const SAFE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Revalidated each time: it names the current assets, and holds the current key. */
const PAGE_CACHING = 'no-cache'
/** A year; another content has another name. */
const ASSET_CACHING = 'public, max-age=31536000, immutable'

const schema = { hide: true }
const assetSchema = { ...schema, params: Type.Object({ name: Type.String() }) }

/** The web terminal: `GET /` and its assets. Everything else stays as it is. */
export function addTerminal(app: Scope, { page, assets }: TerminalFiles): void {
  app.get('/', { schema }, (request, reply) => sendFile(request, reply, page, PAGE_CACHING))
  app.get('/assets/:name', { schema: assetSchema }, (request, reply) => {
    const asset = assets.get(request.params.name)
    if (asset === undefined)
      throw new RequestError('not_found', 'no such file of the terminal; reload the page')
    return sendFile(request, reply, asset, ASSET_CACHING)
  })
}

function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { type, body, gzipped, etag }: TerminalFile,
  caching: string,
): FastifyReply {
  // CORS may have set one.
  const vary = [reply.raw.getHeader('vary'), 'Accept-Encoding'].filter((value) => value !== undefined)
  reply.headers({ ...SAFE_HEADERS, 'cache-control': caching, etag, vary: vary.join(', ') })
  if (headers['if-none-match'] === etag) return reply.code(304).send()
  reply.type(type)
  if (!acceptsGzip(headers['accept-encoding'])) return reply.send(body)
  return reply.header('content-encoding', 'gzip').send(gzipped)
}

function acceptsGzip(accepted: string | string[] | undefined): boolean {
  return /(^|,)\s*gzip\s*(;\s*q=(1|0\.\d*[1-9])[^,]*)?\s*(,|$)/i.test(String(accepted ?? ''))
}
