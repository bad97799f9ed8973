import { createEffect, createSignal, For, type JSX, onCleanup, onMount, Show } from 'solid-js'
import { formatDateTime, formatPrice, formatUsd } from '../format.ts'
import { followStream } from '../live.ts'
import { noted } from '../market-data.ts'
import { Problem } from '../parts.tsx'
import { INTERVAL_NAMES, INTERVALS, type Interval } from '../route.ts'
import { onThemeChange } from '../theme.ts'
import { CandleBook, type CandleTexts, scaleOf } from './candle-book.ts'
import { ChartCanvas } from './chart-canvas.ts'
import { type ChartItem, type ChartSource, chartItems } from './token-data.ts'

const TABLE_ROWS = 100

type ChartProps = {
  readonly source: ChartSource | undefined
  readonly interval: Interval
  readonly hrefOf: (interval: Interval) => string
}

/** Candles and volume of a pair, drawn or as a table. */
export function Chart(props: ChartProps): JSX.Element {
  let container: HTMLDivElement | undefined
  let canvas: ChartCanvas | undefined
  let scale = 1
  const book = new CandleBook()
  const [hovered, setHovered] = createSignal<number>()
  const [last, setLast] = createSignal<CandleTexts>()
  const [isTable, setTable] = createSignal(false)
  const [table, setTableRows] = createSignal<readonly CandleTexts[]>([])
  /** When the candles were drawn, in milliseconds since the page was opened. */
  const [drawnAt, setDrawnAt] = createSignal<number>()

  onMount(() => {
    if (container === undefined) return
    canvas = new ChartCanvas(container, setHovered)
    onCleanup(
      onThemeChange(() => {
        canvas?.applyColors()
        canvas?.draw('all', () => book.bars(scale))
      }),
    )
    onCleanup(() => canvas?.remove())
  })

  const takeIn = (items: readonly ChartItem[], { interval }: ChartSource): void => {
    for (const item of items) {
      if (item.type === 'candle') book.put(item.candle)
      else if (item.type === 'removed') book.remove(item.time)
      else {
        book.replace(item.candles)
        scale = book.last === undefined ? 1 : scaleOf(book.last)
        book.takeRedraw(scale)
        canvas?.show(book.bars(scale), scale, interval === 's1')
        setDrawnAt(performance.now())
      }
    }
    canvas?.draw(book.takeRedraw(scale), () => book.bars(scale))
    setLast(book.last)
    if (isTable()) setTableRows(newest(book))
  }
  const error = followStream(
    () => props.source,
    (source, signal) => {
      setDrawnAt(undefined)
      return noted(chartItems(source, signal))
    },
    takeIn,
  )
  createEffect(() => {
    if (isTable()) setTableRows(newest(book))
  })

  const shown = (): CandleTexts | undefined => {
    const time = hovered()
    const found = time === undefined ? undefined : book.candles.find((candle) => candle.time === time)
    return found ?? last()
  }
  return (
    <section class="chart" aria-label="Chart">
      <div class="toolbar">
        <nav aria-label="Interval" class="tabs">
          <For each={INTERVALS}>
            {(interval) => (
              <a
                href={props.hrefOf(interval)}
                aria-current={interval === props.interval ? 'true' : undefined}
                data-replace
              >
                {INTERVAL_NAMES[interval]}
              </a>
            )}
          </For>
        </nav>
        <button type="button" aria-pressed={isTable()} onClick={() => setTable(!isTable())}>
          Table
        </button>
      </div>
      <Problem what="Chart" error={error()} />
      <div class="drawing" hidden={isTable()}>
        <Legend candle={shown()} />
        <div class="canvas" data-drawn={drawnAt() !== undefined} data-drawn-at={drawnAt()} ref={container} />
        <Show when={drawnAt() !== undefined && last() === undefined}>
          <p class="empty">No trades of this pair yet.</p>
        </Show>
      </div>
      <Show when={isTable()}>
        <CandleTable candles={table()} />
      </Show>
    </section>
  )
}

function newest(book: CandleBook): CandleTexts[] {
  return book.candles.slice(-TABLE_ROWS).reverse()
}

function Legend(props: { readonly candle: CandleTexts | undefined }): JSX.Element {
  return (
    <p class="legend number">
      <span title={props.candle?.open}>O {formatPrice(props.candle?.open)}</span>
      <span title={props.candle?.high}>H {formatPrice(props.candle?.high)}</span>
      <span title={props.candle?.low}>L {formatPrice(props.candle?.low)}</span>
      <span title={props.candle?.close}>C {formatPrice(props.candle?.close)}</span>
      <span title={props.candle?.volume}>V {formatUsd(props.candle?.volume)}</span>
    </p>
  )
}

function CandleTable(props: { readonly candles: readonly CandleTexts[] }): JSX.Element {
  return (
    <section class="scroll canvas" tabindex="0" aria-label="Candles">
      <table class="candles">
        <thead>
          <tr>
            <For each={['Time', 'Open', 'High', 'Low', 'Close', 'Volume']}>
              {(name) => <th scope="col">{name}</th>}
            </For>
          </tr>
        </thead>
        <tbody>
          <For each={props.candles}>
            {(candle) => (
              <tr data-time={candle.time}>
                <td class="number">{formatDateTime(candle.time)}</td>
                <For each={[candle.open, candle.high, candle.low, candle.close]}>
                  {(text) => (
                    <td class="number" title={text}>
                      {formatPrice(text)}
                    </td>
                  )}
                </For>
                <td class="number" title={candle.volume}>
                  {formatUsd(candle.volume)}
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </section>
  )
}
