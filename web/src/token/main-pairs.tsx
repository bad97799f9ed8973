import type { MainPairSwitch } from '@chaintape/client'
import { For, type JSX } from 'solid-js'
import { formatUsd, shortAddress, UNKNOWN } from '../format.ts'

type MainPairsProps = {
  readonly mainPair: string | undefined
  /** Newest first. */
  readonly switches: readonly MainPairSwitch[]
}

/** Which pair the price of the token comes from, and the changes of that while the page is open. */
export function MainPairs(props: MainPairsProps): JSX.Element {
  return (
    <>
      <p class="note">
        The main pair is <span title={props.mainPair}>{shortAddress(props.mainPair ?? UNKNOWN)}</span>.
        Changes since this page was opened:
      </p>
      <ul class="switches">
        <For each={props.switches} fallback={<li class="empty">None.</li>}>
          {({ old_main_pair: before, new_main_pair: after, new_main_pair_data: data }) => (
            <li>
              <span title={before}>{shortAddress(before)}</span> →{' '}
              <span title={after}>{shortAddress(after)}</span>{' '}
              <span class="name">
                {data.amm} {data.token0_symbol}/{data.token1_symbol}, {formatUsd(data.tvl)}
              </span>
            </li>
          )}
        </For>
      </ul>
    </>
  )
}
