import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { Logger } from '../lib/logger.ts'
import type { KeyRing } from './access/keys/key-ring.ts'
import type { Meter } from './access/metering/meter.ts'
import type { SharedRates } from './access/metering/shared-rates.ts'
import { CachedResponses } from './http/cached-responses.ts'
import { type ConnectionLimit, connectionLimit } from './http/connection-limit.ts'
import { allowOrigins } from './http/cors.ts'
import { addHomePage } from './http/home-page.ts'
import type { GatewayMetrics } from './http/metrics.ts'
import { describeApi } from './http/openapi.ts'
import { requireApiKey } from './http/plugins/auth.ts'
import { parseJsonBodies } from './http/plugins/body.ts'
import { takeChartToken } from './http/plugins/chart-token.ts'
import { meterRequests, setNoCostHeader } from './http/plugins/cost.ts'
import { countRequests } from './http/plugins/count.ts'
import { answerInTime } from './http/plugins/deadline.ts'
import { setFreshnessHeaders } from './http/plugins/freshness.ts'
import { limitHistoryReads } from './http/plugins/history-reads.ts'
import { answerFromOneReading } from './http/plugins/one-reading.ts'
import { answerBrokenClient, answerProblems, sendProblem } from './http/plugins/problem.ts'
import { limitRate } from './http/plugins/rate.ts'
import type { Scope } from './http/scope.ts'
import { createHttpServer } from './http/server.ts'
import { addStatus } from './rest/chains/status.ts'
import type { RestContext } from './rest/context.ts'
import { addOperations } from './rest/operations.ts'
import { addUsage, type UsageContext } from './rest/usage/usage.ts'
import { addTerminal } from './terminal/terminal.ts'
import type { TerminalFiles } from './terminal/terminal-files.ts'
import { describeSockets } from './ws/asyncapi.ts'

export type AppOptions = RestContext & {
  /** The equivalent hosts, as clients know them. */
  readonly publicUrls: readonly string[]
  /** Origins whose pages may read responses; `*` is every origin. */
  readonly allowedOrigins: readonly string[]
  readonly connectionLimit: ConnectionLimit
  /** The web terminal, if it is served. */
  readonly terminal: TerminalFiles | undefined
  readonly check: KeyRing['check']
  readonly checkChart: KeyRing['checkChart']
  readonly meter: Meter
  /** The request rate of a key. */
  readonly bucketOf: SharedRates['bucketOf']
  readonly ledger: UsageContext['ledger']
  readonly usage: UsageContext['usage']
  readonly metrics: Pick<GatewayMetrics, 'countRequests'>
  readonly logger: Logger
}

/** Longer than the store may take, shorter than the grace of a shutdown. */
const HANDLER_MS = 8_000

/** The REST side of the gateway, not listening yet. */
export function createApp(options: AppOptions): Scope {
  const cached = new CachedResponses(options)
  const app = fastify({
    loggerInstance: options.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    rewriteUrl: takeChartToken,
    // 200 token-ids of the longest form fit.
    bodyLimit: 32 * 1_024,
    // A request on a connection that was open is answered, with `Connection: close`; the stores close later.
    return503OnClosing: false,
    serverFactory: (framework): Server =>
      createHttpServer(framework, {
        admit: connectionLimit(options.connectionLimit),
        interceptors: [
          allowOrigins(options.allowedOrigins, options.metrics.countRequests('preflight')),
          // While the server closes, Fastify also closes the connection.
          (request, response) => app.server.listening && cached.tryAnswer(request, response),
        ],
      }),
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 128 },
    // A request is refused rather than bent into shape.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: true } },
    frameworkErrors: sendProblem,
    clientErrorHandler: answerBrokenClient,
  }).withTypeProvider<TypeBoxTypeProvider>()
  // Answers are built field by field; a schema-driven serializer could only drop or bend some of them.
  // What is logged of a request names it; a logger for each would cost every request for the sake of a few.
  app.setChildLoggerFactory((logger) => logger)
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer))
  answerProblems(app)
  parseJsonBodies(app)
  answerInTime(app, HANDLER_MS)
  setNoCostHeader(app)
  countRequests(app, options.metrics)
  describeApi(app, options.publicUrls)
  if (options.terminal === undefined) addHomePage(app)
  else addTerminal(app, options.terminal)
  describeSockets(app, options.publicUrls)
  app.register(async (scope) => {
    requireApiKey(scope, options)
    limitRate(scope, options.bucketOf)
    setFreshnessHeaders(scope, options.view)
    meterRequests(scope, options.meter)
    limitHistoryReads(scope)
    answerFromOneReading(scope, options.view)
    cached.learnFrom(scope)
    addOperations(scope, options)
    addUsage(scope, options)
  })
  app.register(async (scope) => addStatus(scope, options))
  return app
}
