import type { Pair, TradeDirection } from '../../domain/change.ts'
import type { Price } from '../../domain/money.ts'
import type { Reserves } from '../pool/reserves.ts'
import type { PairView, SideView } from './pair-view.ts'

/** Sets the reserves. If the pair's creation was read, its first reserves are kept as well. */
export function setReserves(pair: PairView, [reserve0, reserve1]: Reserves): void {
  const fill = (side: SideView, reserveRaw: bigint | undefined): void => {
    side.reserveRaw = reserveRaw
    if (reserveRaw === 0n || side.row.hasInitialReserveRaw || !isReadFromCreation(pair)) return
    side.initialReserveRaw = reserveRaw
  }
  fill(pair.token0, reserve0)
  fill(pair.token1, reserve1)
}

/** Records a trade at this time, by this side, at this dollar price of the target token. */
export function noteTrade(
  pair: PairView,
  time: number,
  side: TradeDirection | undefined,
  paidUsd: Price | undefined,
): void {
  if (isReadFromCreation(pair)) {
    pair.firstTradeAt ??= time
    pair.athPriceUsd = higher(pair.athPriceUsd, paidUsd)
  }
  pair.updatedAt = time
  pair.lastTradeAt = time
  pair.lastTradePriceUsd = paidUsd
  pair.lastSide = side
}

/** Whether the pair's whole history is known; an older pair's first trade, for example, is not. */
function isReadFromCreation({ createdAt }: Pair): boolean {
  return createdAt !== undefined
}

function higher(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a > b ? a : b
}
