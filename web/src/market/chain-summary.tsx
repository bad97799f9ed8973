import { createMemo, type JSX, Show } from 'solid-js'
import { formatCount, formatLag, formatRate } from '../format.ts'
import { createPolled } from '../live.ts'
import { client } from '../market-data.ts'
import { hrefOf } from '../route.ts'

const REFRESH_MS = 2_000

/** Head, lag and throughput of the chain in one line; the page of chains has the rest. */
export function ChainSummary(props: { readonly chain: string | undefined }): JSX.Element {
  const status = createPolled(
    () => true,
    (_, signal) => client.rest.status({ signal }),
    { everyMs: REFRESH_MS },
  )
  const shown = createMemo(() => status.value()?.chains.find(({ chain }) => chain === props.chain))
  return (
    <Show when={shown()}>
      {(chain) => (
        <a class="summary number" href={hrefOf({ page: 'chains' })} title="Chains (c)">
          <span>{chain().chain}</span>
          <span>block {formatCount(chain().block)}</span>
          <span>lag {formatLag(chain().lag_ms)}</span>
          <span>{formatRate(chain().last_minute?.trades)} trades/s</span>
        </a>
      )}
    </Show>
  )
}
