import { globSync, readFileSync } from 'node:fs'
import { misspelledWords } from './spelling.ts'

/** Words that read like a translation, and what to write instead. */
const REFUSED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(tell|tells|telling|told)\b/i, 'publish, report, return or send'],
  [
    /[a-z](Tells?|Told)(?![a-z])|\b(tells?|told)[A-Z\d]|(?<![A-Z])(TELL|TELLING|TOLD)(?![A-Z])/,
    'publish, report, return or send',
  ],
  [/\bwhoever\b/i, 'the client, caller or reader'],
  [/\bsees? to it\b/i, 'ensure'],
  [/\bcannot go on\b/i, 'fatal error, shutting down'],
  [/(\/\*\*|\/\/\/?) Of /, 'a sentence that begins with its subject'],
]

const PAGES = ['{docs,bench,clients,.github}/**/*.md', '*.md']
const FILES = ['{src,test,bench,dev,clients}/**/*.ts', 'test/**/*.sol', 'src/store/**/*.{sql,lua}', ...PAGES]
/** Pages, and the sources with texts for clients and operators. */
const SPELLED = [...PAGES, 'src/main.ts', 'src/{config,gateway,roles}/**/*.ts']
/** Migrations are stored with a checksum of their text, and this file names the words. */
const EXEMPT = /^(src\/store\/clickhouse\/migrations\/|dev\/\.|dev\/check-words)/

/** The lines of a file that use a refused word, in names, comments or texts. */
export function refusedWords(path: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      REFUSED.filter(([pattern]) => pattern.test(line)).map(
        ([pattern, instead]) => `${path}:${index + 1}: ${pattern.exec(line)?.[0].trim()}; write ${instead}`,
      ),
    )
}

function check(patterns: string[], faultsOf: (path: string, text: string) => string[]): string[] {
  return globSync(patterns, { exclude: ['**/node_modules/**'] })
    .filter((path) => !EXEMPT.test(path))
    .flatMap((path) => faultsOf(path, readFileSync(path, 'utf8')))
}

if (import.meta.main) {
  const refused = check(FILES, refusedWords)
  const misspelled = check(SPELLED, (path, text) =>
    path.endsWith('.test.ts') ? [] : misspelledWords(path, text),
  )
  for (const line of [...refused, ...misspelled]) console.error(line)
  const isClean = refused.length + misspelled.length === 0
  console.log(isClean ? 'words: ok' : `words: ${refused.length} refused, ${misspelled.length} misspelled`)
  if (!isClean) process.exitCode = 1
}
