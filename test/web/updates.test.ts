import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { buildTerminal } from '../../dev/build-web.ts'
import type { Change } from '../../src/domain/change.ts'
import {
  MEME,
  MEME_WETH,
  price,
  sampleCandle,
  samplePair,
  sampleSwitch,
  sampleToken,
  sampleTrade,
  value,
} from '../support/builders/market-samples.ts'
import { findBrowser } from '../support/rigs/browser.ts'
import { API_KEY, type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { assertAccessible, screenshot, TerminalBrowser } from './terminal-browser.ts'

const executable = findBrowser()
const UPDATES = 400
const PER_SECOND = 50
const LONG_TASK_MS = 50
/** Four polls of a visible page. */
const HIDDEN_MS = 4_000
const MINUTE = 60
const START = 1_700_000_040
const IMPOSTOR = `0x${'b'.repeat(40)}`
const OTHER_HOST = 'http://127.0.0.1:9/'
/** With a mark that reverses the direction of what follows. */
const HOSTILE_NAME = '"><img src=x onerror=alert(1)> \u202Enioc'

describe('the terminal under load', { skip: executable === undefined }, () => {
  let world: GatewayWorld
  let gateway: Gateway
  let browser: TerminalBrowser

  before(
    async () => {
      buildTerminal()
      world = await GatewayWorld.start({ withHistory: true })
      await world.publish([
        { type: 'token', token: sampleToken() },
        {
          type: 'token',
          token: sampleToken({
            ...{ address: IMPOSTOR, name: HOSTILE_NAME, mainPair: undefined },
            ...{ mainPairTvlUsd: value('1'), tvlUsd: value('1') },
          }),
        },
        { type: 'pair', pair: samplePair() },
        ...Array.from({ length: 300 }, (_, at): Change => candleOf(START - at * MINUTE, at)).reverse(),
      ])
      const [first, later] = [sampleSwitch({ block: 101 }), sampleSwitch({ block: 102, reason: 'emptied' })]
      await world.publish([
        { type: 'switch', switch: first },
        { type: 'switch', switch: later },
      ])
      await world.publish([{ type: 'switchRemoved', switch: later }], { cause: 'undo' })
      await world.storeAll()
      gateway = await world.startGateway({}, { terminal: { api_key: API_KEY } })
      browser = await TerminalBrowser.launch(executable ?? '')
    },
    { timeout: 300_000 },
  )

  after(async () => {
    await browser?.close()
    await gateway?.stop()
    await world?.stop()
  })

  test('an impostor is flagged, and a hostile name is text', async () => {
    const page = await browser.open(`${gateway.url}/?chain=eth&q=MEME`)
    await page.waitForSelector(`tr.impostor a[title="${IMPOSTOR}"]`)
    const rows = await page.$$eval('[data-row-link]', (links) =>
      links.map((link) => link.getAttribute('title')),
    )
    assert.deepEqual(rows, [MEME, IMPOSTOR])
    assert.equal(await page.locator('tr.impostor .flag.bad').textContent(), 'impostor')
    assert.ok(
      (await page.locator('tr.impostor .name').textContent())?.includes('<img src=x onerror=alert(1)>'),
    )
    assert.equal(await page.locator('tr.impostor img').count(), 0)
    await assertAccessible(page, 'impostor')
    await screenshot(page, 'impostor')
    await page.locator('tr.impostor [data-row-link]').click()
    await page.waitForSelector('.token h1 .name:has-text("onerror")')
    assert.equal(await page.locator('main img').count(), 0)
    const isolated = await page
      .locator('.token h1 span')
      .evaluateAll((names) => names.map((name) => getComputedStyle(name).unicodeBidi))
    assert.deepEqual(isolated, ['isolate', 'isolate'])
    await page.context().close()
  })

  test('the browser enforces the policy of the page', async () => {
    const page = await browser.open(`${gateway.url}/?chain=eth&q=MEME`)
    await page.waitForSelector('[data-row-link]')
    const ran = await page.evaluate(async (other) => {
      const script = document.createElement('script')
      script.textContent = 'globalThis.isOwned = true'
      document.body.append(script)
      const row = document.createElement('div')
      row.innerHTML = '<img src="data:," onerror="globalThis.isOwned = true">'
      document.body.append(row)
      const sent = await fetch(other).then(
        () => true,
        () => false,
      )
      return { isOwned: 'isOwned' in globalThis, sent }
    }, OTHER_HOST)
    assert.deepEqual(ran, { isOwned: false, sent: false })
    // The script, the handler of the picture, and the request.
    await waitFor('three refusals', async () => (browser.complaints.length >= 3 ? true : undefined))
    for (const text of browser.complaints.splice(0)) assert.match(text, /Content Security Policy/)
    await page.context().close()
  })

  test('a hidden page does not poll', async () => {
    const page = await browser.open(`${gateway.url}/?chains=`)
    await page.waitForSelector('.chain')
    let polls = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/v2/status')) polls++
    })
    await show(page, false)
    await sleep(HIDDEN_MS)
    // One may have been on its way.
    assert.ok(polls <= 1, `${polls}`)
    const before = polls
    await show(page, true)
    await waitFor('another poll', async () => (polls > before ? true : undefined))
    await page.context().close()
  })

  test('changes of the main pair are listed, without those that a reorg undid', async () => {
    const { status, body } = await gateway.get(`/v2/tokens/main-pairs/${MEME}-eth`)
    const { time, block, oldPair, newPair } = sampleSwitch({ block: 101 })
    const change = {
      time,
      block_number: block,
      old_main_pair: oldPair,
      new_main_pair: newPair,
      reason: 'deeper',
    }
    assert.deepEqual([status, body], [200, [change]])
    const page = await browser.open(`${gateway.url}/?token=${MEME}-eth&panel=history`)
    await page.waitForSelector(`.panels td[title="${newPair}"]`)
    assert.equal(await page.locator('.panels tbody tr').count(), 1)
    await assertAccessible(page, 'main pairs')
    await page.context().close()
  })

  test(`${PER_SECOND} updates per second cause no long task`, async () => {
    const page = await browser.open(`${gateway.url}/?token=${MEME}-eth&interval=k1`)
    await page.waitForSelector('[data-drawn="true"]')
    await page.waitForSelector('.connection.live')
    let seconds = 0
    const longest = await browser.longestTaskMs(page, async () => {
      const started = Date.now()
      for (let at = 1; at <= UPDATES; at++) {
        await world.publish(updateOf(at))
        await sleep(Math.max(0, started + (at * 1_000) / PER_SECOND - Date.now()))
      }
      seconds = (Date.now() - started) / 1_000
      const last = `${200 + UPDATES}-1`
      await waitFor('the last trade', async () => {
        const id = await page.evaluate(
          () => document.querySelector<HTMLElement>('.tape tbody tr')?.dataset['id'],
        )
        return id === last ? true : undefined
      })
    })
    const close = await page.locator('.legend span').nth(3).getAttribute('title')
    assert.equal(close, closeOf(UPDATES))
    console.log(
      `${Math.round(UPDATES / seconds)} updates/s for ${Math.round(seconds)} s: longest task ${longest.toFixed(1)} of ${LONG_TASK_MS} ms`,
    )
    assert.ok(longest <= LONG_TASK_MS, `${longest} ms`)
    await page.context().close()
  })

  test('no page complained', () => {
    assert.deepEqual(browser.complaints, [])
  })
})

/** Shows the page, or hides it as behind another tab. */
async function show(page: Page, isVisible: boolean): Promise<void> {
  await page.evaluate((visible) => {
    Object.defineProperty(document, 'hidden', { value: !visible, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isVisible)
}

function closeOf(at: number): string {
  return `0.003${String(at % 100).padStart(2, '0')}1`
}

function candleOf(start: number, at: number): Change {
  const close = price(closeOf(at))
  const values = {
    ...sampleCandle().usd,
    close,
    high: price('0.0045'),
    low: price('0.0028'),
    volume: value('250.5'),
  }
  const usd = { ...values, open: price('0.003') }
  return { type: 'candle', candle: sampleCandle({ pair: MEME_WETH, start, usd }) }
}

/** A trade, its candle, and the price of the token; a new candle begins with every tenth one. */
function updateOf(at: number): Change[] {
  const time = START + Math.ceil(at / 10) * MINUTE
  return [
    { type: 'trade', trade: sampleTrade({ key: { block: 200 + at, tx: 0, log: 1 }, time }) },
    candleOf(time, at),
    { type: 'token', token: sampleToken({ priceUsd: price(closeOf(at)), updatedAt: time }) },
  ]
}
