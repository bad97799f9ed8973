import type { RawLog } from '../../../src/domain/envelope.ts'
import { addressOf, NATIVE, wordOf } from './legs.ts'

/** What a token says has moved. */
export type Transfer = {
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Deposits and withdrawals of the wrapped coin, which emit no Transfer. */
const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

export function transfersOf(logs: readonly RawLog[]): Transfer[] {
  return logs.flatMap((log) => {
    const [topic, first = '', second = ''] = log.topics
    // One with an indexed amount is of a token that is not fungible.
    if (log.data.length !== 32) return []
    const common = { token: log.address, amount: wordOf(log, 0) }
    if (topic === TRANSFER && log.topics.length === 3) {
      return [{ ...common, from: addressOf(first), to: addressOf(second) }]
    }
    if (topic === DEPOSIT) return [{ ...common, from: NATIVE, to: addressOf(first) }]
    return topic === WITHDRAWAL ? [{ ...common, from: addressOf(first), to: NATIVE }] : []
  })
}
