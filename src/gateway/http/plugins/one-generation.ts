import type { FastifyReply } from 'fastify'
import type { MarketReader } from '../../market/market-view.ts'
import type { Scope } from '../scope.ts'

/**
 * An answer that was made while a chain switched to another generation may be of both: it is made again. An answer from
 * the cache was sent at once, and the cache is cleared by a switch.
 */
export function answerFromOneGeneration(scope: Scope, view: Pick<MarketReader, 'switches'>): void {
  scope.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function handle(request, reply) {
      const answer = () => handler.call(this, request, reply)
      const before = view.switches
      const first = answer()
      return first instanceof Promise ? settle(first, before, answer, view, reply) : first
    }
  })
}

async function settle(
  first: Promise<unknown>,
  before: number,
  answer: () => unknown,
  view: Pick<MarketReader, 'switches'>,
  reply: FastifyReply,
): Promise<unknown> {
  try {
    const made = await first
    if (view.switches === before || reply.sent) return made
  } catch (error) {
    if (view.switches === before || reply.sent) throw error
  }
  const switches = view.switches
  return settle(Promise.resolve(answer()), switches, answer, view, reply)
}
