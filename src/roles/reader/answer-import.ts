import type { ReaderIndex } from '../../chain/reader-index.ts'
import { IMPORTED_FIRST, MAX_IMPORTED_HOLDERS } from '../../domain/imported-balances.ts'
import { decodeImportQuestion, encodeImportAnswer, type ImportAnswer } from '../../wire/import-question.ts'
import type { RequestedHistories } from './family.ts'

/** Answers `chaintape holders import`, which has verified the balances. */
export function answerImport(
  text: string,
  index: Pick<ReaderIndex, 'histories' | 'floor'>,
  histories: Pick<RequestedHistories, 'hold' | 'import'>,
): string {
  return encodeImportAnswer(answerOf(text, index, histories))
}

function answerOf(
  text: string,
  index: Pick<ReaderIndex, 'histories' | 'floor'>,
  histories: Pick<RequestedHistories, 'hold' | 'import'>,
): ImportAnswer {
  const question = decodeImportQuestion(text)
  const address = question.kind === 'state' ? question.address : question.fact.address
  const open = index.histories.get(address)
  if (open === undefined) return 'read'
  const final = index.floor?.number ?? 0
  if (question.kind === 'state') {
    histories.hold(address)
    return { from: open.from, upTo: open.upTo, final }
  }
  const { from, fact } = question
  const { upTo, isLast, first, gains } = fact
  if (from !== open.from) return { refused: 'the history was read on meanwhile' }
  if (upTo < from || upTo > open.upTo || isLast !== (upTo === open.upTo))
    return { refused: 'the balances do not fit into the history' }
  if (upTo > final) return { refused: `block ${upTo} is not final yet` }
  if (first?.time !== IMPORTED_FIRST.time || first.sender !== IMPORTED_FIRST.sender)
    return { refused: 'an import has no first transfer' }
  if (gains.length > MAX_IMPORTED_HOLDERS) return { refused: 'too many balances' }
  histories.import(from, fact)
  return 'taken'
}
