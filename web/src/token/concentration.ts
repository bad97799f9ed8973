export type Slice = { readonly name: string; readonly share: number; readonly className: string }

type Held = { readonly balance_ratio: number; readonly mark: string }

const GROUPS = [
  { name: 'largest', from: 0, to: 1, className: 'first' },
  { name: '2 to 10', from: 1, to: 10, className: 'second' },
  { name: '11 to 100', from: 10, to: 100, className: 'third' },
]
/** Not in anybody's hands. */
const APART: Readonly<Record<string, string>> = { pool: 'in pools', burned: 'burned' }

/**
 * Who holds the supply, as parts of 1: pools and burned tokens first, then the largest wallets, then everybody else. Ratios
 * are those of the list; what the list does not contain is the rest.
 */
export function slicesOf(holders: readonly Held[]): Slice[] {
  const apart = Object.entries(APART).map(([mark, name]) => ({
    ...{ name, className: mark },
    share: sum(holders.filter((holder) => holder.mark === mark)),
  }))
  const wallets = holders.filter(({ mark }) => APART[mark] === undefined)
  const groups = GROUPS.map(({ name, from, to, className }) => ({
    ...{ name, className },
    share: sum(wallets.slice(from, to)),
  }))
  const known = [...apart, ...groups]
  const rest = Math.max(0, 1 - known.reduce((total, { share }) => total + share, 0))
  return [...known, { name: 'everybody else', share: rest, className: 'rest' }].filter(
    ({ share }) => share > 0,
  )
}

function sum(holders: readonly Held[]): number {
  return holders.reduce((total, { balance_ratio: ratio }) => total + ratio, 0)
}
