import type { Grant, KeyRing } from '../../access/keys/key-ring.ts'
import { keyRefused } from '../key-refusal.ts'
import type { Scope } from '../scope.ts'
import { chartTokenOf } from './chart-token.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The key of the request; null until it is authenticated. */
    grant: Grant | null
  }
}

/** Refuses every request of this scope that does not carry a good key, before its body is read. */
export function requireApiKey(
  scope: Scope,
  { check, checkChart }: Pick<KeyRing, 'check' | 'checkChart'>,
): void {
  scope.decorateRequest('grant', null)
  scope.addHook('onRequest', (request, _reply, done) => {
    const given = request.headers['x-api-key']
    const chartToken = chartTokenOf(request.raw)
    const checked = chartToken === undefined ? check(given) : checkChart(chartToken)
    if (typeof checked === 'string') return done(keyRefused(checked, given))
    request.grant = checked
    done()
  })
}
