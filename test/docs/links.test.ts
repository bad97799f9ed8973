import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { slugOf } from '../../dev/site/page.ts'
import { repo } from './blocks.ts'

/** Links between files of the repository, and to headings in them; the site is built from some of these files only. */

const pages = globSync(['*.md', 'docs/**/*.md', 'bench/*.md'], { cwd: repo })
const CODE = /^( *)```[\s\S]*?^\1```|`[^`\n]*`/gm
const LINK = /\]\(([^)\s]+)\)/g

function proseOf(page: string): string {
  return readFileSync(join(repo, page), 'utf8').replaceAll(CODE, (code) => code.replaceAll(/\S/g, 'x'))
}

/** Fragments of a page's headings; a heading that is there twice has a number. */
function fragmentsOf(page: string): Set<string> {
  const text = readFileSync(join(repo, page), 'utf8').replaceAll(/^( *)```[\s\S]*?^\1```/gm, '')
  const fragments = new Set<string>()
  for (const [, heading = ''] of text.matchAll(/^#+ (.+)$/gm)) {
    const slug = slugOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, ''))
    let fragment = slug
    for (let number = 1; fragments.has(fragment); number++) fragment = `${slug}-${number}`
    fragments.add(fragment)
  }
  return fragments
}

test('every relative link leads to a file, and its fragment to a heading', () => {
  const faults = pages.flatMap((page) =>
    [...proseOf(page).matchAll(LINK)].flatMap(([, target = '']) => {
      if (/^[a-z]+:/.test(target)) return []
      const [path = '', fragment] = target.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), path))
      if (!existsSync(join(repo, file))) return [`${page}: ${target}: no such file`]
      const isFound = fragment === undefined || !file.endsWith('.md') || fragmentsOf(file).has(fragment)
      return isFound ? [] : [`${page}: ${target}: no such heading`]
    }),
  )
  assert.deepEqual(faults, [])
})
