import { createEffect, createMemo, createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import { formatAge, formatCount, formatPrice, formatUsd, shortAddress } from '../format.ts'
import { createClock, createPolled, followStream } from '../live.ts'
import { client, noted } from '../market-data.ts'
import { Avatar, Change, Copyable, Figure, Price, Problem, RiskScore, Waiting } from '../parts.tsx'
import { hrefOf, PANELS, type Panel, type Route, route } from '../route.ts'
import { Chart } from './chart.tsx'
import { Holders } from './holders.tsx'
import { MainPairs } from './main-pairs.tsx'
import { Pairs } from './pairs.tsx'
import { Risk } from './risk.tsx'
import { Tape } from './tape.tsx'
import { readToken } from './token-data.ts'

type TokenRoute = Extract<Route, { readonly page: 'token' }>

const REFRESH_MS = 5_000
const PANEL_NAMES: Readonly<Record<Panel, string>> = {
  ...{ holders: 'Holders', risk: 'Risk', pairs: 'Pairs', history: 'Main pair' },
}

/** One token: its chart, trades, holders, risk and pairs. */
export default function TokenPage(): JSX.Element {
  const current = createMemo<TokenRoute | undefined>((before) => {
    const now = route()
    // The page is still there for a moment while another one replaces it.
    return now.page === 'token' ? now : before
  })
  const tokenId = createMemo(() => current()?.token)
  const token = createPolled(tokenId, readToken, { everyMs: REFRESH_MS })
  const [mainPair, setMainPair] = createSignal<string>()
  const address = createMemo(() => tokenId()?.slice(0, tokenId()?.lastIndexOf('-')) ?? '')
  const chain = createMemo(() => tokenId()?.slice(address().length + 1))
  createEffect(() => {
    const row = token.value()
    setMainPair(row?.main_pair === undefined ? undefined : `${row.main_pair}-${row.chain}`)
  })
  const pairId = createMemo(() => current()?.pair || mainPair())
  followStream(
    mainPair,
    (pair, signal) => noted(client.mainPairSwitches(pair, { signal, onGap: () => undefined })),
    (events) => {
      const latest = events.at(-1)
      if (latest !== undefined) setMainPair(`${latest.new_main_pair}-${latest.chain}`)
    },
  )
  const [live, setLive] = createSignal<string>()
  followStream(
    tokenId,
    (id, signal) => {
      setLive(undefined)
      return noted(client.prices([id], { signal }))
    },
    // Other numbers of an entry are those of its pair; the polled row has those of all pairs.
    (entries) => {
      const wanted = address().toLowerCase()
      const latest = entries.findLast(({ target_token: of }) => of.toLowerCase() === wanted)
      if (latest !== undefined) setLive(latest.uprice)
    },
  )
  const price = (): string | undefined => live() || token.value()?.current_price_usd
  createEffect(() => {
    const row = token.value()
    if (row !== undefined) document.title = `${row.symbol} ${formatPrice(price())} · Chaintape`
  })
  const hrefWith = (changes: Partial<TokenRoute>): string =>
    hrefOf({ ...(current() as TokenRoute), ...changes })
  const now = createClock()

  return (
    <Show when={current()}>
      {(shown) => (
        <article class="token">
          <header>
            <h1>
              <Avatar address={address()} symbol={token.value()?.symbol ?? ''} />
              <span class="symbol">{token.value()?.symbol ?? '…'}</span>{' '}
              <span class="name">{token.value()?.name}</span>
            </h1>
            <p class="price">
              <Price value={price()} /> <Change value={token.value()?.price_change_24h} />
            </p>
            <p class="marks">
              <Copyable text={address()} shown={shortAddress(address())} />
              <span class="flag">{chain()}</span>
              <Show when={token.value()?.issue_platform}>
                <span class="flag">{token.value()?.issue_platform}</span>
              </Show>
              <Show when={token.value()?.is_honeypot === 1}>
                <span class="flag bad">honeypot</span>
              </Show>
            </p>
            <dl class="figures">
              <Figure name="1h">
                <Change value={token.value()?.token_price_change_1h} />
              </Figure>
              <Figure name="4h">
                <Change value={token.value()?.token_price_change_4h} />
              </Figure>
              <Figure name="Volume 24h">{formatUsd(token.value()?.tx_volume_u_24h)}</Figure>
              <Figure name="Liquidity">{formatUsd(token.value()?.tvl)}</Figure>
              <Figure name="Market cap">{formatUsd(token.value()?.market_cap)}</Figure>
              <Figure name="FDV">{formatUsd(token.value()?.fdv)}</Figure>
              <Figure name="Holders">{formatCount(token.value()?.holders)}</Figure>
              <Figure name="Age">{formatAge(token.value()?.created_at, now())}</Figure>
              <Figure name="Risk">
                <RiskScore score={token.value()?.risk_score} />
              </Figure>
            </dl>
          </header>
          <Problem what="Token" error={token.error()} />
          <Chart
            source={withInterval(pairId(), shown().interval)}
            interval={shown().interval}
            hrefOf={(interval) => hrefWith({ interval })}
          />
          <Tape pairId={pairId()} />
          <section class="panels" aria-label="Details">
            <nav aria-label="Details" class="tabs">
              <For each={PANELS}>
                {(panel) => (
                  <a
                    href={hrefWith({ panel })}
                    aria-current={shown().panel === panel ? 'true' : undefined}
                    data-replace
                  >
                    {PANEL_NAMES[panel]}
                  </a>
                )}
              </For>
            </nav>
            <Switch fallback={<Waiting what="Reading" />}>
              <Match when={shown().panel === 'holders'}>
                <Holders tokenId={shown().token} />
              </Match>
              <Match when={shown().panel === 'risk'}>
                <Risk tokenId={shown().token} />
              </Match>
              <Match when={shown().panel === 'pairs'}>
                <Pairs
                  tokenId={shown().token}
                  shown={pairId()}
                  mainPair={mainPair()}
                  hrefOf={(pair) => hrefWith({ pair })}
                />
              </Match>
              <Match when={shown().panel === 'history'}>
                <MainPairs tokenId={shown().token} mainPair={mainPair()} />
              </Match>
            </Switch>
          </section>
        </article>
      )}
    </Show>
  )
}

function withInterval(pairId: string | undefined, interval: TokenRoute['interval']) {
  return pairId === undefined ? undefined : { pairId, interval }
}
