import type { onResponseHookHandler } from 'fastify'
import type { GatewayMetrics } from '../metrics.ts'
import type { Scope } from '../scope.ts'

/** Counts and times responses, by route and status. */
export function countRequests(app: Scope, metrics: Pick<GatewayMetrics, 'countRequests'>): void {
  const counting = (route: string): onResponseHookHandler => {
    const count = metrics.countRequests(route)
    return (_request, { statusCode, elapsedTime }, done) => {
      count(statusCode, elapsedTime)
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
