import type { TokenPair } from '@chaintape/client'
import { For, type JSX, Show } from 'solid-js'
import { formatCount, formatUsd } from '../format.ts'
import { createPolled } from '../live.ts'
import { client } from '../market-data.ts'
import { Change, Price, Problem, Waiting } from '../parts.tsx'

const REFRESH_MS = 10_000

type PairsProps = {
  readonly tokenId: string
  /** The pair of the chart. */
  readonly shown: string | undefined
  readonly mainPair: string | undefined
  readonly hrefOf: (pairId: string) => string
}

/** The largest pairs of a token; each can be the one of the chart. */
export function Pairs(props: PairsProps): JSX.Element {
  const detail = createPolled(
    () => props.tokenId,
    (tokenId, signal) => client.rest.tokenDetail(tokenId, { signal }),
    { everyMs: REFRESH_MS },
  )
  return (
    <>
      <Problem what="Pairs" error={detail.error()} />
      <Show when={detail.value()} fallback={<Waiting what="Reading pairs" />}>
        {(found) => (
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">Pair</th>
                  <th scope="col">Price</th>
                  <th scope="col">24h</th>
                  <th scope="col">Liquidity</th>
                  <th scope="col">Volume 24h</th>
                  <th scope="col">Trades 24h</th>
                </tr>
              </thead>
              <tbody>
                <For each={found().data.pairs} fallback={<NoPairs />}>
                  {(pair) => <PairRow pair={pair} {...props} />}
                </For>
              </tbody>
            </table>
          </div>
        )}
      </Show>
    </>
  )
}

function NoPairs(): JSX.Element {
  return (
    <tr>
      <td colSpan={6} class="empty">
        No pairs.
      </td>
    </tr>
  )
}

function PairRow(props: PairsProps & { readonly pair: TokenPair }): JSX.Element {
  const id = (): string => `${props.pair.pair}-${props.pair.chain}`
  const isToken0 = (): boolean => props.tokenId.startsWith(props.pair.token0_address)
  return (
    <tr>
      <th scope="row">
        <a
          href={props.hrefOf(id() === props.mainPair ? '' : id())}
          aria-current={id() === props.shown ? 'true' : undefined}
        >
          <bdi>{props.pair.token0_symbol}</bdi>/<bdi>{props.pair.token1_symbol}</bdi>
        </a>{' '}
        <span class="name">{props.pair.amm}</span>
        <Show when={id() === props.mainPair}>
          <span class="flag">main</span>
        </Show>
      </th>
      <td>
        <Price value={isToken0() ? props.pair.token0_price_usd : props.pair.token1_price_usd} />
      </td>
      <td>
        <Change value={props.pair.price_change_24h} />
      </td>
      <td class="number">{formatUsd(props.pair.tvl)}</td>
      <td class="number">{formatUsd(props.pair.volume_u)}</td>
      <td class="number">{formatCount(props.pair.tx_24h_count)}</td>
    </tr>
  )
}
