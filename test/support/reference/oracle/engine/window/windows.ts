import type { WindowSums, Windows, WindowsRef } from '../../../../../../src/domain/change.ts'
import { boundedAmount, boundedValue } from '../../../../../../src/domain/limits.ts'
import type { Price, Value } from '../../../../../../src/domain/money.ts'
import { WINDOWS } from '../../../../../../src/domain/window.ts'
import type { Contribution } from './contribution.ts'
import type { Distinct } from './makers.ts'

const DAY_WINDOW = WINDOWS.indexOf('24h')

type Sums = Omit<Contribution, 'pair' | 'token' | 'pairCloseUsd' | 'tokenCloseUsd'>

/** As the engine keeps them: its sums may be beyond what can be published, and are exact when they come back. */
export type ExactWindows = Omit<Windows, 'lengths' | 'amountRaw'> & {
  readonly lengths: readonly ExactSums[]
  readonly amountRaw: bigint
}

type ExactSums = WindowSums & { readonly buyUsd: Value; readonly sellUsd: Value }

/** As others see them: a sum that does not fit its type is unknown. */
export function published(windows: ExactWindows): Windows {
  const { lengths } = windows
  const amountRaw = boundedAmount(windows.amountRaw)
  if (amountRaw !== undefined && lengths.every(isPublishable)) return windows
  const bounded = lengths.map((sums) => ({
    ...sums,
    buyUsd: boundedValue(sums.buyUsd),
    sellUsd: boundedValue(sums.sellUsd),
  }))
  return { ...windows, lengths: bounded, amountRaw }
}

function isPublishable({ buyUsd, sellUsd }: ExactSums): boolean {
  return boundedValue(buyUsd) !== undefined && boundedValue(sellUsd) !== undefined
}

/** As they are before the first trade. */
export function newWindows(ref: WindowsRef): ExactWindows {
  const none: ExactSums = {
    ...{ buyUsd: 0n, sellUsd: 0n, buys: 0, sells: 0 },
    ...{ makers: 0, buyers: 0, sellers: 0, openUsd: undefined },
  }
  return {
    pair: ref.pair,
    token: ref.token,
    lengths: WINDOWS.map(() => none),
    amountRaw: 0n,
    highUsd: undefined,
    lowUsd: undefined,
    priceUsd: undefined,
    day: 0,
    dayOpenUsd: undefined,
  }
}

/**
 * After a block with trades, on that day; `wallets` is how many more there are in each window, `closeUsd` what the
 * target counted for at the end.
 */
export function withTrades(
  windows: ExactWindows,
  trades: Sums,
  wallets: readonly Distinct[],
  closeUsd: Price | undefined,
  day: number,
): ExactWindows {
  const isNewDay = day !== windows.day
  return {
    ...windows,
    lengths: windows.lengths.map((sums, place) => {
      const { makers, buyers, sellers } = wallets[place] as Distinct
      return {
        buyUsd: sums.buyUsd + trades.buyUsd,
        sellUsd: sums.sellUsd + trades.sellUsd,
        buys: sums.buys + trades.buys,
        sells: sums.sells + trades.sells,
        makers: sums.makers + makers,
        buyers: sums.buyers + buyers,
        sellers: sums.sellers + sellers,
        openUsd: sums.openUsd ?? closeUsd,
      }
    }),
    amountRaw: windows.amountRaw + trades.amountRaw,
    priceUsd: closeUsd ?? windows.priceUsd,
    day,
    dayOpenUsd: (isNewDay ? windows.priceUsd : windows.dayOpenUsd) ?? closeUsd,
  }
}

/** Once a minute is older than the window at this place takes in; `wallets` traded in it last. */
export function withoutMinute(
  windows: ExactWindows,
  place: number,
  trades: Sums,
  wallets: Distinct,
  closeUsd: Price | undefined,
): ExactWindows {
  const sums = windows.lengths[place] as ExactSums
  const left: ExactSums = {
    buyUsd: sums.buyUsd - trades.buyUsd,
    sellUsd: sums.sellUsd - trades.sellUsd,
    buys: sums.buys - trades.buys,
    sells: sums.sells - trades.sells,
    makers: sums.makers - wallets.makers,
    buyers: sums.buyers - wallets.buyers,
    sellers: sums.sellers - wallets.sellers,
    openUsd: closeUsd ?? sums.openUsd,
  }
  const amountRaw = place === DAY_WINDOW ? windows.amountRaw - trades.amountRaw : windows.amountRaw
  return { ...windows, lengths: windows.lengths.with(place, left), amountRaw }
}
