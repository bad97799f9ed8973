import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { repo } from './blocks.ts'

/** A copy of what the site is made of: a page can be broken in it, and nothing is left in the source tree. */
const copy = mkdtempSync(join(tmpdir(), 'chaintape-site-'))
const out = join(copy, 'docs/.vitepress/dist')

before(() => {
  for (const folder of ['docs', 'dev/site']) {
    const isSource = (file: string): boolean => !file.includes('.vitepress/dist')
    cpSync(join(repo, folder), join(copy, folder), { recursive: true, filter: isSource })
  }
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}')
  symlinkSync(join(repo, 'node_modules'), join(copy, 'node_modules'))
})

after(() => rmSync(copy, { recursive: true, force: true }))

function build(): Promise<{ isBuilt: boolean; output: string }> {
  return new Promise((resolve) => {
    const program = join(repo, 'node_modules/vitepress/bin/vitepress.js')
    execFile(process.execPath, [program, 'build', 'docs'], { cwd: copy }, (error, stdout, stderr) =>
      resolve({ isBuilt: error === null, output: `${stdout}${stderr}` }),
    )
  })
}

describe('the site', () => {
  test('is built without a dead link, with search, llms.txt and every page as Markdown', async () => {
    const { isBuilt, output } = await build()
    assert.ok(isBuilt, output)
    const pages = readdirSync(join(repo, 'docs'), { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.md') && !file.startsWith('.'))
    for (const page of pages) {
      assert.ok(existsSync(join(out, page)), page)
      assert.ok(existsSync(join(out, page.replace(/md$/, 'html'))), page)
    }
    const chunks = readdirSync(join(out, 'assets/chunks'))
    assert.ok(chunks.some((file) => file.includes('localSearchIndex')))
    const index = readFileSync(join(out, 'llms.txt'), 'utf8')
    assert.match(index, /^# Chaintape\n\n> /)
    const links = [...index.matchAll(/\]\(\/([^)]+)\): \S/g)].map(([, file = '']) => file)
    assert.ok(links.includes('guides/resume.md') && links.includes('api.md'))
    for (const link of links) assert.ok(existsSync(join(out, link)), link)
  })

  test('is not built with a dead link', async () => {
    writeFileSync(join(copy, 'docs/broken.md'), '# Broken\n\n[nowhere](guides/nowhere.md)\n')
    const { isBuilt, output } = await build()
    assert.ok(!isBuilt)
    assert.match(output, /guides\/nowhere/)
  })
})
