/**
 * Just enough of ClickHouse's grammar to serve HTTP: where an INSERT's data begins, which format was asked
 * for, and whether there is more than one statement. Text is one character per byte (latin1), so that
 * offsets are byte offsets and binary data after the statement does no harm.
 */
export type Statement =
  /** `head` + a source for the data + `tail` is the INSERT; the data starts at `dataStart`. */
  | { readonly kind: 'insert'; readonly head: string; readonly tail: string; readonly dataStart: number }
  | { readonly kind: 'other'; readonly format?: string }

export class MultipleStatementsError extends Error {}

type Token = { readonly word: string; readonly start: number; readonly end: number; readonly depth: number }

export function parseStatement(text: string): Statement {
  const words: Token[] = []
  let settingsAt: number | undefined
  let semicolonSeen = false
  for (const token of tokens(text)) {
    if (semicolonSeen) throw new MultipleStatementsError('Multi-statements are not allowed')
    if (token.word === ';' && token.depth === 0) semicolonSeen = true
    if (token.depth > 0) continue
    const previous = words.at(-1)?.word
    const isDataInsert = words[0]?.word === 'INSERT' && !words.some(({ word }) => isQueryWord(word))
    if (isDataInsert && token.word === 'SETTINGS') settingsAt = token.start
    if (isDataInsert && previous === 'FORMAT') {
      const formatAt = words.at(-1)?.start ?? 0
      return insertStatement(text, settingsAt ?? formatAt, token.end, dataStartAfter(text, token.end))
    }
    if (isDataInsert && token.word === 'VALUES' && text.slice(token.end).trim() === '') {
      const cut = settingsAt ?? token.start
      const tail = `${text.slice(cut, token.start)}FORMAT Values`
      return { kind: 'insert', head: text.slice(0, cut), tail, dataStart: text.length }
    }
    words.push(token)
  }
  const last = words.findLast(({ word }) => word !== ';')
  const before = last && words[words.indexOf(last) - 1]
  if (last === undefined || before?.word !== 'FORMAT') return { kind: 'other' }
  return { kind: 'other', format: text.slice(last.start, last.end) }
}

// With any of these the rows come from the statement itself, not from data behind it.
function isQueryWord(word: string): boolean {
  return word === 'SELECT' || word === 'WITH' || word === 'VALUES' || word === 'INFILE' || word === 'WATCH'
}

function insertStatement(text: string, cut: number, end: number, dataStart: number): Statement {
  return { kind: 'insert', head: text.slice(0, cut), tail: text.slice(cut, end), dataStart }
}

// As the server: blanks up to and including one line end, then the data, which may itself start with one.
function dataStartAfter(text: string, end: number): number {
  const blanks = /^[ \t]*;?[ \t]*(?:\r?\n)?/.exec(text.slice(end, end + 64))
  return end + (blanks?.[0].length ?? 0)
}

const blank = /\s+|--[^\n]*|#[! ][^\n]*|\/\*.*?\*\//sy
const quoted = new RegExp([...["'", '"', '`'].map(quotedBy), '\\$(\\w*)\\$.*?\\$\\1\\$'].join('|'), 'sy')
const bare = /[A-Za-z_][A-Za-z0-9_]*/y

function* tokens(text: string): Generator<Token> {
  let depth = 0
  let at = 0
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  while (at < text.length) {
    const skipped = match(blank)
    if (skipped !== undefined) {
      at += skipped.length
      continue
    }
    const literal = match(quoted)
    const word = literal ?? match(bare) ?? text.charAt(at)
    const end = at + word.length
    if (')]}'.includes(word)) depth -= 1
    yield { word: literal ?? word.toUpperCase(), start: at, end, depth }
    if ('([{'.includes(word)) depth += 1
    at = end
  }
}

// No alternative inside the loop that matches a single character: strings of megabytes have to fit.
function quotedBy(quote: string): string {
  return `${quote}[^${quote}\\\\]*(?:(?:\\\\.|${quote}${quote})[^${quote}\\\\]*)*${quote}`
}
