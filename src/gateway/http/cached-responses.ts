import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RecentlyUsed } from '../../domain/recently-used.ts'
import type { Grant, KeyRing } from '../access/keys/key-ring.ts'
import type { Meter } from '../access/metering/meter.ts'
import type { SharedBucket } from '../access/metering/shared-bucket.ts'
import type { Answer, AnswerCache } from '../cache/answer-cache.ts'
import type { MarketReader } from '../market/market-view.ts'
import { HeaderList } from './answer-headers.ts'
import type { CountRequest, GatewayMetrics } from './metrics.ts'
import { chargedFor, setLimitHeaders } from './plugins/cost.ts'
import { laggingHead, setHeadHeaders } from './plugins/freshness.ts'
import type { Scope } from './scope.ts'
import { JSON_TYPE } from './send-json.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** What the whole answer is called in the cache; set by the handler of an operation whose answers are kept. */
    keptAs: string | null
  }
}

export type ReadyOptions = {
  readonly answers: Pick<AnswerCache<Answer>, 'get'>
  readonly check: KeyRing['check']
  readonly bucketOf: (grant: Grant) => SharedBucket
  readonly meter: Pick<Meter, 'chargeNow' | 'balance'>
  readonly view: Pick<MarketReader, 'head'>
  readonly metrics: Pick<GatewayMetrics, 'countRequests'>
}

/** What is known of a URL that was answered: everything but the answer, which the cache may have dropped since. */
type Ready = {
  readonly keptAs: string
  readonly chains: readonly string[]
  readonly operation: string
  readonly cu: number
  readonly count: CountRequest
}

const MOST_URLS = 50_000
/** Ids are shorter; only what nobody needs (escapes, empty queries) makes a URL longer. */
const MOST_CHARACTERS = 256

/**
 * Answers what was asked before and is still true straight from the cache, before the framework looks at the request: its
 * routing, validation and hooks take longer than all that has to be done here. Whatever is not plain sailing (a URL
 * or an answer that is not there, a key that is refused, units that are not at hand, a rate that is exceeded) is left to
 * the framework, and then nothing has happened yet.
 */
export class CachedResponses {
  readonly #options: ReadyOptions
  readonly #byUrl = new RecentlyUsed<Ready>(MOST_URLS)

  constructor(options: ReadyOptions) {
    this.#options = options
  }

  /** Learns from what the operations of this scope answer. */
  learnFrom(scope: Scope): void {
    scope.decorateReply('keptAs', null)
    scope.addHook('onSend', (request, reply, _payload, done) => {
      if (reply.keptAs !== null && reply.statusCode === 200) this.#learn(request, reply, reply.keptAs)
      done()
    })
  }

  /** False if it is left to the framework. */
  tryAnswer(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET') return false
    const startedMs = performance.now()
    const ready = this.#byUrl.get(request.url ?? '')
    if (ready === undefined) return false
    const { headers } = request
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false
    const { answers, check, bucketOf, meter, view } = this.#options
    const grant = check(headers['x-api-key'])
    if (typeof grant === 'string') return false
    const answer = answers.get(ready.keptAs)
    if (answer === undefined) return false
    const bucket = bucketOf(grant)
    if (!bucket.take()) return false
    if (!meter.chargeNow(grant, ready.operation, ready.cu)) {
      bucket.giveBack()
      return false
    }
    // In Fastify's order, so that both paths return identical headers.
    const responseHeaders = new HeaderList()
    responseHeaders.header('content-type', JSON_TYPE)
    responseHeaders.header('x-cu-cost', ready.cu)
    setHeadHeaders(responseHeaders, laggingHead(ready.chains, view))
    setLimitHeaders(responseHeaders, grant, bucket, meter)
    responseHeaders.header('content-length', Buffer.byteLength(answer.json))
    response.writeHead(200, responseHeaders.list)
    response.end(answer.json)
    ready.count(200, performance.now() - startedMs)
    return true
  }

  #learn(request: FastifyRequest, { answerChains }: FastifyReply, keptAs: string): void {
    const { method, url = '' } = request.routeOptions
    const asked = request.raw.url ?? ''
    if (method !== 'GET' || asked.length > MOST_CHARACTERS) return
    this.#byUrl.set(asked, {
      keptAs,
      chains: answerChains ?? [],
      ...chargedFor(request.routeOptions),
      count: this.#options.metrics.countRequests(url),
    })
    this.#byUrl.evict()
  }
}
