import type { PriceEntry } from '@chaintape/client'
import { createEffect, For, type JSX, on, Show } from 'solid-js'
import { createStore, reconcile } from 'solid-js/store'
import {
  formatAge,
  formatCount,
  formatPrice,
  formatShare,
  formatUsd,
  shortAddress,
  toNumber,
} from '../format.ts'
import { createClock } from '../live.ts'
import { Avatar, Change, Price, RiskScore } from '../parts.tsx'
import { hrefOf, tokenRoute } from '../route.ts'
import type { MarketRow } from './market-lists.ts'

const AGE_MS = 10_000

type TableProps = {
  readonly rows: readonly MarketRow[]
  /** By token id: newer than the rows. */
  readonly prices: Readonly<Record<string, PriceEntry>>
  readonly isSearch: boolean
  /** The rows answer the query before this one. */
  readonly isBusy: boolean
}

export function TokenTable(props: TableProps): JSX.Element {
  const now = createClock(AGE_MS)
  // Rows that are still there keep their elements, and with them the focus.
  const [rows, setRows] = createStore<MarketRow[]>([])
  createEffect(() => setRows(reconcile([...props.rows], { key: 'token' })))
  return (
    <div class="scroll">
      <table class="market" aria-busy={props.isBusy}>
        <caption class="hidden">{props.isSearch ? 'Matches' : 'Tokens'}</caption>
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col">Price</th>
            <th scope="col" class="wide">
              1h
            </th>
            <th scope="col">24h</th>
            <th scope="col" class="wide">
              Volume 24h
            </th>
            <th scope="col">Liquidity</th>
            <th scope="col" class="wide">
              Market cap
            </th>
            <th scope="col" class="wide">
              Trades 24h
            </th>
            <th scope="col" class="wide">
              Holders
            </th>
            <th scope="col" class="wide">
              Age
            </th>
            <th scope="col" class="wide">
              Risk
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={rows} fallback={<EmptyRow isSearch={props.isSearch} />}>
            {(row) => <TokenRowView row={row} live={props.prices[`${row.token}-${row.chain}`]} now={now()} />}
          </For>
        </tbody>
      </table>
    </div>
  )
}

function EmptyRow(props: { readonly isSearch: boolean }): JSX.Element {
  return (
    <tr>
      <td colSpan={11} class="empty">
        {props.isSearch ? 'No token matches.' : 'No tokens yet.'}
      </td>
    </tr>
  )
}

type RowProps = { readonly row: MarketRow; readonly live: PriceEntry | undefined; readonly now: number }

function TokenRowView(props: RowProps): JSX.Element {
  let cell: HTMLElement | undefined
  // Other numbers of an entry are those of the main pair; the row has those of all pairs.
  const price = (): string | undefined => props.live?.uprice || props.row.current_price_usd
  createEffect(on(price, (now, before) => flash(cell, before, now), { defer: true }))
  return (
    <tr classList={{ impostor: props.row.is_impostor === true }}>
      <th scope="row">
        <a
          data-row-link
          href={hrefOf(tokenRoute(`${props.row.token}-${props.row.chain}`))}
          title={props.row.token}
        >
          <Avatar address={props.row.token} symbol={props.row.symbol} />
          <span class="symbol">{props.row.symbol || shortAddress(props.row.token)}</span>{' '}
          <span class="name">{props.row.name}</span>
        </a>
        <Flags row={props.row} />
      </th>
      <td ref={(element) => (cell = element)}>
        <Price value={price()} />
      </td>
      <td class="wide">
        <Change value={props.row.token_price_change_1h} />
      </td>
      <td>
        <Change value={props.row.price_change_24h} />
      </td>
      <td class="wide number">{formatUsd(props.row.tx_volume_u_24h)}</td>
      <td class="number">{formatUsd(props.row.tvl)}</td>
      <td class="wide number">{formatUsd(props.row.market_cap ?? props.row.fdv)}</td>
      <td class="wide number">{formatCount(props.row.tx_count_24h)}</td>
      <td class="wide number">{formatCount(props.row.holders)}</td>
      <td class="wide number">{formatAge(props.row.created_at, props.now)}</td>
      <td class="wide">
        <RiskScore score={props.row.risk_score} />
      </td>
    </tr>
  )
}

function Flags(props: { readonly row: MarketRow }): JSX.Element {
  return (
    <>
      <Show when={props.row.is_impostor === true}>
        <span class="flag bad" title="Another token with this symbol has more liquidity or is listed">
          impostor
        </span>
      </Show>
      <Show when={props.row.is_honeypot === 1}>
        <span class="flag bad" title="A simulated sale failed">
          honeypot
        </span>
      </Show>
      <Show when={props.row.issue_platform}>
        <span
          class="flag"
          title={`Launched by ${props.row.issue_platform}; the share of its curve that is sold`}
        >
          {props.row.issue_platform}
          <Show when={props.row.platform_progress && props.row.platform_progress !== '1'}>
            {' '}
            {formatShare(props.row.platform_progress)}
          </Show>
        </span>
      </Show>
    </>
  )
}

/** Shows in a cell where its price went; the same digits in another form are no change. */
function flash(cell: HTMLElement | undefined, before: string | undefined, now: string | undefined): void {
  const [from, to] = [toNumber(before), toNumber(now)]
  if (from === undefined || to === undefined || formatPrice(from) === formatPrice(to)) return
  for (const animation of cell?.getAnimations() ?? []) animation.cancel()
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  const color = to > from ? 'var(--volume-up)' : 'var(--volume-down)'
  cell?.animate([{ backgroundColor: color }, { backgroundColor: 'transparent' }], { duration: 700 })
}
