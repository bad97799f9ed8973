import type { FastifyReply } from 'fastify'
import type { MarketReader } from '../../market/market-view.ts'
import type { Scope } from '../scope.ts'
import { laggingHead } from './freshness.ts'

type View = Pick<MarketReader, 'head' | 'switches'>

/** A gateway that catches up gets blocks faster than it answers, and slow answers would be made again at every block. */
const MOST_READINGS = 3
const QUICK_MS = 100
/** Headers by which handlers say what an answer lacks. */
const SET_BY_HANDLERS = ['x-pending-ids', 'x-unavailable-chains', 'retry-after']

/**
 * An answer that was made while a block arrived may have parts of two blocks, and only one is in its header: it is made again.
 * So is one that was made while a chain switched to another generation, however often that happens. An answer from the
 * cache was sent at once, and the cache drops what a block or a switch changed.
 */
export function answerFromOneReading(
  scope: Scope,
  view: View,
  now: () => number = () => performance.now(),
): void {
  scope.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function handle(request, reply) {
      const answer = () => handler.call(this, request, reply)
      const first = answer()
      return first instanceof Promise ? settle(first, answer, view, reply, now) : first
    }
  })
}

async function settle(
  first: Promise<unknown>,
  answer: () => unknown,
  view: View,
  reply: FastifyReply,
  now: () => number,
): Promise<unknown> {
  const startedAtMs = now()
  let made: unknown = first
  for (let readings = 1; ; readings++) {
    // Nothing arrived since the handler was called: it has only run up to its first read.
    const { switches } = view
    const heads = headsOf(reply, view)
    try {
      const payload = await made
      if (reply.sent) return payload
      const hasMoved = headsOf(reply, view).some((head, index) => head !== heads[index])
      const isLast = readings === MOST_READINGS || now() - startedAtMs > QUICK_MS
      if (view.switches === switches && (!hasMoved || isLast)) {
        // Taken now, because the next block may arrive before the headers are set.
        reply.answerHead = laggingHead(reply.answerChains ?? [], view) ?? null
        return payload
      }
    } catch (error) {
      if (view.switches === switches || reply.sent) throw error
    }
    for (const name of SET_BY_HANDLERS) reply.removeHeader(name)
    made = answer()
  }
}

/** Each change set has a head of its own, so another object means another position. */
function headsOf({ answerChains }: FastifyReply, view: View): ReturnType<View['head']>[] {
  return (answerChains ?? []).map((chain) => view.head(chain))
}
