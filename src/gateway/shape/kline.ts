import type { Candle, CandleValues, Pair, Windows } from '../../domain/change.ts'
import { formatChainAddress } from '../../domain/ids.ts'
import { pushedInterval } from '../../domain/interval.ts'
import {
  amount24h,
  type ChainTimes,
  change1d,
  change24h,
  count24h,
  high24h,
  low24h,
  pairWindows,
  volume24h,
} from './windows.ts'
import { amountText, priceText, valueText } from './wire-values.ts'

/** The candle's pair and its windows, as far as they are known, and the times of its chain. */
export type Surroundings = {
  readonly windows: Windows | undefined
  readonly pair: Pair | undefined
  readonly times: ChainTimes | undefined
}

/** `result` of a `kline` push. */
export function klinePush(chain: string, candle: Candle, { windows, pair, times }: Surroundings) {
  const seen = pairWindows(windows, { createdAt: pair?.createdAt }, times)
  const count = count24h(seen)
  return {
    id: formatChainAddress(candle.pair, chain),
    interval: pushedInterval(candle.interval),
    kline: {
      eth: { ...candleTexts(candle.native), time: candle.start },
      usd: {
        ...candleTexts(candle.usd),
        amount_24h: amountText(amount24h(seen), pair && targetDecimals(pair)),
        change: change24h(seen) ?? '',
        change_v2: change1d(seen) ?? '',
        count_24h: count === undefined ? '' : String(count),
        high_24h: priceText(high24h(seen)),
        low_24h: priceText(low24h(seen)),
        swap: '',
        volume_24h: valueText(volume24h(seen)),
        time: candle.start,
      },
    },
    topic: 'kline',
  }
}

function candleTexts(values: CandleValues | undefined) {
  return {
    open: priceText(values?.open),
    high: priceText(values?.high),
    low: priceText(values?.low),
    close: priceText(values?.close),
    volume: valueText(values?.volume),
  }
}

function targetDecimals({ token0, token1, targetToken }: Pair): number | undefined {
  return [token0, token1].find(({ token }) => token === targetToken)?.decimals
}
