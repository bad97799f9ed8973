import {
  CandlestickSeries,
  ColorType,
  createChart,
  type HistogramData,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type UTCTimestamp,
} from 'lightweight-charts'
import { formatPrice } from '../format.ts'
import type { Bar, Redraw } from './candle-book.ts'

/** Bars that fit at first: a short history is not drawn as single wide bars. */
const [FEWEST_SHOWN, MOST_SHOWN] = [40, 120]

/** The library behind one small door: bars in, pixels out. */
export class ChartCanvas {
  readonly #chart: IChartApi
  readonly #candles: ISeriesApi<'Candlestick'>
  readonly #volumes: ISeriesApi<'Histogram'>
  #scale = 1
  #lastTime = 0
  #volumeColors = { up: '', down: '' }

  /** `onHover` gets the time under the pointer; undefined outside of the bars. */
  constructor(container: HTMLElement, onHover: (time: number | undefined) => void) {
    this.#chart = createChart(container, {
      autoSize: true,
      // The attribution is in the footer: the logo would need inline styles.
      layout: { attributionLogo: false, background: { type: ColorType.Solid, color: 'transparent' } },
      rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.1, bottom: 0.24 } },
      timeScale: { borderVisible: false, rightOffset: 4 },
      handleScale: { axisPressedMouseMove: true },
    })
    this.#candles = this.#chart.addSeries(CandlestickSeries, {
      borderVisible: false,
      priceFormat: {
        type: 'custom',
        minMove: 1e-6,
        formatter: (value: number) => formatPrice(value / this.#scale),
      },
    })
    this.#volumes = this.#chart.addSeries(HistogramSeries, {
      ...{ priceScaleId: 'volume', priceFormat: { type: 'volume' } },
      ...{ lastValueVisible: false, priceLineVisible: false },
    })
    this.#volumes.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } })
    this.#chart.subscribeCrosshairMove(({ time }) => onHover(time === undefined ? undefined : Number(time)))
    this.applyColors()
  }

  /** A new series: another pair or interval. */
  show(bars: readonly Bar[], scale: number, hasSeconds: boolean): void {
    this.#scale = scale
    this.#chart.applyOptions({ timeScale: { timeVisible: true, secondsVisible: hasSeconds } })
    this.#setAll(bars)
    const shown = Math.min(MOST_SHOWN, Math.max(FEWEST_SHOWN, bars.length))
    this.#chart.timeScale().setVisibleLogicalRange({ from: bars.length - shown, to: bars.length + 3 })
  }

  draw(redraw: Redraw, allBars: () => readonly Bar[]): void {
    if (redraw === 'all') this.#setAll(allBars())
    else
      for (const bar of redraw) {
        const isOlder = bar.time < this.#lastTime
        this.#lastTime = Math.max(this.#lastTime, bar.time)
        this.#candles.update(candleOf(bar), isOlder)
        this.#volumes.update(this.#volumeOf(bar), isOlder)
      }
  }

  /** Takes the colors of the page. */
  applyColors(): void {
    const style = getComputedStyle(document.documentElement)
    const color = (name: string): string => style.getPropertyValue(name).trim()
    const [up, down, line] = [color('--up'), color('--down'), color('--line')]
    this.#volumeColors = { up: color('--volume-up'), down: color('--volume-down') }
    this.#chart.applyOptions({
      layout: { textColor: color('--muted'), fontFamily: style.fontFamily, fontSize: 11 },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
    })
    this.#candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down })
  }

  remove(): void {
    this.#chart.remove()
  }

  #setAll(bars: readonly Bar[]): void {
    this.#lastTime = bars.at(-1)?.time ?? 0
    this.#candles.setData(bars.map(candleOf))
    this.#volumes.setData(bars.map((bar) => this.#volumeOf(bar)))
  }

  #volumeOf({ time, open, close, volume }: Bar): HistogramData {
    const color = close >= open ? this.#volumeColors.up : this.#volumeColors.down
    return { time: time as UTCTimestamp, value: volume, color }
  }
}

function candleOf({ time, open, high, low, close }: Bar) {
  return { time: time as UTCTimestamp, open, high, low, close }
}
