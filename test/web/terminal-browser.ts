import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../support/rigs/browser.ts'

/** Pictures of every page, for a person to look at. */
export const SCREENSHOTS = fileURLToPath(new URL('../../web/screenshots/', import.meta.url))
export const DESKTOP = { width: 1_280, height: 800 }
export const PHONE = { width: 390, height: 844 }

/** A busy machine needs several times what a quiet one does. */
const PATIENCE_MS = 90_000
const PAGE_MARK = 'chaintape-page'
const web = createRequire(new URL('../../web/package.json', import.meta.url))
const axe = readFileSync(web.resolve('axe-core/axe.min.js'), 'utf8')

type Violation = {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

/** An event of Chromium's trace; times are microseconds. */
type TraceEvent = {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** CPU time. */
  readonly tdur?: number
}

/** A browser that notes what its pages complain about. */
export class TerminalBrowser {
  readonly #browser: Browser
  /** Errors in scripts, refused resources, violations of the policy. */
  readonly complaints: string[] = []

  private constructor(browser: Browser) {
    this.#browser = browser
    mkdirSync(SCREENSHOTS, { recursive: true })
  }

  static async launch(executablePath: string): Promise<TerminalBrowser> {
    return new TerminalBrowser(await launchBrowser(executablePath))
  }

  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: DESKTOP, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    page.on('pageerror', (error) => this.complaints.push(`${page.url()}: ${error.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(`${page.url()}: ${message.text()}`)
    })
    await page.goto(url)
    return page
  }

  /**
   * The longest task of the page while `work` runs, in milliseconds of CPU time: wall time would count the other processes
   * of a busy machine.
   */
  async longestTaskMs(page: Page, work: () => Promise<void>): Promise<number> {
    await this.#browser.startTracing(page, { categories: ['toplevel', 'blink.user_timing'] })
    let trace: Buffer
    try {
      // Pages of the browser itself are in the trace, too.
      await page.evaluate((mark) => void performance.mark(mark), PAGE_MARK)
      await work()
    } finally {
      trace = await this.#browser.stopTracing()
    }
    const { traceEvents: events } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] }
    const mark = events.find(({ name }) => name === PAGE_MARK)
    const times = events
      .filter(({ name, pid, tid }) => /\bRunTask$/.test(name) && pid === mark?.pid && tid === mark.tid)
      .map(({ tdur }) => tdur)
      .filter((time) => time !== undefined)
    assert.ok(times.length > 0, 'the trace has no task of the page')
    return times.reduce((most, time) => Math.max(most, time), 0) / 1_000
  }

  async close(): Promise<void> {
    await this.#browser.close()
  }
}

export async function screenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
}

/** Fails with every finding of axe that is serious or critical. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  // The policy of the page does not apply to the debugger.
  await page.evaluate(axe)
  const violations = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[]
  const found = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, nodes }) => `${what}: ${impact} ${id}: ${nodes.map(({ html }) => html).join('\n  ')}`)
  assert.deepEqual(found, [])
}

/** Nothing is wider than the screen. */
export async function assertFits(page: Page): Promise<void> {
  const [content, screen] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ])
  assert.ok((content ?? 0) <= (screen ?? 0), `${content} of ${screen} pixels`)
}

/**
 * How many times longer work takes than it needs CPU time, because other processes run beside this one: 1 on a quiet machine.
 * Limits in milliseconds are multiplied by it.
 */
export function contention(): number {
  const [cpu, wall] = [process.cpuUsage(), performance.now()]
  let sum = 0
  while (process.cpuUsage(cpu).user < 200_000) for (let at = 0; at < 100_000; at++) sum += at
  assert.ok(sum > 0)
  return Math.max(1, (performance.now() - wall) / (process.cpuUsage(cpu).user / 1_000))
}
