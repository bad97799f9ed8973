import { RequestError } from '../problem.ts'
import type { RestContext } from './context.ts'

/** A chain named by a parameter of the query. */
export function knownChain(chain: string, familyOf: RestContext['familyOf']): string {
  if (familyOf(chain) !== undefined) return chain
  throw new RequestError('unknown_chain', 'the chain is not one of those served', [
    { pointer: '#/chain', detail: 'is not one of those served: see GET /v2/chains' },
  ])
}
