import type { onResponseHookHandler } from 'fastify'
import type { GatewayMetrics } from '../metrics.ts'
import type { Scope } from '../scope.ts'

/** Counts what was answered, by route and status. */
export function countRequests(app: Scope, { requests }: Pick<GatewayMetrics, 'requests'>): void {
  const counting = (route: string): onResponseHookHandler => {
    const byStatus = new Map<number, { inc(): void }>()
    return (_request, { statusCode }, done) => {
      let counter = byStatus.get(statusCode)
      if (counter === undefined) {
        counter = requests.labels({ route, status: statusCode })
        byStatus.set(statusCode, counter)
      }
      counter.inc()
      done()
    }
  }
  app.addHook('onRoute', (route) => {
    route.onResponse = [counting(route.url), ...[route.onResponse ?? []].flat()]
  })
  const countUnknown = counting('unknown')
  app.addHook('onResponse', (request, reply, done) => {
    if (request.is404) countUnknown.call(app, request, reply, done)
    else done()
  })
}
