import { LOOKALIKES } from './lookalikes.ts'

/** In what of a token a text is looked for: its symbol, its name from the beginning, or from a later word. */
export type TermKind = 'symbol' | 'name' | 'word'

type TokenNames = { readonly symbol: string; readonly name: string }

export type SearchTerm = { readonly kind: TermKind; readonly term: string }

const MAX_CHARACTERS = 64
const MAX_WORDS = 4
// Surrogates without their other half included.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const ACCENTS = /[\u0300-\u036f]/g
/** Looks like a C, and would be made an ordinary sigma. */
const LUNATE_SIGMA = /[\u03f2\u03f9]/g
/** A dollar sign before a symbol, a dot behind it: not what tells one token from another. */
const DECORATION = /^[\p{P}\p{S}\s]+|[\p{P}\p{S}\s]+$/gu
/** What most names are made of needs none of this, and hundreds are compared for one answer. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/
const UNDECORATED = /^[a-z\d](?:.*[a-z\d])?$/i
/** Half of all names end with these: whoever searches for one of them looks for none of those. */
const WORDS_OF_ALL = new Set(['token', 'coin', 'the', 'of', 'on', 'and', 'by', 'a'].map(skeletonOf))

/** The same for texts that differ only in case, in width or in something invisible. */
export function foldedOf(text: string): string {
  return bounded(plain(text).toLowerCase().normalize('NFKC'))
}

/**
 * The same for all texts that one of them could be taken for, in any case, and for more: as l looks like I, and I is the
 * capital of i, it has one letter for all of these. What begins alike has a key that begins alike.
 */
export function skeletonOf(text: string): string {
  return keyOf(text, (letter) => (letter === 'i' || isStroke(letter) ? 'l' : letter))
}

/** The same for texts whose letters, in any case, are the same or look the same in that case. */
export function lettersOf(text: string): string {
  return keyOf(text, (letter) => letter)
}

/**
 * The same for texts that look the same: a stroke is a capital I, a small l or a one, but neither a small i nor a
 * capital L. So LlNK looks like LINK, and BLT does not look like BIT.
 */
export function looksOf(text: string): string {
  return keyOf(text, (letter, isCapital) => {
    if (isStroke(letter) || (letter === 'i' && isCapital)) return 'l'
    return letter === 'l' && isCapital ? 'L' : letter
  })
}

/** What a token is found by. They follow from its names, so they never change. */
export function searchTermsOf({ symbol, name }: TokenNames): SearchTerm[] {
  const terms: SearchTerm[] = [{ kind: 'symbol', term: skeletonOf(symbol) }]
  const words = skeletonOf(name).split(' ')
  for (let at = 0; at < Math.min(words.length, MAX_WORDS); at++) {
    if (at > 0 && WORDS_OF_ALL.has(words[at] as string)) continue
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
  for (const character of UNDECORATED.test(bare) ? bare : bare.replace(DECORATION, '') || bare) {
    const small = character.toLowerCase()
    key += letterOf(LOOKALIKES.get(small) ?? small, character !== small)
  }
  return key
}

function withoutAccents(text: string): string {
  const bare = plain(text.replace(LUNATE_SIGMA, 'c')).normalize('NFKD').replace(ACCENTS, '').normalize('NFC')
  // An accent of its own is a space with a mark on it: once that is gone, there may be two spaces.
  return singleSpaced(bare)
}

function plain(text: string): string {
  if (PLAIN.test(text)) return text
  return singleSpaced(text.normalize('NFKC').replace(INVISIBLE, '').normalize('NFKC'))
}

function singleSpaced(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}

/** One character may stand for a whole sentence. */
function bounded(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : [...text].slice(0, MAX_CHARACTERS).join('').trim()
}
