import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { summaryOf, titleOf } from './page.ts'

/** Writes `llms.txt`, an index of pages for language models, and every page as Markdown beside its HTML. */
export function writeLlmsText(
  sourceDir: string,
  outDir: string,
  files: readonly string[],
  listed: readonly string[],
): void {
  const textOf = (file: string): string => readFileSync(join(sourceDir, file), 'utf8')
  for (const file of files) copyFileSync(join(sourceDir, file), join(outDir, file))
  const home = textOf('index.md')
  const lines = listed.map((page) => {
    const text = textOf(`${page}.md`)
    return `- [${titleOf(text)}](/${page}.md): ${summaryOf(text)}`
  })
  const index = [`# ${titleOf(home)}`, `> ${summaryOf(home)}`, ['## Pages', ...lines].join('\n')]
  writeFileSync(join(outDir, 'llms.txt'), `${index.join('\n\n')}\n`)
}
