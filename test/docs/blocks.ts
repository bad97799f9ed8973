import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repo = resolve(fileURLToPath(new URL('../..', import.meta.url)))

/** A fenced block of a page. */
export type Block = {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
  /** The reason in `<!-- not run: reason -->` right above the block. */
  readonly notRun: string | undefined
}

/** Pages whose blocks have to work as they are. */
export const PAGES: readonly string[] = [
  'README.md',
  ...globSync('docs/{index,guides/*,api,configuration,deploy}.md', { cwd: repo }).sort(),
]

const FENCE = /^( *)```([\w-]*)\n([\s\S]*?)^\1```$/gm
const NOT_RUN = /<!-- not run: (.+) -->\s*$/

export function blocksOf(page: string, text = readFileSync(resolve(repo, page), 'utf8')): Block[] {
  return [...text.matchAll(FENCE)].map(({ index, 1: indent = '', 2: language = '', 3: body = '' }) => {
    const before = text.slice(0, index)
    return {
      ...{ page, language, line: before.split('\n').length },
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      notRun: NOT_RUN.exec(before)?.[1],
    }
  })
}

/** Where a documented answer differs in form from a real one: a field that is missing, or of another type. */
export function shapeFaults(documented: unknown, real: unknown, where = '$'): string[] {
  if (kindOf(documented) !== kindOf(real))
    return [`${where} is ${kindOf(real)}, documented as ${kindOf(documented)}`]
  if (Array.isArray(documented) && Array.isArray(real)) {
    if (documented.length > 0 && real.length === 0) return [`${where} is empty`]
    return documented.flatMap((item, index) =>
      shapeFaults(item, real[Math.min(index, real.length - 1)], `${where}[${index}]`),
    )
  }
  if (!isObject(documented) || !isObject(real)) return []
  // Ids and times are names of entries, not of fields: they are different in every market.
  const entries = Object.entries(documented).map(([key, value]) => {
    const [first] = Object.values(real)
    return { key, value, at: ENTRY_NAME.test(key) ? first : real[key] }
  })
  return entries.flatMap(({ key, value, at }) =>
    at === undefined ? [`${where}.${key} is not there`] : shapeFaults(value, at, `${where}.${key}`),
  )
}

const ENTRY_NAME = /^0x[0-9a-f]{40}-/

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return kindOf(value) === 'object'
}
