import type { Scope } from '../scope.ts'

type QuerySchema = { readonly properties?: Record<string, { readonly type?: string }> }

const PLAIN_INTEGER = /^-?\d{1,15}$/

/** A query is text: what its schema calls an integer is read as one, if it is written as one. */
export function readQueryIntegers(scope: Scope): void {
  scope.addHook('preValidation', async (request) => {
    const { properties } = (request.routeOptions.schema?.querystring ?? {}) as QuerySchema
    const query = request.query as Record<string, unknown>
    for (const [name, { type }] of Object.entries(properties ?? {})) {
      const given = query[name]
      if (type === 'integer' && typeof given === 'string' && PLAIN_INTEGER.test(given)) {
        query[name] = Number(given)
      }
    }
  })
}
