import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, resolve } from 'node:path'
import { launchBrowser } from '../support/rigs/browser.ts'
import { EXAMPLES } from './program.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
}
const PATIENCE_MS = 90_000

export type ChartPage = {
  readonly complaints: readonly string[]
  status(): Promise<string>
  pixels(): Promise<Buffer>
  close(): Promise<void>
}

/** The chart in a browser; its folder is served as a user would. */
export async function openChart(
  executablePath: string,
  query: Readonly<Record<string, string>>,
): Promise<ChartPage> {
  const site = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname
    // Installed beside the page for a user; here they are the packages of the repository.
    const root = path.startsWith('/node_modules/') ? resolve(EXAMPLES, '..') : EXAMPLES
    readFile(join(root, path)).then(
      (body) =>
        response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream').end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done))
  const browser = await launchBrowser(executablePath)
  const complaints: string[] = []
  const page = await browser.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    const isIcon = message.location().url.endsWith('/favicon.ico')
    if (message.type() === 'error' && !isIcon) complaints.push(message.text())
  })
  const { port } = site.address() as AddressInfo
  await page.goto(`http://127.0.0.1:${port}/candle-chart.html?${new URLSearchParams(query)}`)
  return {
    complaints,
    status: async () => (await page.locator('#status').textContent()) ?? '',
    pixels: () => page.screenshot(),
    close: async () => {
      await browser.close()
      site.closeAllConnections()
      await new Promise((done) => site.close(done))
    },
  }
}
