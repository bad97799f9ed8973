import type { FastifyReply } from 'fastify'
import { RequestError } from '../http/problem.ts'
import type { MarketReader } from '../market/market-view.ts'
import type { ChainInfo, RestContext } from './context.ts'

/** A chain named by a parameter of the query. */
export function knownChain(chain: string, familyOf: RestContext['familyOf']): string {
  if (familyOf(chain) !== undefined) return chain
  throw new RequestError('unknown_chain', 'unknown chain; see GET /v2/chains', [
    { pointer: '#/chain', detail: 'unknown chain; see GET /v2/chains' },
  ])
}

/** For answers about several chains: one that is unavailable is left out and named; if none is left, there is no answer. */
export function availableOf(
  chains: readonly ChainInfo[],
  view: Pick<MarketReader, 'isAvailable'>,
  reply: FastifyReply,
): readonly ChainInfo[] {
  const missing = chains.filter(({ chain }) => !view.isAvailable(chain))
  if (missing.length === 0) return chains
  const names = missing.map(({ chain }) => chain).join(', ')
  if (missing.length === chains.length) {
    throw new RequestError('chain_unavailable', `unavailable: ${names}; retry after the given delay`)
  }
  reply.header('x-unavailable-chains', names)
  return chains.filter((each) => !missing.includes(each))
}
