/** npm run build:web: builds the web terminal into web/dist, which the gateway serves and the package ships. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { TERMINAL_FOLDER } from '../src/lib/terminal-folder.ts'

const web = fileURLToPath(new URL('../web/', import.meta.url))

/** Bytes that a browser loads for the market page, and for the first chart, compressed. */
export const SIZE_BUDGET = { market: 40_000, chart: 100_000 }

export function buildTerminal(): void {
  // The documentation has a Vite of its own.
  const vite = dirname(createRequire(join(web, 'package.json')).resolve('vite/package.json'))
  execFileSync(process.execPath, [join(vite, 'bin/vite.js'), 'build', '--logLevel', 'warn'], {
    cwd: web,
    stdio: 'inherit',
  })
}

export function terminalSizes(): { readonly market: number; readonly chart: number } {
  const folder = join(TERMINAL_FOLDER, 'assets')
  const names = readdirSync(folder).filter((name) => /\.(js|css)$/.test(name))
  const sizeOf = (chosen: readonly string[]): number =>
    chosen.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0)
  return { market: sizeOf(names.filter((name) => !name.startsWith('token-page'))), chart: sizeOf(names) }
}

export function describeSizes(): string {
  const sizes = terminalSizes()
  const line = (page: 'market' | 'chart'): string =>
    `${page} ${(sizes[page] / 1_000).toFixed(1)} of ${SIZE_BUDGET[page] / 1_000} kB`
  return `web terminal, gzip: ${line('market')}, ${line('chart')}`
}

if (import.meta.main) {
  buildTerminal()
  console.log(describeSizes())
}
