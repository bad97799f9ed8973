import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Gauge, type Registry } from 'prom-client'
import type { Logger } from './logger.ts'
import { scrub } from './secrets.ts'

export type AdminServer = { readonly port: number; close(): Promise<void> }

/** `undefined` when ready, otherwise the reason. */
export type Readiness = () => string | undefined

/** The role's own paths besides those below; `undefined` for an unknown path. */
export type AdminAnswer = (path: string) => object | undefined

type Response = { readonly status: number; readonly body: string; readonly type?: string }

/** Longer than any path below and than any token id. */
const MAX_PATH_LETTERS = 256

/** `/healthz`: the process runs. `/readyz`: it can work now. `/metrics`: Prometheus text. */
export async function startAdminServer(options: {
  host: string
  port: number
  metrics: Registry
  readiness: Readiness
  /** Notes for an operator that do not affect readiness, one line each. */
  details: () => readonly string[]
  answer: AdminAnswer
  logger: Logger
}): Promise<AdminServer> {
  new Gauge({
    name: 'chaintape_ready',
    help: '1 if /readyz returns 200, and 0 if it returns 503',
    registers: [options.metrics],
    collect() {
      this.set(options.readiness() === undefined ? 1 : 0)
    },
  })
  const respond = async (path: string): Promise<Response> => {
    if (path.length > MAX_PATH_LETTERS) return { status: 400, body: 'path too long\n' }
    switch (path) {
      case '/healthz':
        return { status: 200, body: 'ok\n' }
      case '/readyz': {
        const reason = options.readiness()
        const body = scrub([reason ?? 'ready', ...options.details(), ''].join('\n'))
        return { status: reason === undefined ? 200 : 503, body }
      }
      case '/metrics':
        return {
          status: 200,
          body: scrub(await options.metrics.metrics()),
          type: options.metrics.contentType,
        }
      default: {
        const known = options.answer(path)
        if (known === undefined) return { status: 404, body: 'not found\n' }
        return { status: 200, body: scrub(`${JSON.stringify(known)}\n`), type: 'application/json' }
      }
    }
  }
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    // An exception that escapes this handler would end the process, and with it all work of the role.
    const { status, body, type } = await respond(path).catch((error: unknown): Response => {
      options.logger.error({ err: error, path }, 'Admin request failed')
      return { status: 500, body: 'internal error; see the log\n' }
    })
    response.writeHead(status, { 'content-type': type ?? 'text/plain' }).end(body)
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
