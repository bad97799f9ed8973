import { LOOKALIKES } from './lookalikes.ts'

/** The part of a token that a term matches: its symbol, its name from the start, or its name from a later word. */
export type TermKind = 'symbol' | 'name' | 'word'

type TokenNames = { readonly symbol: string; readonly name: string }

export type SearchTerm = { readonly kind: TermKind; readonly term: string }

const MAX_CHARACTERS = 64
const MAX_WORDS = 4
// Includes lone surrogates.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const ACCENTS = /[\u0300-\u036f]/g
/** Looks like a C, but normalizes to an ordinary sigma. */
const LUNATE_SIGMA = /[\u03f2\u03f9]/g
/** Punctuation around a symbol, such as a leading dollar sign or a trailing dot, does not distinguish tokens. */
const DECORATION = /^[\p{P}\p{S}\s]+|[\p{P}\p{S}\s]+$/gu
/** Fast path: most names are plain ASCII, and one response compares hundreds of them. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/
const UNDECORATED = /^[a-z\d](?:.*[a-z\d])?$/i
/** Stop words: half of all names end with one, so they identify no token. */
const STOP_WORDS = new Set(['token', 'coin', 'the', 'of', 'on', 'and', 'by', 'a'].map(skeletonOf))

/** Equal for texts that differ only in case, width or invisible characters. */
export function foldedOf(text: string): string {
  return bounded(plain(text).toLowerCase().normalize('NFKC'))
}

/**
 * Equal for all texts that could be mistaken for one another in any case, and for some others: because l looks like I,
 * and I is the capital of i, all of these share one letter. The skeleton of a prefix is a prefix of the skeleton.
 */
export function skeletonOf(text: string): string {
  return keyOf(text, (letter) => (letter === 'i' || isStroke(letter) ? 'l' : letter))
}

/** Equal for texts whose letters are the same, or look the same, ignoring case. */
export function lettersOf(text: string): string {
  return keyOf(text, (letter) => letter)
}

/**
 * Equal for texts that look the same: capital I, small l and the digit one are the same stroke, but small i and capital
 * L are not. So LlNK looks like LINK, and BLT does not look like BIT.
 */
export function looksOf(text: string): string {
  return keyOf(text, (letter, isCapital) => {
    if (isStroke(letter) || (letter === 'i' && isCapital)) return 'l'
    return letter === 'l' && isCapital ? 'L' : letter
  })
}

/** Search terms of a token. They are derived from its names, which never change. */
export function searchTermsOf({ symbol, name }: TokenNames): SearchTerm[] {
  const terms: SearchTerm[] = [{ kind: 'symbol', term: skeletonOf(symbol) }]
  const words = skeletonOf(name).split(' ')
  for (let at = 0; at < Math.min(words.length, MAX_WORDS); at++) {
    if (at > 0 && STOP_WORDS.has(words[at] as string)) continue
    terms.push({ kind: at === 0 ? 'name' : 'word', term: words.slice(at).join(' ') })
  }
  return terms.filter(({ term }) => term !== '')
}

function isStroke(letter: string): boolean {
  return letter === '1' || letter === '|'
}

function keyOf(text: string, letterOf: (letter: string, isCapital: boolean) => string): string {
  const bare = bounded(PLAIN.test(text) ? text : withoutAccents(text))
  let key = ''
  for (const character of undecorated(bare)) {
    const small = character.toLowerCase()
    key += letterOf(LOOKALIKES.get(small) ?? small, character !== small)
  }
  // A text of signs alone is its own key, but some of its signs may have become letters: |. is a decorated l.
  return undecorated(key)
}

function undecorated(text: string): string {
  return UNDECORATED.test(text) ? text : text.replace(DECORATION, '') || text
}

function withoutAccents(text: string): string {
  const bare = plain(text.replace(LUNATE_SIGMA, 'c')).normalize('NFKD').replace(ACCENTS, '').normalize('NFC')
  // NFKD turns a standalone accent into a space and a mark, so removing the mark can leave two spaces.
  return singleSpaced(bare)
}

function plain(text: string): string {
  if (PLAIN.test(text)) return text
  return singleSpaced(text.normalize('NFKC').replace(INVISIBLE, '').normalize('NFKC'))
}

function singleSpaced(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}

/** NFKC can expand one character into a whole phrase. */
function bounded(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : [...text].slice(0, MAX_CHARACTERS).join('').trim()
}
