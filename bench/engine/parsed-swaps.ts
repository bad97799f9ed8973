import type { Trade } from '../../src/domain/change.ts'
import { swapPush } from '../../src/gateway/shape/swap-transaction.ts'
import { repeat, type Slice } from '../measure.ts'

/** What every cost of a swap is measured against: JSON.parse of the swap in its full published form. */
export function parsedSwaps(trades: readonly Trade[]): Slice {
  const texts = trades.map((trade) => JSON.stringify(swapPush('eth', trade).tx))
  let parsed: unknown[] = []
  return repeat(
    () => {
      parsed = texts.map((text) => JSON.parse(text))
      return parsed.length
    },
    () => (parsed.every((swap, at) => JSON.stringify(swap) === texts[at]) ? undefined : 'parsed differs'),
  )
}
