import type { Candle, CandleValues } from '../../domain/change.ts'
import { formatChainId } from '../../domain/ids.ts'
import { pushedInterval } from '../../domain/interval.ts'
import { priceText, valueText } from './wire-values.ts'

/** `result` of a `kline` push. */
export function klinePush(chain: string, candle: Candle) {
  return {
    id: formatChainId(candle.pair, chain),
    interval: pushedInterval(candle.interval),
    kline: {
      eth: { ...candleTexts(candle.native), time: candle.start },
      usd: {
        ...candleTexts(candle.usd),
        amount_24h: '',
        change: '',
        change_v2: '',
        count_24h: '',
        high_24h: '',
        low_24h: '',
        swap: '',
        volume_24h: '',
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
