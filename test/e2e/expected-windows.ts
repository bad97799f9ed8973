import type { ExpectedTrade } from './expected-pools.ts'

/** Minutes that each window takes in: the running one, and those before it. */
export const WINDOW_MINUTES = { '1m': 1, '5m': 5, '15m': 15, '1h': 60, '4h': 240, '24h': 1_440 } as const

export type WindowName = keyof typeof WINDOW_MINUTES

/** What a target counted for, in dollars, after a block with a trade. */
export type Close = { readonly block: number; readonly time: number; readonly usd: bigint | undefined }

export type Sums = {
  readonly buyUsd: bigint
  readonly sellUsd: bigint
  readonly buys: number
  readonly sells: number
  readonly makers: number
  readonly buyers: number
  readonly sellers: number
  /** What the price is compared with. */
  readonly openUsd: bigint | undefined
}

export type ExpectedWindows = {
  readonly sums: Readonly<Record<WindowName, Sums>>
  readonly amountRaw: bigint
  readonly highUsd: bigint | undefined
  readonly lowUsd: bigint | undefined
  readonly priceUsd: bigint | undefined
  /** At 00:00 UTC. */
  readonly dayOpenUsd: bigint | undefined
}

/**
 * Windows the obvious way, by docs/data-rules.md: all trades that a pair or token ever had are looked at again, as of the
 * time of the newest block. Both lists are in the order of the chain. `isToken0` says on which side of a trade the token
 * stands whose windows they are.
 */
export function windowsAt(
  now: number,
  trades: readonly ExpectedTrade[],
  closes: readonly Close[],
  isToken0: (trade: ExpectedTrade) => boolean,
): ExpectedWindows | undefined {
  if (trades.length === 0) return undefined
  const known = closes.filter(({ usd }) => usd !== undefined)
  const openAt = (begin: number): bigint | undefined =>
    (known.findLast(({ time }) => time < begin) ?? known[0])?.usd
  const beginOf = (minutes: number): number => (Math.floor(now / 60) - minutes + 1) * 60
  const within = (minutes: number): ExpectedTrade[] => trades.filter(({ time }) => time >= beginOf(minutes))
  const sumsOf = (minutes: number): Sums => {
    const inside = within(minutes)
    // A buyer of the target sells the quote.
    const isBuy = (trade: ExpectedTrade): boolean =>
      (trade.side === 'buy') === (isToken0(trade) === trade.pool.target0)
    const buys = inside.filter(isBuy)
    const sells = inside.filter((trade) => !isBuy(trade))
    return {
      buyUsd: sumUsd(buys),
      sellUsd: sumUsd(sells),
      buys: buys.length,
      sells: sells.length,
      makers: wallets(inside),
      buyers: wallets(buys),
      sellers: wallets(sells),
      openUsd: openAt(beginOf(minutes)),
    }
  }
  const lastDay = within(WINDOW_MINUTES['24h'])
  const paid = lastDay
    .flatMap((trade) => {
      const { price0, price1 } = trade.prices
      return trade.value.usd === undefined ? [] : ((isToken0(trade) ? price0 : price1).usd ?? [])
    })
    .sort((a, b) => (a < b ? -1 : 1))
  return {
    sums: Object.fromEntries(
      Object.entries(WINDOW_MINUTES).map(([name, minutes]) => [name, sumsOf(minutes)]),
    ) as Record<WindowName, Sums>,
    amountRaw: lastDay.reduce((sum, trade) => sum + (isToken0(trade) ? trade.raw0 : trade.raw1), 0n),
    highUsd: paid.at(-1),
    lowUsd: paid[0],
    priceUsd: known.at(-1)?.usd,
    dayOpenUsd: openAt(now - (now % 86_400)),
  }
}

function sumUsd(trades: readonly ExpectedTrade[]): bigint {
  return trades.reduce((sum, { value }) => sum + (value.usd ?? 0n), 0n)
}

function wallets(trades: readonly ExpectedTrade[]): number {
  return new Set(trades.map(({ wallet }) => wallet)).size
}
