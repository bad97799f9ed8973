import Type from 'typebox'
import type { Scope } from '../../http/scope.ts'
import type { RestContext } from '../context.ts'
import { answerOf, integer, maybeInteger, noQuery, text } from '../schemas.ts'

const schema = {
  operationId: 'status',
  summary: 'Head and lag of each chain; needs no key',
  description: `is_complete is false until this gateway has caught up with the end of its log at startup.
lag_ms is the age of the latest block. is_available is false while operations on the chain are refused with chain_unavailable.
faults lists the roles in which a fault stopped the chain, with its code and start time. quarantined lists the
messages that an operator quarantined and all roles skip.`,
  tags: ['Service'],
  security: [],
  querystring: noQuery,
  response: {
    200: answerOf(
      {
        chains: Type.Array(
          answerOf(
            {
              chain: text,
              block: maybeInteger,
              block_time: maybeInteger,
              final_block: maybeInteger,
              lag_ms: maybeInteger,
              is_complete: Type.Boolean(),
              is_available: Type.Boolean(),
              faults: Type.Array(answerOf({ role: text, code: text, since: integer }, 'ChainFault')),
              quarantined: Type.Array(answerOf({ log: text, sequence: integer }, 'QuarantinedMessage')),
            },
            'ChainStatus',
          ),
        ),
        time: integer,
      },
      'Status',
    ),
  },
}

/** `GET /v2/status` */
export function addStatus(scope: Scope, { view, chains, faultsOf, quarantinedOf }: RestContext): void {
  scope.get('/v2/status', { schema }, async () => {
    const now = Date.now()
    const behind = new Set(view.chainsBehind)
    return {
      chains: chains.map(({ chain }) => {
        const head = view.head(chain)
        const known =
          head === undefined
            ? {}
            : {
                block: head.number,
                block_time: head.time,
                final_block: head.finalNumber,
                lag_ms: Math.max(0, now - head.time * 1_000),
              }
        const faults = faultsOf(chain).map(({ role, code, since }) => {
          return { role, code, since: Math.floor(since / 1_000) }
        })
        return {
          chain,
          ...known,
          is_complete: !behind.has(chain),
          is_available: view.isAvailable(chain),
          faults,
          quarantined: quarantinedOf(chain).map(({ log, sequence }) => ({ log, sequence })),
        }
      }),
      time: Math.floor(now / 1_000),
    }
  })
}
