import { foldedOf, lettersOf, looksOf, skeletonOf } from '../../../domain/search-text.ts'

/** A text and what it is compared by. */
export type TextKeys = {
  readonly text: string
  readonly folded: string
  readonly letters: string
  readonly looks: string
}

export type NameKeys = Pick<TextKeys, 'letters' | 'looks'>

/** A keyword as the user typed it. */
export type Keyword = TextKeys & {
  readonly skeleton: string
  /** Too many names have any one or two letters. */
  readonly isForNames: boolean
}

/** In its symbol, in how its symbol begins, or in its name only; and how well in that. Lower is better. */
export type Match = { readonly class: 0 | 1 | 2; readonly distance: number }

const FITS = ['equal', 'begins', 'word'] as const
type Fit = (typeof FITS)[number]

const MIN_NAME_LETTERS = 3

export function parseKeyword(typed: string): Keyword {
  const skeleton = skeletonOf(typed)
  const isForNames = [...skeleton].length >= MIN_NAME_LETTERS
  return { ...keysOf(typed.trim()), skeleton, isForNames }
}

export function keysOf(text: string): TextKeys {
  return { text, folded: foldedOf(text), letters: lettersOf(text), looks: looksOf(text) }
}

export function nameKeysOf(name: string): NameKeys {
  return { letters: lettersOf(name), looks: looksOf(name) }
}

/** How well a token of this symbol and name matches, if it does. */
export function matchOf(keyword: Keyword, symbol: TextKeys, name: NameKeys): Match | undefined {
  const fits = fitsOf(keyword, symbol)
  if (fits.includes('equal')) {
    return { class: 0, distance: symbol.text === keyword.text ? 0 : symbol.folded === keyword.folded ? 1 : 2 }
  }
  if (fits.includes('begins')) return { class: 1, distance: symbol.folded.startsWith(keyword.folded) ? 0 : 1 }
  if (!keyword.isForNames) return undefined
  const distances = fitsOf(keyword, name).map((fit) => FITS.indexOf(fit))
  return distances.length === 0 ? undefined : { class: 2, distance: Math.min(...distances) }
}

function fitsOf(keyword: Keyword, { letters, looks }: NameKeys): Fit[] {
  return [fitOf(keyword.letters, letters), fitOf(keyword.looks, looks)].filter((fit) => fit !== undefined)
}

function fitOf(wanted: string, text: string): Fit | undefined {
  if (wanted === '') return undefined
  if (text === wanted) return 'equal'
  if (text.startsWith(wanted)) return 'begins'
  return text.includes(` ${wanted}`) ? 'word' : undefined
}
