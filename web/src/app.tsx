import {
  createEffect,
  createSignal,
  type JSX,
  lazy,
  Match,
  onCleanup,
  Show,
  Suspense,
  Switch,
} from 'solid-js'
import { ChainsPage } from './chains/chains-page.tsx'
import { Help } from './help.tsx'
import { focusRow, handleShortcuts, type Shortcut } from './keyboard.ts'
import { MarketPage } from './market/market-page.tsx'
import { SearchBox } from './market/search-box.tsx'
import { connection } from './market-data.ts'
import { hrefOf, INTERVALS, marketRoute, navigate, route } from './route.ts'
import { toggleTheme } from './theme.ts'

/** Separate, because only this page needs the chart library. */
const TokenPage = lazy(() => import('./token/token-page.tsx'))

const CONNECTION_NAMES = { idle: 'Idle', live: 'Live', lost: 'Reconnecting' } as const

export function App(): JSX.Element {
  const [isHelpOpen, setHelpOpen] = createSignal(false)
  let search: HTMLInputElement | undefined

  const shortcuts = (): Shortcut[] => [
    { keys: ['/'], does: 'Search', run: () => search?.focus() },
    { keys: ['m'], does: 'Market', run: () => navigate(marketRoute()) },
    { keys: ['c'], does: 'Chains', run: () => navigate({ page: 'chains' }) },
    { keys: ['j', 'ArrowDown'], does: 'Next row', run: () => focusRow(1) },
    { keys: ['k', 'ArrowUp'], does: 'Previous row', run: () => focusRow(-1) },
    { keys: [...'1234567890'], does: 'Interval of the chart', run: () => undefined },
    { keys: ['t'], does: 'Light or dark', run: toggleTheme },
    { keys: ['?'], does: 'This list', run: () => setHelpOpen(true) },
    { keys: ['Escape'], does: 'Leave the search', run: () => search?.blur() },
  ]
  const withIntervals = (): Shortcut[] => {
    const current = route()
    if (current.page !== 'token') return shortcuts()
    const intervals = INTERVALS.map((interval, at) => ({
      keys: [String((at + 1) % 10)],
      does: '',
      run: () => navigate({ ...current, interval }, true),
    }))
    return [...intervals, ...shortcuts()]
  }
  onCleanup(handleShortcuts(withIntervals))
  createEffect(() => {
    if (route().page !== 'token') document.title = 'Chaintape'
  })

  const isCurrent = (page: string): 'page' | undefined => (route().page === page ? 'page' : undefined)
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href={hrefOf(marketRoute())}>
          Chaintape
        </a>
        <nav aria-label="Pages" class="tabs">
          <a href={hrefOf(marketRoute())} aria-current={isCurrent('market')}>
            Market
          </a>
          <a href={hrefOf({ page: 'chains' })} aria-current={isCurrent('chains')}>
            Chains
          </a>
        </nav>
        <SearchBox ref={(element) => (search = element)} />
        <span class={`connection ${connection()}`} role="status">
          {CONNECTION_NAMES[connection()]}
        </span>
        <button type="button" onClick={toggleTheme} aria-label="Light or dark" title="Light or dark (t)">
          ◐
        </button>
        <button
          type="button"
          class="wide"
          onClick={() => setHelpOpen(true)}
          aria-label="Keys"
          title="Keys (?)"
        >
          ?
        </button>
      </header>
      <main id="main">
        <Switch>
          <Match when={route().page === 'market'}>
            <MarketPage />
          </Match>
          <Match when={route().page === 'token'}>
            <Suspense fallback={<p class="waiting">Loading …</p>}>
              <TokenPage />
            </Suspense>
          </Match>
          <Match when={route().page === 'chains'}>
            <ChainsPage />
          </Match>
        </Switch>
      </main>
      <footer>
        <a href="docs">API</a>
        <span>
          Charts by{' '}
          <a href="https://www.tradingview.com/" rel="noreferrer" target="_blank">
            TradingView
          </a>
        </span>
      </footer>
      <Show when={isHelpOpen()}>
        <Help shortcuts={shortcuts()} onClose={() => setHelpOpen(false)} />
      </Show>
    </>
  )
}
