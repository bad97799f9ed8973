import { existsSync, globSync, readFileSync } from 'node:fs'

/** Words that read like a translation, and what to write instead. */
const REFUSED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(tell|tells|telling|told)\b/i, 'publish, report, return or send'],
  [/\bwhoever\b/i, 'the client, caller or reader'],
  [/\bsees? to it\b/i, 'ensure'],
  [/\bcannot go on\b/i, 'fatal error, shutting down'],
  [/(\/\*\*|\/\/\/?) Of /, 'a sentence that begins with its subject'],
]

const FILES = ['{src,test,bench,dev}/**/*.ts', 'test/**/*.sol', '{docs,bench}/**/*.md', '*.md']
/** The frozen engine is deleted as a whole, and this file names the words. */
const EXEMPT = /^(test\/support\/reference\/oracle\/|dev\/\.|dev\/check-words)/

/** The lines of a file that use a refused word: in code other than tests anywhere, in tests in comments only. */
export function refusedWords(path: string, text: string): string[] {
  const areNamesChecked = path.endsWith('.md') || (path.startsWith('src/') && !path.endsWith('.test.ts'))
  return text.split('\n').flatMap((line, index) => {
    const checked = areNamesChecked ? line : (/(^\s*\/?\*|(^|\s)\/\/).*/.exec(line)?.[0] ?? '')
    return REFUSED.filter(([pattern]) => pattern.test(checked)).map(
      ([pattern, instead]) => `${path}:${index + 1}: ${pattern.exec(checked)?.[0].trim()}; write ${instead}`,
    )
  })
}

if (import.meta.main) {
  const paths = globSync(FILES, { exclude: ['**/node_modules/**'] }).filter((path) => !EXEMPT.test(path))
  const found = paths
    .filter((path) => existsSync(path))
    .flatMap((path) => refusedWords(path, readFileSync(path, 'utf8')))
  for (const line of found) console.error(line)
  console.log(found.length === 0 ? 'words: ok' : `words: ${found.length} refused`)
  if (found.length > 0) process.exitCode = 1
}
