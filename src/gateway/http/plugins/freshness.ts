import type { BlockHead } from '../../market/change-feed-follower.ts'
import type { MarketReader } from '../../market/market-view.ts'
import type { AnswerHeaders } from '../answer-headers.ts'
import type { Scope } from '../scope.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** The chains that the answer speaks of; set by the handler before its first read. */
    answerChains: readonly string[] | null
    /** The head that an answer was made at; without it, the answer is as of the moment that it is sent. */
    answerHead: BlockHead | null
  }
}

export function setFreshnessHeaders(scope: Scope, view: Pick<MarketReader, 'head'>): void {
  scope.decorateReply('answerChains', null)
  scope.decorateReply('answerHead', null)
  scope.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.answerChains !== null)
      setHeadHeaders(reply, reply.answerHead ?? laggingHead(reply.answerChains, view))
    done()
  })
}

/** The head of the chain, or of the most lagging one if there are several. */
export function laggingHead(
  chains: readonly string[],
  view: Pick<MarketReader, 'head'>,
): BlockHead | undefined {
  let oldest: BlockHead | undefined
  for (const chain of chains) {
    const head = view.head(chain)
    if (head !== undefined && (oldest === undefined || head.time < oldest.time)) oldest = head
  }
  return oldest
}

export function setHeadHeaders(reply: AnswerHeaders, head: BlockHead | undefined): void {
  if (head === undefined) return
  reply.header('x-block', head.number)
  reply.header('x-block-time', head.time)
  // A block may be stamped a little ahead of our clock.
  reply.header('x-lag-ms', Math.max(0, Date.now() - head.time * 1_000))
}
