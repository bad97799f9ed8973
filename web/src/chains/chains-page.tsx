import type { ChainStatus } from '@chaintape/client'
import { createEffect, createSignal, For, type JSX, Show } from 'solid-js'
import { formatAge, formatCount, formatLag, formatRate } from '../format.ts'
import { createPolled } from '../live.ts'
import { client } from '../market-data.ts'
import { Figure, Problem, Waiting } from '../parts.tsx'
import { Sparkline } from './sparkline.tsx'

const REFRESH_MS = 1_000
const SAMPLES = 120

/** Whether every chain is followed: head, lag, throughput, reorgs, faults. */
export function ChainsPage(): JSX.Element {
  const status = createPolled(
    () => true,
    (_, signal) => client.rest.status({ signal }),
    { everyMs: REFRESH_MS },
  )
  const [lags, setLags] = createSignal<Readonly<Record<string, readonly number[]>>>({})
  createEffect(() => {
    const chains = status.value()?.chains ?? []
    setLags((before) =>
      Object.fromEntries(
        chains.map(({ chain, lag_ms: lag }) => [
          chain,
          [...(before[chain] ?? []), ...(lag === undefined ? [] : [lag])].slice(-SAMPLES),
        ]),
      ),
    )
  })
  return (
    <>
      <h1 class="hidden">Chains</h1>
      <Problem what="Status" error={status.error()} />
      <Show when={status.value()} fallback={<Waiting what="Reading the status" />}>
        {(found) => (
          <div class="chains">
            <For each={found().chains.map(({ chain }) => chain)}>
              {(name) => (
                <Show when={found().chains.find(({ chain }) => chain === name)}>
                  {(chain) => <ChainCard chain={chain()} lags={lags()[name] ?? []} now={found().time} />}
                </Show>
              )}
            </For>
          </div>
        )}
      </Show>
    </>
  )
}

type CardProps = { readonly chain: ChainStatus; readonly lags: readonly number[]; readonly now: number }

function ChainCard(props: CardProps): JSX.Element {
  const state = (): { readonly name: string; readonly className: string } => {
    if (!props.chain.is_available || props.chain.faults.length > 0)
      return { name: 'Fault', className: 'down' }
    if (!props.chain.is_complete) return { name: 'Catching up', className: 'flat' }
    return { name: 'Healthy', className: 'up' }
  }
  return (
    <section class="chain" aria-label={props.chain.chain}>
      <header>
        <h2>{props.chain.chain}</h2>
        <span class={state().className}>{state().name}</span>
      </header>
      <dl class="figures">
        <Figure name="Head">{formatCount(props.chain.block)}</Figure>
        <Figure name="Final">{formatCount(props.chain.final_block)}</Figure>
        <Figure name="Lag">{formatLag(props.chain.lag_ms)}</Figure>
        <Figure name="Blocks/s">{formatRate(props.chain.last_minute?.blocks)}</Figure>
        <Figure name="Trades/s">{formatRate(props.chain.last_minute?.trades)}</Figure>
        <Figure name="Reorgs">{formatCount(props.chain.reorgs?.count)}</Figure>
        <Figure name="Deepest reorg">{formatCount(props.chain.reorgs?.deepest)}</Figure>
        <Figure name="Last reorg">{formatAge(props.chain.reorgs?.last_at, props.now)}</Figure>
        <Figure name="Push p99">{formatLag(props.chain.freshness?.block_to_push_ms.p99)}</Figure>
        <Figure name="Generation">{props.chain.generation}</Figure>
      </dl>
      <figure>
        <figcaption>
          <span>Lag since this page was opened, at most two minutes</span>
          <span class="number">
            highest {formatLag(props.lags.length > 0 ? Math.max(...props.lags) : undefined)}
          </span>
        </figcaption>
        <Sparkline values={props.lags} label={`Course of the lag of ${props.chain.chain}`} />
      </figure>
      <For each={props.chain.faults}>
        {({ role, code, since }) => (
          <p class="problem">
            {role}: {code}, for {formatAge(since, props.now)}
          </p>
        )}
      </For>
      <For each={props.chain.quarantined}>
        {({ log, sequence }) => (
          <p class="problem">
            Skipped message {sequence} of {log}
          </p>
        )}
      </For>
      <Show when={props.chain.reconciliation}>
        {(report) => (
          <p class="note">
            Compared with nodes and stores {formatAge(report().time, props.now)} ago: {report().differences}{' '}
            differences in {formatCount(report().rows)} rows and {formatCount(report().documents)} documents.
          </p>
        )}
      </Show>
    </section>
  )
}
