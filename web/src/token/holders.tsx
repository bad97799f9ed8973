import { createMemo, For, type JSX, Show } from 'solid-js'
import { formatAmount, formatShare, formatUsd, shortAddress } from '../format.ts'
import { createPolled } from '../live.ts'
import { client } from '../market-data.ts'
import { Problem, Waiting } from '../parts.tsx'
import { type Slice, slicesOf } from './concentration.ts'

const REFRESH_MS = 30_000
const SHOWN = 25
const WIDTH = 1_000
const INCOMPLETE: Readonly<Record<string, string>> = {
  history_open: 'Older transfers are being read; the list is not complete yet.',
  logs_unavailable: 'No node serves logs that are so old; the list is not complete.',
}

export function Holders(props: { readonly tokenId: string }): JSX.Element {
  const holders = createPolled(
    () => props.tokenId,
    async (tokenId, signal) => {
      const [{ data, meta }, marks] = await Promise.all([
        client.rest.topHolders(tokenId, {}, { signal }).withMeta(),
        marksOf(tokenId, signal),
      ])
      const rows = data.map((holder) => ({ ...holder, mark: marks.get(holder.address) ?? '' }))
      return { rows, isComplete: meta.holdersComplete !== false, reason: meta.holdersReason ?? '' }
    },
    { everyMs: REFRESH_MS },
  )
  const slices = createMemo(() => slicesOf(holders.value()?.rows ?? []))
  return (
    <>
      <Problem what="Holders" error={holders.error()} />
      <Show when={holders.value()} fallback={<Waiting what="Reading holders" />}>
        {(found) => (
          <>
            <Show when={!found().isComplete}>
              <p class="note">{INCOMPLETE[found().reason] ?? 'The list of holders is not complete.'}</p>
            </Show>
            <Concentration slices={slices()} />
            <section class="scroll" tabindex="0" aria-label="Largest holders">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Holder</th>
                    <th scope="col">Share</th>
                    <th scope="col">Amount</th>
                    <th scope="col">Value</th>
                  </tr>
                </thead>
                <tbody>
                  <For each={found().rows.slice(0, SHOWN)}>
                    {(row) => (
                      <tr>
                        <th scope="row" title={row.address}>
                          {shortAddress(row.address)}{' '}
                          <Show when={row.mark}>
                            <span class="flag">{row.mark}</span>
                          </Show>
                        </th>
                        <td class="number">{formatShare(row.balance_ratio)}</td>
                        <td class="number">{formatAmount(row.amount_cur)}</td>
                        <td class="number">{row.balance_usd === 0 ? '–' : formatUsd(row.balance_usd)}</td>
                      </tr>
                    )}
                  </For>
                </tbody>
              </table>
            </section>
          </>
        )}
      </Show>
    </>
  )
}

/** Which of the largest holders are pools, the creator and so on; without a contract report, none is known. */
async function marksOf(tokenId: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { token_holders_rank: ranked } = await client.rest.contract(tokenId, { signal })
  return new Map(ranked.map(({ address, mark }) => [address, mark]))
}

/** One bar for the whole supply. */
function Concentration(props: { readonly slices: readonly Slice[] }): JSX.Element {
  const total = (): number =>
    Math.max(
      1,
      props.slices.reduce((sum, { share }) => sum + share, 0),
    )
  const placed = createMemo(() => {
    let x = 0
    return props.slices.map((slice) => {
      const width = (slice.share / total()) * WIDTH
      x += width
      return { ...slice, x: x - width, width }
    })
  })
  return (
    <figure class="concentration">
      <svg viewBox={`0 0 ${WIDTH} 24`} preserveAspectRatio="none" aria-hidden="true">
        <For each={placed()}>
          {({ x, width, className }) => <rect x={x} y="0" width={width} height="24" class={className} />}
        </For>
      </svg>
      <figcaption>
        <For each={props.slices}>
          {({ name, share, className }) => (
            <span>
              <i class={className} /> {name} {formatShare(share)}
            </span>
          )}
        </For>
      </figcaption>
    </figure>
  )
}
