import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
/** A busy machine needs several times what a quiet one does. */
const LAUNCH_MS = 120_000

/** A Chromium on PATH; dev/setup installs one where it can. */
export function findBrowser(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export type OpenPage = {
  readonly page: Page
  readonly origin: string
  close(): Promise<void>
}

/** A real browser that reaches loopback only. Its colors are the same on every machine. */
export async function launchBrowser(executablePath: string): Promise<Browser> {
  return await chromium.launch({
    executablePath,
    args: [
      ...['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
    timeout: LAUNCH_MS,
  })
}

/** A page of an origin of its own. */
export async function openPage(executablePath: string): Promise<OpenPage> {
  const site = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>A page of another origin</title>')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  let browser: Browser | undefined
  const close = async (): Promise<void> => {
    await browser?.close()
    site.closeAllConnections()
    await new Promise((resolve) => site.close(resolve))
  }
  try {
    browser = await launchBrowser(executablePath)
    const page = await browser.newPage()
    await page.goto(origin)
    return { page, origin, close }
  } catch (error) {
    await close()
    throw error
  }
}
