import { createSignal, For, type JSX, Show } from 'solid-js'
import { formatAmount, formatTime, formatUsd, shortAddress } from '../format.ts'
import { followStream } from '../live.ts'
import { noted } from '../market-data.ts'
import { Price, Problem } from '../parts.tsx'
import {
  sideOf,
  type TapeRow,
  type TapeRows,
  tapeOf,
  targetOf,
  withRetraction,
  withSwap,
} from './tape-model.ts'
import { type TapeItem, tapeItems } from './token-data.ts'

/** The trades of a pair as they happen. */
export function Tape(props: { readonly pairId: string | undefined }): JSX.Element {
  const [rows, setRows] = createSignal<TapeRows>([])
  const error = followStream(
    () => props.pairId,
    (pairId, signal) => {
      setRows([])
      return noted(tapeItems(pairId, signal))
    },
    (items) => setRows((before) => items.reduce(withItem, before)),
  )
  return (
    <section class="tape" aria-labelledby="tape-title">
      <h2 id="tape-title">Trades</h2>
      <Problem what="Trades" error={error()} />
      <section class="scroll" tabindex="0" aria-label="Latest trades">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Side</th>
              <th scope="col">Price</th>
              <th scope="col">Amount</th>
              <th scope="col">Value</th>
              <th scope="col" class="wide">
                Wallet
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={rows()}>{(row) => <TapeRowView row={row} />}</For>
          </tbody>
        </table>
        <Show when={rows().length === 0}>
          <p class="empty">No trades yet.</p>
        </Show>
      </section>
    </section>
  )
}

function withItem(rows: TapeRows, item: TapeItem): TapeRows {
  if (item.type === 'history') return tapeOf(item.swaps)
  return item.type === 'trade' ? withSwap(rows, item.swap) : withRetraction(rows, item.ids)
}

/** A row never changes: a retraction replaces it. */
function TapeRowView({ row }: { readonly row: TapeRow }): JSX.Element {
  const { swap, isRetracted } = row
  const { amount, price } = targetOf(swap)
  const side = sideOf(swap)
  return (
    <tr class={side} classList={{ retracted: isRetracted }} data-id={swap.id}>
      <td class="number">{formatTime(swap.time)}</td>
      <td class="side">
        {side}
        <Show when={isRetracted}>
          <span class="hidden"> retracted</span>
        </Show>
      </td>
      <td>
        <Price value={price} />
      </td>
      <td class="number">{formatAmount(amount)}</td>
      <td class="number">{formatUsd(swap.amount_usd)}</td>
      <td class="wide number" title={swap.wallet_address}>
        {shortAddress(swap.wallet_address)}
      </td>
    </tr>
  )
}
