import type { BlockHead } from '../../market/change-feed-follower.ts'
import type { MarketReader } from '../../market/market-view.ts'
import type { AnswerHeaders } from '../answer-headers.ts'
import type { Scope } from '../scope.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** The chains that the answer speaks of; set by the handler as soon as it knows them. */
    answerChains: readonly string[] | null
  }
}

export function setFreshnessHeaders(scope: Scope, view: Pick<MarketReader, 'head'>): void {
  scope.decorateReply('answerChains', null)
  scope.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.answerChains !== null) setHeadHeaders(reply, reply.answerChains, view)
    done()
  })
}

/** Adds the freshness headers: the head of the chain, or of the most lagging one if there are several. */
export function setHeadHeaders(
  reply: AnswerHeaders,
  chains: readonly string[],
  view: Pick<MarketReader, 'head'>,
): void {
  let oldest: BlockHead | undefined
  for (const chain of chains) {
    const head = view.head(chain)
    if (head !== undefined && (oldest === undefined || head.time < oldest.time)) oldest = head
  }
  if (oldest === undefined) return
  reply.header('x-block', oldest.number)
  reply.header('x-block-time', oldest.time)
  // A block may be stamped a little ahead of our clock.
  reply.header('x-lag-ms', Math.max(0, Date.now() - oldest.time * 1_000))
}
