import { VERSION } from '../../lib/version.ts'
import type { Scope } from './scope.ts'

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Chaintape</title>
<style>
  :root { color-scheme: light dark }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }
  code { font-family: ui-monospace, monospace }
</style>
<h1>Chaintape ${VERSION}</h1>
<p>On-chain market data over REST and WebSocket. Calls need an API key in the header <code>X-API-KEY</code>.</p>
<ul>
  <li><a href="docs">API documentation</a>: try every REST operation</li>
  <li><a href="openapi.json">OpenAPI</a> and <a href="asyncapi.json">AsyncAPI</a> documents</li>
  <li><code>/ws</code>: WebSocket, JSON-RPC 2.0</li>
  <li><a href="v2/status">Status</a> of each chain, without a key</li>
</ul>
</html>
`

/** `GET /`: where to go from here, for a person with a browser. Links are relative, so that they work behind a path prefix. */
export function addHomePage(app: Scope): void {
  app.get('/', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .send(PAGE),
  )
}
