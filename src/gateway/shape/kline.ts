import type { Candle, CandleValues, Pair, Windows } from '../../domain/change.ts'
import { formatChainId } from '../../domain/ids.ts'
import { pushedInterval } from '../../domain/interval.ts'
import { change1d, change24h, count24h, volume24h } from './windows.ts'
import { amountText, priceText, valueText } from './wire-values.ts'

/** The windows of the candle's pair, the decimals of its target token, and the time of the chain's head. */
export type Surroundings = {
  readonly windows: Windows | undefined
  readonly decimals: number | undefined
  readonly headTime: number | undefined
}

/** `result` of a `kline` push. */
export function klinePush(chain: string, candle: Candle, { windows, decimals, headTime }: Surroundings) {
  const count = count24h(windows)
  return {
    id: formatChainId(candle.pair, chain),
    interval: pushedInterval(candle.interval),
    kline: {
      eth: { ...candleTexts(candle.native), time: candle.start },
      usd: {
        ...candleTexts(candle.usd),
        amount_24h: amountText(windows?.amountRaw, decimals),
        change: change24h(windows) ?? '',
        change_v2: change1d(windows, headTime) ?? '',
        count_24h: count === undefined ? '' : String(count),
        high_24h: priceText(windows?.highUsd),
        low_24h: priceText(windows?.lowUsd),
        swap: '',
        volume_24h: valueText(volume24h(windows)),
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

export function targetDecimals({ token0, token1, targetToken }: Pair): number | undefined {
  return [token0, token1].find(({ token }) => token === targetToken)?.decimals
}
