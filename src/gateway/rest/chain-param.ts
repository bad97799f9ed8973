import type { FastifyReply } from 'fastify'
import { RequestError } from '../http/problem.ts'
import type { MarketReader } from '../market/market-view.ts'
import type { ChainInfo, RestContext } from './context.ts'

/** Validates the `chain` parameter of a query. */
export function knownChain(chain: string, familyOf: RestContext['familyOf']): string {
  if (familyOf(chain) !== undefined) return chain
  throw new RequestError('unknown_chain', 'unknown chain; see GET /v2/chains', [
    { pointer: '#/chain', detail: 'unknown chain; see GET /v2/chains' },
  ])
}

/** Omits unavailable chains from a response and lists them in a header; throws if no chain is available. */
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
