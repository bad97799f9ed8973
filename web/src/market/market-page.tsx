import type { PriceEntry } from '@chaintape/client'
import { createMemo, For, type JSX, Show } from 'solid-js'
import { createStore } from 'solid-js/store'
import { createPolled, followStream } from '../live.ts'
import { client, noted } from '../market-data.ts'
import { Problem, Waiting } from '../parts.tsx'
import { hrefOf, marketRoute, NEW_LAUNCHES, navigate, route, TRENDING } from '../route.ts'
import { ChainSummary } from './chain-summary.tsx'
import { type MarketQuery, platformLists, platformsOf, readMarket } from './market-lists.ts'
import { TokenTable } from './token-table.tsx'

const REFRESH_MS = 5_000
/** Letters that come within this time are one search. */
const TYPING_MS = 120

/** Trending tokens, launches, and what the visitor searches for. */
export function MarketPage(): JSX.Element {
  const chains = createPolled(
    () => true,
    (_, signal) => client.rest.chains({ signal }),
  )
  const wanted = createMemo(() => {
    const current = route()
    return current.page === 'market' ? current : undefined
  })
  const chain = createMemo(() => {
    const name = wanted()?.chain
    const all = chains.value()
    return all?.find((one) => one.chain === name) ?? all?.[0]
  })
  const platforms = createMemo(() => platformsOf(chain()))
  const query = createMemo<MarketQuery | undefined>(
    () => {
      const [current, known] = [wanted(), chain()]
      if (current === undefined || known === undefined) return undefined
      return { chain: known.chain, list: current.list, query: current.query, platforms: platforms() }
    },
    undefined,
    { equals: (one, other) => JSON.stringify(one) === JSON.stringify(other) },
  )
  const market = createPolled(query, (asked, signal) => afterTyping(asked, signal), {
    ...{ everyMs: REFRESH_MS, keepsFormer: true },
  })

  const isAnswered = (): boolean => market.value()?.asked === query()

  // Rows are polled; their prices are pushed in between.
  const ids = createMemo(
    () => {
      const rows = market.value()?.rows
      return rows === undefined ? undefined : rows.map(({ token, chain: of }) => `${token}-${of}`).sort()
    },
    undefined,
    { equals: (one, other) => one?.join() === other?.join() },
  )
  const [prices, setPrices] = createStore<Record<string, PriceEntry>>({})
  const streamError = followStream(
    () => (ids()?.length ? ids() : undefined),
    (asked, signal) => noted(client.prices(asked, { signal })),
    (entries) => {
      const latest = entries.filter(({ is_main_pair: isMain }) => isMain)
      setPrices(Object.fromEntries(latest.map((entry) => [`${entry.target_token}-${entry.chain}`, entry])))
    },
  )

  /** Its tag; empty if the list is not that of one platform. */
  const platformList = (): string => {
    const { list = TRENDING, query: typed = '' } = wanted() ?? {}
    return typed !== '' || list === TRENDING || list === NEW_LAUNCHES ? '' : list
  }
  const list = (name: string): string => hrefOf(marketRoute(wanted()?.chain, name))
  const isCurrent = (name: string): 'page' | undefined =>
    wanted()?.list === name && wanted()?.query === '' ? 'page' : undefined
  return (
    <>
      <h1 class="hidden">Market</h1>
      <div class="toolbar">
        <Show when={(chains.value()?.length ?? 0) > 1}>
          <select
            aria-label="Chain"
            value={chain()?.chain ?? ''}
            onChange={(event) => navigate(marketRoute(event.currentTarget.value, wanted()?.list))}
          >
            <For each={chains.value()}>{(one) => <option value={one.chain}>{one.chain}</option>}</For>
          </select>
        </Show>
        <nav aria-label="Lists" class="tabs">
          <a href={list(TRENDING)} aria-current={isCurrent(TRENDING)}>
            Trending
          </a>
          <Show when={platforms().length > 0}>
            <a href={list(NEW_LAUNCHES)} aria-current={isCurrent(NEW_LAUNCHES)}>
              New launches
            </a>
            <select
              aria-label="Launch platform"
              classList={{ chosen: platformList() !== '' }}
              value={platformList()}
              onChange={(event) =>
                navigate(marketRoute(wanted()?.chain, event.currentTarget.value || TRENDING))
              }
            >
              <option value="">By platform</option>
              <For each={platformLists(platforms())}>
                {({ tag, name }) => (
                  <option value={tag} selected={tag === platformList()}>
                    {name}
                  </option>
                )}
              </For>
            </select>
          </Show>
        </nav>
        <Show when={wanted()?.query}>
          <span class="found" role="status">
            {isAnswered() ? market.value()?.rows.length : '…'} found
          </span>
        </Show>
        <ChainSummary chain={chain()?.chain} />
      </div>
      <Problem what="Market" error={market.error() ?? chains.error() ?? streamError()} />
      <Show when={market.value()} fallback={<Waiting what="Reading the market" />}>
        {(found) => (
          <TokenTable
            rows={found().rows}
            prices={prices}
            isSearch={wanted()?.query !== ''}
            isBusy={!isAnswered()}
          />
        )}
      </Show>
    </>
  )
}

/** With the query that the rows answer: while another one is read, they are still shown. */
async function afterTyping(asked: MarketQuery, signal: AbortSignal) {
  if (asked.query !== '') await new Promise((resolve) => setTimeout(resolve, TYPING_MS))
  signal.throwIfAborted()
  return { asked, rows: await readMarket(asked, signal) }
}
