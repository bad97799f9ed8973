import type { FastifyReply } from 'fastify'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Scope } from '../scope.ts'

const LOOK_MS = 250

/**
 * What a handler waits for is a store: an answer that is not there in time waited too long for one. All requests under way
 * are looked through now and then, because a timer for each costs more than all that is checked of a request.
 */
export function answerInTime(app: Scope, withinMs: number): void {
  /** In the order they came. */
  const since = new Map<FastifyReply, number>()
  // Counted once the body is there: how long a client takes to send it is no fault of a store.
  app.addHook('preValidation', (_request, reply, done) => {
    since.set(reply, performance.now())
    done()
  })
  app.addHook('onResponse', (_request, reply, done) => {
    since.delete(reply)
    done()
  })
  const look = setInterval(() => {
    // At the next look it would be too late for those that came before this.
    const latest = performance.now() - withinMs + LOOK_MS
    for (const [reply, cameAt] of since) {
      if (cameAt > latest) break
      since.delete(reply)
      const isOver = reply.sent || reply.raw.headersSent || reply.raw.destroyed
      if (!isOver) reply.send(new ChaintapeError('store_unavailable', 'the stores timed out'))
    }
  }, LOOK_MS)
  look.unref()
  app.addHook('onClose', (_app, done) => {
    clearInterval(look)
    done()
  })
}
