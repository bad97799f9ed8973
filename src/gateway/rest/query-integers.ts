import type { preValidationHookHandler } from 'fastify'
import type { Scope } from '../http/scope.ts'

type QuerySchema = { readonly properties?: Record<string, { readonly type?: string }> }

const PLAIN_INTEGER = /^-?\d{1,15}$/

/** A query is text: what its schema calls an integer is read as one, if it is written as one. */
export function readQueryIntegers(scope: Scope): void {
  scope.addHook('onRoute', (route) => {
    const { properties = {} } = (route.schema?.querystring ?? {}) as QuerySchema
    const names = Object.keys(properties).filter((name) => properties[name]?.type === 'integer')
    if (names.length === 0) return
    const readIntegers: preValidationHookHandler = (request, _reply, done) => {
      const query = request.query as Record<string, unknown>
      for (const name of names) {
        const given = query[name]
        if (typeof given === 'string' && PLAIN_INTEGER.test(given)) query[name] = Number(given)
      }
      done()
    }
    route.preValidation = [readIntegers, ...[route.preValidation ?? []].flat()]
  })
}
