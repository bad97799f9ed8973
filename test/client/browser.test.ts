import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { build } from 'esbuild'
import type * as Chaintape from '../../clients/typescript/src/index.ts'
import { MEME } from '../support/builders/market-samples.ts'
import { findBrowser, type OpenPage, openPage } from '../support/rigs/browser.ts'
import { API_KEY } from '../support/rigs/gateway-world.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type BlockMarket, PAIR } from './block-market.ts'
import { ClientWorld } from './client-world.ts'
import type { CutProxy } from './cut-proxy.ts'

/** The client in a real browser: its bundle in a page of another origin, and in a worker. */

const executable = findBrowser()
if (executable === undefined)
  console.log('NOTICE: no Chromium on PATH; the client is not tested in a browser (apt-get install chromium)')

/** What the bundle and the page's program put into the page. */
type Page = typeof globalThis & {
  readonly chaintape: typeof Chaintape
  client: Chaintape.Client
  items: string[]
  failure?: string
}

/** Node's types lack it. */
type PageWorker = { onmessage: (event: { readonly data: unknown }) => void }

describe('in Chromium', { skip: executable === undefined }, () => {
  let world: ClientWorld
  let market: BlockMarket
  let proxy: CutProxy
  let opened: OpenPage
  let bundle: string
  /** Delivered to pages that were left. */
  const earlier: string[] = []

  before(async () => {
    const { outputFiles } = await build({
      entryPoints: [resolve(import.meta.dirname, '../../clients/typescript/src/index.ts')],
      ...{ bundle: true, write: false, format: 'iife', globalName: 'chaintape', target: 'es2022' },
    })
    bundle = outputFiles[0]?.text ?? ''
    world = await ClientWorld.start(1_100)
    market = world.market
    proxy = world.proxy
    opened = await openPage(executable ?? '')
  })

  after(async () => {
    await opened?.close()
    await world?.stop()
  })

  /** Loads the page, and reads all swaps with their retractions; the cursor is in its local storage. */
  async function load(): Promise<void> {
    await opened.page.goto(opened.origin)
    await opened.page.addScriptTag({ content: bundle })
    await opened.page.evaluate(
      ([url, key, pair]) => {
        const page = globalThis as Page
        const { createClient, isRetraction, storageCursors } = page.chaintape
        page.items = []
        page.client = createClient({ url, key, cursors: storageCursors() })
        const read = async (): Promise<void> => {
          for await (const item of page.client.trades(pair, { from: 0, retractions: true, name: 'tape' }))
            page.items.push(isRetraction(item) ? `-${item.retracted.join()}` : item.id)
        }
        read().catch((error: unknown) => {
          page.failure = String(error)
        })
      },
      [proxy.url, API_KEY, PAIR] as const,
    )
  }

  async function items(): Promise<string[]> {
    const { failure, items: own } = await opened.page.evaluate(() => {
      const { failure, items } = globalThis as Page
      return { failure, items }
    })
    assert.equal(failure, undefined)
    return [...earlier, ...own]
  }

  async function untilCanonical(): Promise<void> {
    const expected = market.ids().join()
    await waitFor('the canonical list', async () =>
      left(await items()).join() === expected ? true : undefined,
    )
  }

  test('REST: data and headers', async () => {
    await load()
    const answer = await opened.page.evaluate(
      async ([url, key, token]) => {
        const rest = (globalThis as Page).chaintape.createRest({ url, key })
        const { data, meta } = await rest.tokenDetail(token).withMeta()
        return { symbol: data.data.token.symbol, cost: meta.cuCost, remaining: meta.cuRemaining }
      },
      [proxy.url, API_KEY, `${MEME}-eth`] as const,
    )
    assert.deepEqual([answer.symbol, answer.cost, typeof answer.remaining], ['MEME', 5, 'number'])
  })

  test('history and live, across cuts and forks', async () => {
    await untilCanonical()
    for (let round = 0; round < 5; round++) {
      await market.grow(10)
      proxy.cutAll()
      await market.fork(20, 25)
    }
    await untilCanonical()
  })

  test('a reloaded page continues where it was', async () => {
    // What it would receive from now on is lost with the page, although it was delivered.
    await opened.page.evaluate(() => (globalThis as Page).client.closeStreams())
    earlier.push(...(await items()))
    await market.grow(10)
    await market.fork(20, 21)
    await load()
    await untilCanonical()
    // It has not read the history again.
    const own = (await items()).length - earlier.length
    assert.ok(own < 200, `${own} items`)
  })

  test('in a worker', async () => {
    const id = opened.page.evaluate(
      ([code, url, key, pair]) => {
        const program = `${code}
          const client = chaintape.createClient({ url: '${url}', key: '${key}' })
          client.trades('${pair}').next().then(({ value }) => postMessage(value.id), (error) => postMessage(String(error)))`
        const { Worker } = globalThis as unknown as { Worker: new (url: string) => PageWorker }
        const worker = new Worker(URL.createObjectURL(new Blob([program])))
        return new Promise<string>((done) => {
          worker.onmessage = ({ data }) => done(String(data))
        })
      },
      [bundle, proxy.url, API_KEY, PAIR] as const,
    )
    let received: string | undefined
    void id.then((text) => {
      received = text
    })
    await waitFor('a swap in the worker', async () => {
      await market.grow(1)
      return received
    })
    assert.match(await id, /^\d+-\d+$/)
  })
})

/** What is left after retractions. */
function left(items: readonly string[]): string[] {
  const ids: string[] = []
  for (const item of items) {
    if (!item.startsWith('-')) ids.push(item)
    else for (const id of item.slice(1).split(',')) ids.splice(ids.lastIndexOf(id), 1)
  }
  return ids
}
