import { createMemo, type JSX } from 'solid-js'
import { focusRow } from '../keyboard.ts'
import { marketRoute, navigate, route } from '../route.ts'

const LOOK_MS = 25

/** Opens the first match, once the table shows the matches of what was typed. */
function openFirst(typed: string): void {
  const current = route()
  if (current.page !== 'market' || current.query !== typed) return
  const table = document.querySelector('table.market')
  if (table === null || table.ariaBusy === 'true') setTimeout(() => openFirst(typed), LOOK_MS)
  else table.querySelector<HTMLElement>('[data-row-link]')?.click()
}

/** Typing shows the matches in the market table: the text is a part of the URL. */
export function SearchBox(props: { readonly ref: (element: HTMLInputElement) => void }): JSX.Element {
  const query = createMemo(() => {
    const current = route()
    return current.page === 'market' ? current.query : ''
  })
  const search = (text: string): void => {
    const current = route()
    const isMarket = current.page === 'market'
    const to = marketRoute(isMarket ? current.chain : '', isMarket ? current.list : undefined, text)
    // Back leads to the page before the search, not through every letter.
    navigate(to, isMarket && current.query !== '')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'Enter') return
    event.preventDefault()
    if (event.key === 'ArrowDown') focusRow(1)
    else openFirst(query())
  }
  return (
    <search>
      <input
        ref={props.ref}
        type="search"
        aria-label="Search tokens by symbol, name or address"
        placeholder="Symbol, name or address  /"
        autocomplete="off"
        spellcheck={false}
        maxLength={128}
        value={query()}
        onInput={(event) => search(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </search>
  )
}
