import {
  type Candle,
  type CandleRetraction,
  type CandleUpdate,
  isRetraction,
  type Retraction,
  type Swap,
  type Trade,
} from '@chaintape/client'
import { client } from '../market-data.ts'
import type { Interval } from '../route.ts'

const CANDLES = 600
const SWAPS = 80

/** The row of one token, with its main pair: an exact address is a search with one result. */
export async function readToken(tokenId: string, signal: AbortSignal) {
  const at = tokenId.lastIndexOf('-')
  const [keyword, chain] = [tokenId.slice(0, at), tokenId.slice(at + 1)]
  const [row] = await client.rest.keywordSearch({ keyword, chain, limit: 1 }, { signal })
  if (row !== undefined) return row
  // Waits for the look-up of a token that has not traded yet, and reports an unknown one in words.
  await client.rest.tokenDetail(tokenId, { signal })
  const [found] = await client.rest.keywordSearch({ keyword, chain, limit: 1 }, { signal })
  if (found === undefined) throw new Error('the token is not known yet')
  return found
}

export type ChartSource = { readonly pairId: string; readonly interval: Interval }

/** First the candles of the past, then each new version of a candle. */
export type ChartItem =
  | { readonly type: 'history'; readonly candles: readonly Candle[] }
  | { readonly type: 'candle'; readonly candle: CandleUpdate }
  | { readonly type: 'removed'; readonly time: number }

export async function* chartItems(
  { pairId, interval }: ChartSource,
  signal: AbortSignal,
): AsyncGenerator<ChartItem> {
  yield* pastAndLive<ChartItem, CandleUpdate | CandleRetraction>(
    async () => {
      const answer = client.rest.pairKlines(pairId, { interval, limit: CANDLES }, { signal })
      const { data, meta } = await answer.withMeta()
      return { past: { type: 'history', candles: data }, cursor: meta.cursor }
    },
    (options) => client.candles(pairId, interval, { ...options, retractions: true }),
    (item) => (isRetraction(item) ? { type: 'removed', time: item.time } : { type: 'candle', candle: item }),
    signal,
  )
}

/** First the latest swaps, newest first, then each new one and each retraction. */
export type TapeItem =
  | { readonly type: 'history'; readonly swaps: readonly Swap[] }
  | { readonly type: 'trade'; readonly swap: Trade }
  | { readonly type: 'retraction'; readonly ids: readonly string[] }

export async function* tapeItems(pairId: string, signal: AbortSignal): AsyncGenerator<TapeItem> {
  yield* pastAndLive<TapeItem, Trade | Retraction>(
    async () => {
      const { txs, cursor } = await client.rest.pairSwaps(pairId, { limit: SWAPS }, { signal })
      return { past: { type: 'history', swaps: txs }, cursor }
    },
    (options) => client.trades(pairId, { ...options, retractions: true }),
    (item) =>
      isRetraction(item) ? { type: 'retraction', ids: item.retracted } : { type: 'trade', swap: item },
    signal,
  )
}

type Resumption = {
  readonly resumeFrom: string | undefined
  readonly signal: AbortSignal
  readonly onGap: () => void
}

/**
 * The past over REST, then the stream from the cursor of that answer: nothing is missed or shown twice. If the stream cannot
 * replay what was missed while the page was away, the past is read again.
 */
async function* pastAndLive<Item, Pushed>(
  readPast: () => Promise<{ readonly past: Item; readonly cursor: string | undefined }>,
  open: (options: Resumption) => AsyncIterable<Pushed>,
  toItem: (pushed: Pushed) => Item,
  signal: AbortSignal,
): AsyncGenerator<Item> {
  while (!signal.aborted) {
    const { past, cursor } = await readPast()
    yield past
    const gap = new AbortController()
    const onGap = (): void => gap.abort()
    try {
      const stream = open({ resumeFrom: cursor, signal: AbortSignal.any([signal, gap.signal]), onGap })
      for await (const pushed of stream) yield toItem(pushed)
    } catch (error) {
      if (!gap.signal.aborted) throw error
    }
  }
}
