import { For, type JSX, Show } from 'solid-js'
import { formatCount, formatDateTime, shortAddress, UNKNOWN } from '../format.ts'
import { createPolled } from '../live.ts'
import { client } from '../market-data.ts'
import { Problem, Waiting } from '../parts.tsx'

const REFRESH_MS = 15_000
const REASONS: Readonly<Record<string, string>> = {
  deeper: 'deeper',
  emptied: 'the former one was emptied',
  graduated: 'graduated from its curve',
}

type MainPairsProps = { readonly tokenId: string; readonly mainPair: string | undefined }

/** Which pair the price of the token comes from, and which ones it came from before. */
export function MainPairs(props: MainPairsProps): JSX.Element {
  const changes = createPolled(
    // A change that is pushed is read with the others.
    () => ({ tokenId: props.tokenId, mainPair: props.mainPair }),
    ({ tokenId }, signal) => client.rest.mainPairHistory(tokenId, {}, { signal }),
    { everyMs: REFRESH_MS, keepsFormer: true },
  )
  const mainAddress = (): string => props.mainPair?.slice(0, props.mainPair.lastIndexOf('-')) ?? UNKNOWN
  return (
    <>
      <Problem what="Main pair" error={changes.error()} />
      <p class="note">
        The price comes from <span title={props.mainPair}>{shortAddress(mainAddress())}</span>.
      </p>
      <Show when={changes.value()} fallback={<Waiting what="Reading changes" />}>
        {(found) => (
          <section class="scroll" tabindex="0" aria-label="Changes of the main pair">
            <table>
              <thead>
                <tr>
                  <th scope="col">Changed</th>
                  <th scope="col">From</th>
                  <th scope="col">To</th>
                  <th scope="col">Because</th>
                  <th scope="col">Block</th>
                </tr>
              </thead>
              <tbody>
                <For each={found()} fallback={<NoChanges />}>
                  {({ time, block_number: block, old_main_pair: from, new_main_pair: to, reason }) => (
                    <tr>
                      <td class="number">{formatDateTime(time)}</td>
                      <td title={from}>{shortAddress(from)}</td>
                      <td title={to}>{shortAddress(to)}</td>
                      <td>{REASONS[reason] ?? reason}</td>
                      <td class="number">{formatCount(block)}</td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </section>
        )}
      </Show>
    </>
  )
}

function NoChanges(): JSX.Element {
  return (
    <tr>
      <td colSpan={5} class="empty">
        The main pair has never changed.
      </td>
    </tr>
  )
}
