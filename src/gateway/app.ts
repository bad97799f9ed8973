import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { Logger } from '../lib/logger.ts'
import type { GatewayMetrics } from './metrics.ts'
import { requireApiKey } from './plugins/auth.ts'
import { tellCost } from './plugins/cost.ts'
import { tellFreshness } from './plugins/freshness.ts'
import { answerBrokenClient, answerProblems, sendProblem } from './plugins/problem.ts'
import type { RestContext } from './rest/context.ts'
import { addPairDetail } from './rest/pairs/pair-detail.ts'
import { addTokenDetail } from './rest/tokens/token-detail.ts'
import { addTokenPrices } from './rest/tokens/token-prices.ts'
import type { Scope } from './scope.ts'

export type AppOptions = RestContext & {
  readonly isKey: (given: string) => boolean
  readonly metrics: Pick<GatewayMetrics, 'requests'>
  readonly logger: Logger
}

/** The REST side of the gateway, not listening yet. */
export function createApp(options: AppOptions): Scope {
  const app = fastify({
    loggerInstance: options.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    // 200 token-ids of the longest form fit.
    bodyLimit: 32 * 1_024,
    requestTimeout: 10_000,
    // Longer than the store may take, shorter than the grace of a shutdown.
    handlerTimeout: 8_000,
    keepAliveTimeout: 60_000,
    connectionTimeout: 75_000,
    // Node looks for overdue requests only every 30 s unless told otherwise.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 },
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 128 },
    // A request is refused rather than bent into shape.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: true } },
    frameworkErrors: sendProblem,
    clientErrorHandler: answerBrokenClient,
  }).withTypeProvider<TypeBoxTypeProvider>()
  // Answers are built field by field; a schema-driven serializer could only drop or bend some of them.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer))
  answerProblems(app)
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    options.metrics.requests.inc({ route, status: reply.statusCode })
  })
  app.register(async (scope) => {
    requireApiKey(scope, options.isKey)
    tellCost(scope)
    tellFreshness(scope, options.view)
    addPairDetail(scope, options)
    addTokenDetail(scope, options)
    addTokenPrices(scope, options)
  })
  return app
}
