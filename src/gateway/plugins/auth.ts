import { RequestError } from '../problem.ts'
import type { Scope } from '../scope.ts'

/** Refuses every request of this scope that does not carry the key, before its body is read. */
export function requireApiKey(scope: Scope, isKey: (given: string) => boolean): void {
  scope.addHook('onRequest', async (request) => {
    const given = request.headers['x-api-key']
    if (typeof given !== 'string' || !isKey(given)) {
      throw new RequestError('unauthorized', 'send a valid API key in the X-API-KEY header')
    }
  })
}
