import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import {
  CandleBook,
  type Client,
  createClient,
  createStreams,
  type Gap,
  GapError,
  isRetraction,
  PriceBook,
  type RestMethods,
  type Retraction,
  type Stream,
  type Streams,
  type Trade,
} from '../../clients/typescript/src/index.ts'
import {
  MEME,
  MEME_USDC,
  MEME_WETH,
  sampleLiquidity,
  samplePair,
  sampleSwitch,
} from '../support/builders/market-samples.ts'
import { API_KEY, waitUntil } from '../support/rigs/gateway-world.ts'
import { type BlockMarket, PAIR } from './block-market.ts'
import { ClientWorld } from './client-world.ts'
import type { CutProxy } from './cut-proxy.ts'

/** More than a page of REST. */
const BLOCKS = 1_300
/** Less than the history, of which nothing may be dropped. */
const BUFFER = 100

let world: ClientWorld
let market: BlockMarket
let proxy: CutProxy
let client: Client

before(async () => {
  world = await ClientWorld.start(BLOCKS)
  market = world.market
  proxy = world.proxy
  client = createClient({ url: proxy.url, key: API_KEY, WebSocket, limits: { messagesPerSecond: 20 } })
})

after(async () => {
  client?.closeStreams()
  await world?.stop()
})

/** Applies what a stream delivers, until it equals the canonical list. Returns how many items that took. */
async function foldUntilCanonical(stream: Stream<Trade | Retraction>): Promise<number> {
  const seen = new Map<number, string>()
  const blockOf = (id: string): number => Number(id.split('-')[0])
  let items = 0
  const isCanonical = (): boolean =>
    seen.size === market.canonical.size &&
    [...market.canonical].every(([block, hash]) => seen.get(block) === hash)
  for await (const item of stream) {
    items++
    if (isRetraction(item)) for (const id of item.retracted) seen.delete(blockOf(id))
    else {
      assert.ok(!seen.has(blockOf(item.id)), `${item.id} came twice`)
      seen.set(blockOf(item.id), item.transaction)
    }
    if (isCanonical()) break
  }
  return items
}

/** Streams whose REST reads do something between two pages. */
function interrupted(between: () => Promise<void>): Streams {
  let pages = 0
  const withPause =
    <Args extends unknown[], T>(read: (...args: Args) => T) =>
    (...args: Args): T => {
      const wait = pages++ === 1 ? between() : Promise.resolve()
      const answer = wait.then(() => (read(...args) as { withMeta(): Promise<{ data: unknown }> }).withMeta())
      return Object.assign(
        answer.then(({ data }) => data),
        { withMeta: () => answer },
      ) as T
    }
  const rest = {
    pairSwaps: withPause(client.rest.pairSwaps),
    pairKlines: withPause(client.rest.pairKlines),
    pairLiquidity: client.rest.pairLiquidity,
  } as unknown as RestMethods
  return createStreams({ url: proxy.url, key: API_KEY, WebSocket }, rest)
}

test('history and live stream make the canonical list, although a fork came between two pages', async () => {
  const streams = interrupted(() => market.fork(20, 22))
  const stream = streams.trades(PAIR, { from: 0, retractions: true, bufferSize: BUFFER })
  await foldUntilCanonical(stream)
  streams.closeStreams()
})

test('without forks every swap comes once, from the given time on, across cuts', async () => {
  const from = new Date(market.timeOf(market.head - 499) * 1_000)
  const ids: string[] = []
  const expected = (): string[] => market.ids().slice(-500 - later)
  let later = 0
  for await (const { id } of client.trades(PAIR, { from })) {
    ids.push(id)
    if (ids.length === 500) {
      proxy.cutAll()
      await market.grow(40)
      later = 40
    }
    if (ids.length === 520) proxy.cutAll()
    if (ids.length === 540) break
  }
  assert.deepEqual(ids, expected())
})

test('candles: history and live make what REST returns, although a fork came between two pages', async () => {
  const streams = interrupted(() => market.fork(20, 10))
  const book = new CandleBook()
  const started = streams.candles(PAIR, 'k1', { from: 0, retractions: true, bufferSize: BUFFER })
  let isGrown = false
  const served = async () => (await client.rest.pairKlines(PAIR, { limit: 1_000 })).map(rowOf)
  for await (const item of started) {
    book.apply(item)
    if (book.candles().length < market.canonical.size) continue
    if (!isGrown) {
      isGrown = true
      proxy.cutAll()
      await market.fork(5, 8)
      continue
    }
    if (book.latest?.time === market.startOf(market.head)) {
      const rows = await served()
      const own = book.candles().slice(-1_000).map(rowOf)
      if (JSON.stringify(own) === JSON.stringify(rows)) break
    }
  }
  assert.equal(book.candles().length, market.canonical.size)
  streams.closeStreams()
})

const rowOf = ({ time, high, revision }: { time: number; high: string; revision?: number }) => ({
  ...{ time, high, revision },
})

test('liquidity, prices, switches and swaps of a token arrive over one socket', async () => {
  const own = createClient({ url: proxy.url, key: API_KEY, WebSocket })
  const liquidity = own.liquidity(PAIR)
  const prices = own.prices([`${MEME}-eth`, PAIR])
  const switches = own.mainPairSwitches(PAIR)
  const swaps = own.tokenTrades(`${MEME}-eth`)
  const items = [liquidity.next(), switches.next(), swaps.next()] as const
  const book = new PriceBook()
  // The current price comes at once: by then the other subscriptions have been sent, too.
  const { value: entry } = await prices.next()
  if (entry !== undefined) book.apply(entry)
  assert.equal(
    book.usd(`${MEME}-eth`),
    (await client.rest.tokenDetail(`${MEME}-eth`)).data.token.current_price_usd,
  )
  assert.equal(own.sockets, 1)
  let isOver = false
  const publishing = (async () => {
    while (!isOver) {
      const event = sampleLiquidity({
        key: { block: market.head, tx: 0, log: 1 },
        time: market.timeOf(market.head),
      })
      const to = { type: 'pair', pair: samplePair({ address: MEME_USDC, isMain: true }) } as const
      await world.rig.publish([
        ...market.blocks(1),
        { type: 'liquidity', liquidity: event },
        { type: 'switch', switch: sampleSwitch({ oldPair: MEME_WETH, newPair: MEME_USDC }) },
        to,
      ])
    }
  })()
  const [change, switched, swap] = await Promise.all(items)
  isOver = true
  await publishing
  assert.equal(change.value?.pair_address, MEME_WETH)
  assert.deepEqual([switched.value?.old_main_pair, switched.value?.new_main_pair], [MEME_WETH, MEME_USDC])
  assert.equal(swap.value?.tx_seq, undefined)
  own.closeStreams()
})

test('a cursor of another installation is a gap', async () => {
  const { cursor = '' } = await client.rest.pairSwaps(PAIR, { limit: 1 })
  const rows = JSON.parse(Buffer.from(cursor.slice(3), 'base64url').toString()) as unknown[][]
  const foreign = rows.map((row) => row.map((each, at) => (at === 1 ? 'another' : each)))
  const resumeFrom = `c1.${Buffer.from(JSON.stringify(foreign)).toString('base64url')}`
  await assert.rejects(client.trades(PAIR, { resumeFrom }).next(), GapError)
  const gaps: Gap[] = []
  const stream = client.trades(PAIR, { resumeFrom, onGap: (gap) => void gaps.push(gap) })
  const next = stream.next()
  let isOver = false
  const publishing = (async () => {
    while (!isOver) await market.grow(1)
  })()
  const { value } = await next
  isOver = true
  await publishing
  assert.equal(value?.pair_address, MEME_WETH)
  assert.deepEqual(
    gaps.map(({ reason, lostAfter }) => [reason, lostAfter]),
    [['cursor_too_old', resumeFrom]],
  )
  stream.close()
})

test('a planned restart of the gateway is bridged, with the delay that it asks for', async () => {
  const codes: number[] = []
  const own = createClient({
    ...{ url: proxy.url, key: API_KEY, WebSocket },
    onReconnect: ({ code }) => void codes.push(code),
  })
  const stream = own.trades(PAIR)
  const first = stream.next()
  let published = 0
  const before = market.head
  await waitUntil('the first swap arrives', async () => {
    await market.grow(1)
    published++
    return stream.cursor !== undefined
  })
  const start = Number((await first).value?.id.split('-')[0])
  await world.restartGateway(() => market.grow(10))
  const ids: number[] = [start]
  while (ids.at(-1) !== market.head) ids.push(Number((await stream.next()).value?.id.split('-')[0]))
  assert.deepEqual(
    ids,
    Array.from({ length: market.head - start + 1 }, (_, index) => start + index),
  )
  assert.ok(published > 0 && before < market.head)
  assert.equal(codes[0], 1001)
  own.closeStreams()
})
