import type { ReaderIndex } from '../../chain/reader-index.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Logs } from '../../log/connect.ts'
import { HISTORIES_TOPIC, type HistoryState } from '../../wire/history-question.ts'
import { IMPORTS_TOPIC } from '../../wire/import-question.ts'
import {
  decodeLiquidityAnswer,
  encodeLiquidityQuestion,
  LIQUIDITY_TOPIC,
} from '../../wire/liquidity-question.ts'
import { answerImport } from './answer-import.ts'
import type { RequestedHistories } from './family.ts'
import { rankHistories } from './rank-histories.ts'

export type LeadHistoriesParts = {
  readonly chain: string
  readonly histories: RequestedHistories
  readonly index: ReaderIndex
  readonly logs: Pick<Logs, 'request' | 'respond'>
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** An engine that folds a backlog answers between two blocks. */
const LIQUIDITY_MS = 2_000

/** Ranks histories and answers questions about them while this reader leads: only the leader asks nodes for them. */
export function leadHistories({
  chain,
  histories,
  index,
  logs,
  logger,
  signal,
}: LeadHistoriesParts): Disposable {
  const stop = new AbortController()
  const stateOf = (address: string): HistoryState => {
    if (index.histories.get(address) === undefined) return 'read'
    return histories.isUnserved(address) ? 'unserved' : 'open'
  }
  const answering = logs.respond(`${HISTORIES_TOPIC}.${chain}`, async (address) => stateOf(address))
  const importing = logs.respond(`${IMPORTS_TOPIC}.${chain}`, async (question) =>
    answerImport(question, index, histories),
  )
  void rankHistories({
    histories: index.histories,
    ask: async (addresses) => {
      const question = encodeLiquidityQuestion(addresses)
      const answer = await logs.request(`${LIQUIDITY_TOPIC}.${chain}`, question, LIQUIDITY_MS)
      return decodeLiquidityAnswer(answer, addresses.length)
    },
    rank: (addresses) => histories.rank(addresses),
    logger,
    signal: AbortSignal.any([signal, stop.signal]),
  })
  return {
    [Symbol.dispose]: () => {
      stop.abort()
      answering.stop()
      importing.stop()
    },
  }
}
