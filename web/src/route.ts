import { createSignal } from 'solid-js'

export const INTERVALS = ['s1', 'k1', 'k5', 'k15', 'k30', 'k60', 'k120', 'k240', 'k1440', 'k10080'] as const
export type Interval = (typeof INTERVALS)[number]

export const INTERVAL_NAMES: Readonly<Record<Interval, string>> = {
  ...{ s1: '1s', k1: '1m', k5: '5m', k15: '15m', k30: '30m', k60: '1h', k120: '2h', k240: '4h' },
  ...{ k1440: '1D', k10080: '1W' },
}

export const PANELS = ['holders', 'risk', 'pairs', 'history'] as const
export type Panel = (typeof PANELS)[number]

/** What the page shows: all of it is in the URL. */
export type Route =
  | { readonly page: 'market'; readonly chain: string; readonly list: string; readonly query: string }
  | {
      readonly page: 'token'
      readonly token: string
      /** Empty: the main pair. */
      readonly pair: string
      readonly interval: Interval
      readonly panel: Panel
    }
  | { readonly page: 'chains' }

export const TRENDING = 'trending'
export const NEW_LAUNCHES = 'new'
const DEFAULT_INTERVAL: Interval = 'k15'
const DEFAULT_PANEL: Panel = 'holders'

export function parseRoute(search: string): Route {
  const params = new URLSearchParams(search)
  const get = (name: string): string => params.get(name) ?? ''
  if (params.has('token')) {
    const interval = INTERVALS.find((name) => name === get('interval')) ?? DEFAULT_INTERVAL
    const panel = PANELS.find((name) => name === get('panel')) ?? DEFAULT_PANEL
    return { page: 'token', token: get('token'), pair: get('pair'), interval, panel }
  }
  if (params.has('chains')) return { page: 'chains' }
  return { page: 'market', chain: get('chain'), list: get('list') || TRENDING, query: get('q') }
}

export function hrefOf(route: Route): string {
  const params = new URLSearchParams()
  const set = (name: string, value: string, usual = ''): void => {
    if (value !== usual) params.set(name, value)
  }
  if (route.page === 'chains') params.set('chains', '')
  if (route.page === 'market') {
    set('chain', route.chain)
    set('list', route.list, TRENDING)
    set('q', route.query)
  }
  if (route.page === 'token') {
    params.set('token', route.token)
    set('pair', route.pair)
    set('interval', route.interval, DEFAULT_INTERVAL)
    set('panel', route.panel, DEFAULT_PANEL)
  }
  return `?${params}`
}

export function tokenRoute(token: string): Route {
  return { page: 'token', token, pair: '', interval: DEFAULT_INTERVAL, panel: DEFAULT_PANEL }
}

export function marketRoute(chain = '', list = TRENDING, query = ''): Route {
  return { page: 'market', chain, list, query }
}

const isBrowser = typeof location !== 'undefined'
const [route, setRoute] = createSignal<Route>(parseRoute(isBrowser ? location.search : ''))

export { route }

/** Shows another route; `isReplaced` leaves no entry in the browser's history. */
export function navigate(to: Route, isReplaced = false): void {
  const href = hrefOf(to)
  if (isReplaced) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  setRoute(to)
  if (!isReplaced) scrollTo(0, 0)
}

/**
 * Links are ordinary ones, so that they can be opened in a new tab; a plain click does not load the page again. Those with
 * `data-replace` show another part of the same page, and leave no entry in the history.
 */
export function followLinks(): void {
  addEventListener('popstate', () => setRoute(parseRoute(location.search)))
  document.addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const href = link?.getAttribute('href') ?? ''
    if (!isPlain || !href.startsWith('?')) return
    event.preventDefault()
    navigate(parseRoute(href), link?.dataset['replace'] !== undefined)
  })
}
