import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { writeLlmsText } from '../../dev/site/llms.ts'
import { slugOf, titleOf } from '../../dev/site/page.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const GUIDES = ['quick-start', 'own-node', 'resume', 'sql', 'migrate', 'production', 'comparison'].map(
  (name) => `guides/${name}`,
)
const REFERENCE = [
  'api',
  'data-rules',
  'risk',
  'trending',
  'configuration',
  'deploy',
  'operations',
  'scale',
  'errors',
  'releases',
]
const INSIDE = ['architecture', 'threat-model', 'add-a-chain', 'add-a-dex', 'add-a-field']
const DECISIONS = readdirSync(`${root}/decisions`)
  .filter((file) => file.endsWith('.md'))
  .map((file) => `decisions/${file.slice(0, -'.md'.length)}`)
  .sort()

const itemsOf = (pages: readonly string[]) =>
  pages.map((page) => ({ text: titleOf(readFileSync(`${root}/${page}.md`, 'utf8')), link: `/${page}` }))

export default defineConfig({
  title: 'Chaintape',
  description: 'Live and historical DEX market data from your own nodes.',
  // The output of the build is ignored by git as every dist; the cache is none of the pages.
  cacheDir: '../node_modules/.cache/vitepress',
  // Files of the repository outside the site are checked by test/docs/links.test.ts.
  ignoreDeadLinks: [
    /^(\.\/)?(\.\.\/)+(README|CHANGELOG|CONTRIBUTING|SECURITY|src|test|config|deploy|dev|bench)\b/,
  ],
  // Fragments are the same in the repository and on the site.
  markdown: { anchor: { slugify: slugOf } },
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    nav: [
      { text: 'Guides', link: '/guides/quick-start' },
      { text: 'API', link: '/api' },
      { text: 'Operations', link: '/operations' },
    ],
    sidebar: [
      { text: 'Guides', items: itemsOf(GUIDES) },
      { text: 'Reference', items: itemsOf(REFERENCE) },
      { text: 'Inside', items: itemsOf(INSIDE) },
      { text: 'Decisions', collapsed: true, items: itemsOf(DECISIONS) },
    ],
  },
  buildEnd: ({ outDir, srcDir, pages }) =>
    writeLlmsText(srcDir, outDir, pages, [...GUIDES, ...REFERENCE, ...INSIDE]),
})
