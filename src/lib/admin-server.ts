import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'

export type AdminServer = { readonly port: number; close(): Promise<void> }

/** `undefined` when ready, else the reason why not. */
export type Readiness = () => string | undefined

/** What a role answers beside those below; `undefined` where it knows nothing of the path. */
export type AdminAnswer = (path: string) => object | undefined

/** `/healthz`: the process lives. `/readyz`: it can do its work now. `/metrics`: Prometheus text. */
export async function startAdminServer(options: {
  host: string
  port: number
  metrics: Registry
  readiness: Readiness
  answer: AdminAnswer
}): Promise<AdminServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = 'text/plain'): void => {
      response.writeHead(status, { 'content-type': type }).end(body)
    }
    switch (request.url) {
      case '/healthz':
        return answer(200, 'ok\n')
      case '/readyz': {
        const reason = options.readiness()
        return reason === undefined ? answer(200, 'ready\n') : answer(503, `${reason}\n`)
      }
      case '/metrics':
        options.metrics.metrics().then(
          (text) => answer(200, text, options.metrics.contentType),
          (error: Error) => answer(500, `${error.message}\n`),
        )
        return
      default: {
        const known = options.answer(request.url ?? '')
        if (known === undefined) return answer(404, 'not found\n')
        return answer(200, `${JSON.stringify(known)}\n`, 'application/json')
      }
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
