import type { MarketReader } from '../market-view.ts'
import type { Scope } from '../scope.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** The chains that the answer speaks of; set by the handler as soon as it knows them. */
    answerChains: readonly string[] | null
  }
}

/** Tells how old an answer is: the head of its chain, or of the most lagging one if there are several. */
export function tellFreshness(scope: Scope, view: Pick<MarketReader, 'head'>): void {
  scope.decorateReply('answerChains', null)
  scope.addHook('onSend', async (_request, reply) => {
    const heads = (reply.answerChains ?? []).flatMap((chain) => view.head(chain) ?? [])
    const [first, ...others] = heads
    if (first === undefined) return
    const oldest = others.reduce((a, b) => (b.time < a.time ? b : a), first)
    reply.headers({
      'x-block': oldest.number,
      'x-block-time': oldest.time,
      // A block may be stamped a little ahead of our clock.
      'x-lag-ms': Math.max(0, Date.now() - oldest.time * 1_000),
    })
  })
}
