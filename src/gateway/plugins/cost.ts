import type { Scope } from '../scope.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a successful answer costs, in credit units. */
    cu?: number
  }
}

/** Tells the price of an answer; only a successful one has a price. */
export function tellCost(scope: Scope): void {
  scope.addHook('onSend', async (request, reply) => {
    const { cu } = request.routeOptions.config
    if (cu !== undefined && reply.statusCode === 200) reply.header('x-cu-cost', cu)
  })
}
