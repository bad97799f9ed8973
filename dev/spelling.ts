import { readFileSync } from 'node:fs'
import english from 'dictionary-en'
import nspell from 'nspell'
import { parseSync, Visitor } from 'oxc-parser'

/** Words that an English dictionary lacks, sorted, as a Hunspell personal dictionary: `prefetch/fetch` has the endings of `fetch`. */
export const PROJECT_WORDS = readFileSync(new URL('words.txt', import.meta.url), 'utf8')

/** American English. */
const speller = nspell({ aff: Buffer.from(english.aff), dic: Buffer.from(english.dic) }).personal(
  PROJECT_WORDS,
)

/** Code, HTML and link targets: text that is not prose. */
const NOT_PROSE = [
  /^( *)(```|~~~)[\s\S]*?^\1\2/gm,
  /<!--[\s\S]*?-->|<style>[\s\S]*?<\/style>|<\/?[a-z!][^>\n]*>/g,
  /(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g,
  /\]\([^)]*\)/g,
  /https?:\/\/\S+/g,
  /\S*[/\\_@]\S*\.\w+/g,
]
/** A word that is part of an identifier, or an acronym, is not checked. */
const WORD = /(?<![\p{L}\p{N}_.$/])\p{L}[\p{L}'’]*(?![\p{L}\p{N}_'’(])/gu
const ACRONYM = /^\p{Lu}+s?$/u

/** The prose of a page, or the texts of a source file, with every line where it was. */
function proseOf(path: string, text: string): string {
  const prose = path.endsWith('.md') ? text : textsOf(path, text)
  return NOT_PROSE.reduce((rest, pattern) => rest.replace(pattern, blank), prose)
}

/** String literals of more than one word: API descriptions, errors and log messages. */
function textsOf(path: string, source: string): string {
  const texts: { start: number; end: number }[] = []
  new Visitor({
    Literal: (node) => void (typeof node.value === 'string' && texts.push(node)),
    TemplateElement: (node) => void texts.push(node),
  }).visit(parseSync(path, source, { lang: 'ts', sourceType: 'module' }).program)
  let prose = ''
  for (const { start, end } of texts.toSorted((a, b) => a.start - b.start)) {
    const text = source.slice(start, end)
    const isProse = /[a-z]\s+[a-z]/i.test(text)
    prose += blank(source.slice(prose.length, start))
    prose += isProse ? text.replace(/^[`'"}]|(\$\{|[`'"])$|\\[^`]|\\(?=`)/g, blank) : blank(text)
  }
  return prose
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

export function isSpelledCorrectly(word: string): boolean {
  const plain = word.replaceAll('’', "'").replace(/'+$/, '')
  const stem = plain.replace(/'s$/, '')
  return stem.length === 1 || ACRONYM.test(stem) || speller.correct(plain) || speller.correct(stem)
}

/** Misspelled words of a page of Markdown or of the texts in a source file. */
export function misspelledWords(path: string, text: string): string[] {
  return proseOf(path, text)
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(WORD)]
        .map(([word]) => word)
        .filter((word) => !isSpelledCorrectly(word))
        .map((word) => `${path}:${index + 1}: ${word} is misspelled, or missing in dev/words.txt`),
    )
}
