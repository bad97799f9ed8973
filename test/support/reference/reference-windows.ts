import type { Trade } from '../../../src/domain/change.ts'
import type { Price } from '../../../src/domain/money.ts'
import { type MarketHistory, sumThatFits } from '../builders/market-history.ts'
import type { Tables, WindowNumbers } from './change-tables.ts'

const LENGTHS = [1, 5, 15, 60, 240, 1_440]
const DAY_SECONDS = 86_400

/** A block in which the pair or token was traded, and what the target counted for after it. */
type TradedBlock = { readonly minute: number; readonly time: number; readonly close: Price | undefined }

/** Windows the obvious way: for every window all trades are looked at again. */
export function referenceWindows(
  model: MarketHistory,
  trades: readonly Trade[],
): Pick<Tables, 'pairWindows' | 'tokenWindows'> {
  const counting = trades.filter(({ targetToken }) => targetToken !== undefined)
  const pairs = [...new Set(counting.map(({ pair }) => pair))]
  const isFor = (token: string, { pair, targetToken, sold, bought, key }: Trade): boolean => {
    if (sold.token !== token && bought.token !== token) return false
    if (!model.isRouted(model.poolFact(pair))) return true
    // By a route a pair counts for its target alone, and only while it is the main pair.
    return targetToken === token && model.priceAfter(token, model.placeOf(key)).main === pair
  }
  const tokens = [...new Set(counting.flatMap(({ sold, bought }) => [sold.token, bought.token]))].filter(
    (token) => counting.some((trade) => isFor(token, trade)),
  )
  return {
    pairWindows: new Map(
      pairs.map((pair) => [
        pair,
        windowsOf(
          model,
          counting.filter((trade) => trade.pair === pair),
          ({ targetToken }) => targetToken,
          (place) => model.poolWorth(pair, place).usd,
        ),
      ]),
    ),
    tokenWindows: new Map(
      tokens.map((token) => [
        token,
        windowsOf(
          model,
          counting.filter((trade) => isFor(token, trade)),
          () => token,
          (place) => model.priceAfter(token, place).price.usd,
        ),
      ]),
    ),
  }
}

function windowsOf(
  { blocks }: MarketHistory,
  trades: readonly Trade[],
  whose: (trade: Trade) => string | undefined,
  closeAfter: (place: number) => Price | undefined,
): WindowNumbers {
  const ownSide = (trade: Trade) => (trade.sold.token === whose(trade) ? trade.sold : trade.bought)
  const minute = (time: number): number => Math.floor(time / 60)
  const now = minute(blocks.at(-1)?.time ?? 0)
  const traded = blocks.flatMap(({ number, time }, place): TradedBlock[] =>
    trades.some(({ key }) => key.block === number)
      ? [{ minute: minute(time), time, close: closeAfter(place) }]
      : [],
  )
  const closes = (isIncluded: (block: TradedBlock) => boolean): Price[] =>
    traded.filter(isIncluded).flatMap(({ close }) => close ?? [])
  const lastDay = trades.filter(({ time }) => minute(time) > now - 1_440)
  const wallets = (trades: readonly Trade[]): number => new Set(trades.map(({ wallet }) => wallet)).size
  const prices = lastDay.flatMap((trade) => {
    const price = ownSide(trade).priceUsd
    return price === undefined ? [] : [price]
  })
  const sorted = prices.sort((a, b) => (a < b ? -1 : 1))
  const amountRaw = lastDay.reduce((sum, trade) => sum + ownSide(trade).amountRaw, 0n)
  const day = Math.floor((traded.at(-1)?.time ?? 0) / DAY_SECONDS)
  const isBeforeDay = ({ time }: TradedBlock): boolean => time < day * DAY_SECONDS
  return {
    lengths: LENGTHS.map((length) => {
      const inside = trades.filter(({ time }) => minute(time) > now - length)
      const buys = inside.filter((trade) => trade.bought.token === whose(trade))
      const sells = inside.filter((trade) => trade.sold.token === whose(trade))
      const value = (some: readonly Trade[]): bigint | undefined =>
        sumThatFits(
          some.map((trade) =>
            ownSide(trade).priceUsd === undefined ? (trade.valueUsd ?? 0n) : trade.valueUsd,
          ),
        )
      const isBefore = (block: TradedBlock): boolean => block.minute <= now - length
      return {
        buyUsd: value(buys),
        sellUsd: value(sells),
        buys: buys.length,
        sells: sells.length,
        makers: wallets(inside),
        buyers: wallets(buys),
        sellers: wallets(sells),
        openUsd: closes(isBefore).at(-1) ?? closes(() => true)[0],
      }
    }),
    amountRaw: amountRaw < 2n ** 256n ? amountRaw : undefined,
    highUsd: sorted.at(-1),
    lowUsd: sorted[0],
    priceUsd: closes(() => true).at(-1),
    day,
    dayOpenUsd: closes(isBeforeDay).at(-1) ?? closes(() => true)[0],
  }
}
