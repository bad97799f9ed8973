/**
 * node test/web/readme-pictures.ts: makes the pictures of the README from those that the browser tests took of a full market:
 * TEST_TERMINAL_HISTORY=4320 npm run test:web terminal.test
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findBrowser, launchBrowser } from '../support/rigs/browser.ts'
import { SCREENSHOTS } from './terminal-browser.ts'

const QUALITY = 0.9
const shown = fileURLToPath(new URL('../../docs/images/', import.meta.url))

const executablePath = findBrowser()
if (executablePath === undefined) throw new Error('no Chromium on PATH')
// The browser compresses them, so that no other program is needed.
const browser = await launchBrowser(executablePath)
try {
  const page = await browser.newPage()
  mkdirSync(shown, { recursive: true })
  for (const name of ['market', 'token']) {
    const picture = readFileSync(`${SCREENSHOTS}${name}-dark.png`).toString('base64')
    const url = await page.evaluate(toWebp, { url: `data:image/png;base64,${picture}`, quality: QUALITY })
    const bytes = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
    writeFileSync(`${shown}terminal-${name}.webp`, bytes)
    console.log(`docs/images/terminal-${name}.webp: ${Math.round(bytes.length / 1_000)} kB`)
  }
} finally {
  await browser.close()
}

async function toWebp({ url, quality }: { url: string; quality: number }): Promise<string> {
  const image = new Image()
  image.src = url
  await image.decode()
  const canvas = document.createElement('canvas')
  Object.assign(canvas, { width: image.width, height: image.height })
  canvas.getContext('2d')?.drawImage(image, 0, 0)
  return canvas.toDataURL('image/webp', quality)
}
