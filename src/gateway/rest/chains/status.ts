import Type from 'typebox'
import type { ChainGenerations } from '../../../domain/generation.ts'
import type { ReportedReconciliation } from '../../../domain/reconciliation.ts'
import type { Scope } from '../../http/scope.ts'
import type { PushDelays } from '../../ws/send/freshness.ts'
import { RecentDelays } from '../../ws/send/recent-delays.ts'
import type { RestContext } from '../context.ts'
import { answerOf, integer, maybeInteger, noQuery, text } from '../schemas.ts'

const quantiles = answerOf({ p50: integer, p99: integer }, 'Quantiles')

const schema = {
  operationId: 'status',
  summary: 'Head and lag of each chain; needs no key',
  description: `is_complete is false until this gateway has caught up with the end of its log at startup.
lag_ms is the age of the latest block. is_available is false while operations on the chain are refused with chain_unavailable.
faults lists the roles in which a fault stopped the chain, with its code and start time. quarantined lists the
messages that an operator quarantined and all roles skip. reconciliation is the last comparison of stored data with the
archived blocks and a node: its time, the blocks from from_block to to_block, what was compared, and how much differed. generation counts the
folds of the chain: it grows when a refold takes over. refold is the next one, while it is built, or until this gateway serves it.
freshness is how old live blocks were when this gateway wrote their pushes to sockets, over the last window_seconds: since the
block's timestamp (block_to_push_ms), and since the reader first heard of the block from a node (announcement_to_push_ms). It is
omitted if no live block was pushed.`,
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
              generation: integer,
              refold: Type.Optional(
                answerOf(
                  { generation: integer, state: Type.Enum(['building', 'switching'], { type: 'string' }) },
                  'Refold',
                ),
              ),
              freshness: Type.Optional(
                answerOf(
                  {
                    window_seconds: integer,
                    block_to_push_ms: quantiles,
                    announcement_to_push_ms: quantiles,
                  },
                  'Freshness',
                ),
              ),
              quarantined: Type.Array(answerOf({ log: text, sequence: integer }, 'QuarantinedMessage')),
              reconciliation: Type.Optional(
                answerOf(
                  {
                    ...{ time: integer, from_block: maybeInteger, to_block: maybeInteger },
                    ...{
                      node_blocks: integer,
                      rows: integer,
                      documents: integer,
                      skipped_documents: integer,
                    },
                    differences: integer,
                  },
                  'Reconciliation',
                ),
              ),
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
export function addStatus(scope: Scope, context: RestContext): void {
  const { view, chains, faultsOf, quarantinedOf, reconciliationOf, generationsOf, freshnessOf } = context
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
          generation: view.generation(chain),
          ...refoldField(view.generation(chain), generationsOf(chain)),
          ...freshnessField(freshnessOf(chain)),
          quarantined: quarantinedOf(chain).map(({ log, sequence }) => ({ log, sequence })),
          ...reconciliationField(reconciliationOf(chain)),
        }
      }),
      time: Math.floor(now / 1_000),
    }
  })
}

function refoldField(served: number, generations: ChainGenerations | undefined) {
  if (generations === undefined) return {}
  const { serving, building } = generations
  if (serving.number !== served)
    return { refold: { generation: serving.number, state: 'switching' as const } }
  return building === undefined ? {} : { refold: { generation: building.number, state: 'building' as const } }
}

function freshnessField(delays: PushDelays | undefined) {
  if (delays === undefined) return {}
  return {
    freshness: {
      window_seconds: RecentDelays.windowSeconds,
      block_to_push_ms: delays.fromBlock,
      announcement_to_push_ms: delays.fromAnnouncement,
    },
  }
}

function reconciliationField(found: ReportedReconciliation | undefined) {
  if (found === undefined) return {}
  const { at, blocks, nodeBlocks, rows, documents, skipped, differences } = found
  const place = blocks && { from_block: blocks.from, to_block: blocks.to }
  return {
    reconciliation: {
      ...{ time: at, ...place, node_blocks: nodeBlocks, rows, documents },
      ...{ skipped_documents: skipped, differences },
    },
  }
}
