import type { Pair } from '../../../domain/change.ts'
import type { ChainAddress } from '../../../domain/ids.ts'
import type { MarketReader } from '../../market/market-view.ts'
import type { Version } from '../../market/overlay-documents.ts'
import { klinePush } from '../../shape/kline.ts'
import { priceEntry, pricePush, quoteEntry } from '../../shape/price-entry.ts'
import type { Shape } from '../send/push-event.ts'
import type { Source } from './sources.ts'
import type { PairDocuments, TokenDocuments, WatchedPairs } from './watched-pairs.ts'

/** The present value of what a subscription is about; `seqs` says what it takes in of each key. */
export type Snapshot = {
  readonly seqs: ReadonlyMap<string, number>
  /** One push for all prices, one for each series of candles; none if there is no data. */
  readonly pushes: readonly { readonly chain: string; readonly build: (shape: Shape) => object }[]
}

/** What later pushes are made from. */
type Offers = Pick<WatchedPairs, 'offer' | 'offerMain' | 'offerToken'>

/** Reads it, and fills in what later pushes are made from. What was read while a chain switched is read again. */
export async function readSnapshot(
  sources: readonly Source[],
  view: MarketReader,
  watched: WatchedPairs,
): Promise<Snapshot> {
  for (;;) {
    const { switches } = view
    const seqs = new Map<string, number>()
    const pushes: { chain: string; build: (shape: Shape) => object }[] = []
    const offered: (() => void)[] = []
    const offers: Offers = {
      offer: (...documents) => offered.push(() => watched.offer(...documents)),
      offerMain: (...documents) => offered.push(() => watched.offerMain(...documents)),
      offerToken: (...documents) => offered.push(() => watched.offerToken(...documents)),
    }
    await readCandles(sources, view, offers, seqs, pushes)
    await readPrices(sources, view, offers, seqs, pushes)
    if (view.switches !== switches) continue
    for (const offer of offered) offer()
    return { seqs, pushes }
  }
}

async function readCandles(
  sources: readonly Source[],
  view: MarketReader,
  watched: Offers,
  seqs: Map<string, number>,
  pushes: { chain: string; build: (shape: Shape) => object }[],
): Promise<void> {
  const klines = sources.flatMap((source) => (source.kind === 'kline' ? [source] : []))
  const pairs = klines.map(({ series }) => series.pair)
  const [candles, documents] = await Promise.all([
    view.candles(
      klines.map(({ series }) => ({
        chain: series.pair.chain,
        pair: series.pair.address,
        interval: series.interval,
      })),
    ),
    readDocuments(pairs, view),
  ])
  for (const [index, { key, series }] of klines.entries()) {
    const { chain } = series.pair
    const known = documents[index] as PairDocuments
    watched.offer(series.pair, known)
    const candle = candles[index]
    seqs.set(key, candle?.seq ?? 0)
    const record = candle?.record
    if (candle === undefined || record === undefined) continue
    pushes.push({
      chain,
      build: (shape) => {
        const push = klinePush(chain, record, {
          windows: known.windows?.record,
          pair: known.pair?.record,
          times: view.head(chain),
        })
        return shape === 'revised' ? { ...push, revision: candle.seq } : push
      },
    })
  }
}

async function readPrices(
  sources: readonly Source[],
  view: MarketReader,
  watched: Offers,
  seqs: Map<string, number>,
  pushes: { chain: string; build: (shape: Shape) => object }[],
): Promise<void> {
  const prices = sources.flatMap((source) =>
    source.kind === 'pair' || source.kind === 'token' ? [source] : [],
  )
  if (prices.length === 0) return
  const tokens = prices.filter(({ kind }) => kind === 'token').map(({ ref }) => ref)
  const ownDocuments = (await readTokenDocuments(tokens, view)).values()
  const mains = (await view.mainPairs(tokens)).values()
  const refs = prices.map(({ kind, chain, ref }): { ref: ChainAddress | undefined; seq: number } => {
    if (kind === 'pair') return { ref, seq: 0 }
    const main: Version<Pair> | undefined = mains.next().value
    const address = main?.record?.address
    return { ref: address === undefined ? undefined : { chain, address }, seq: main?.seq ?? 0 }
  })
  const documents = (
    await readDocuments(
      refs.flatMap(({ ref }) => ref ?? []),
      view,
    )
  ).values()
  const entries = new Map<string, ReturnType<typeof priceEntry>>()
  for (const [index, source] of prices.entries()) {
    const { ref, seq } = refs[index] as (typeof refs)[number]
    const own: TokenDocuments | undefined = source.kind === 'token' ? ownDocuments.next().value : undefined
    if (own !== undefined) watched.offerToken(source.ref, own)
    const known: PairDocuments | undefined = ref === undefined ? undefined : documents.next().value
    seqs.set(source.key, Math.max(seq, known?.pair?.seq ?? 0))
    if (ref === undefined || known === undefined) continue
    if (source.kind === 'token') watched.offerMain(source.ref, ref, known)
    else watched.offer(ref, known)
    const pair = known.pair?.record
    if (pair === undefined) continue
    const token = own?.token?.record
    if (token !== undefined && token.address !== pair.targetToken) {
      const times = view.head(ref.chain)
      const priced = { chain: ref.chain, pair, token, windows: own?.windows?.record, times }
      entries.set(`token ${token.address}-${ref.chain}`, quoteEntry(priced))
      continue
    }
    const [target, windows] = [known.target?.record, known.windows?.record]
    const priced = { chain: ref.chain, pair, target, windows, times: view.head(ref.chain) }
    // A pair and the token whose main pair it is make one entry.
    entries.set(`${ref.address}-${ref.chain}`, priceEntry(priced))
  }
  const chain = prices[0]?.chain ?? ''
  if (entries.size > 0) pushes.push({ chain, build: () => pricePush([...entries.values()]) })
}

async function readDocuments(refs: readonly ChainAddress[], view: MarketReader): Promise<PairDocuments[]> {
  const [pairs, windows] = await Promise.all([
    view.pairs(refs),
    view.windows(refs.map((ref) => ({ ...ref, kind: 'pair' as const }))),
  ])
  const targets = await view.tokens(
    refs.map(({ chain }, index) => ({ chain, address: pairs[index]?.record?.targetToken ?? '' })),
  )
  return refs.map((_, index) => ({
    pair: pairs[index],
    windows: windows[index],
    target: targets[index],
  }))
}

async function readTokenDocuments(
  refs: readonly ChainAddress[],
  view: MarketReader,
): Promise<TokenDocuments[]> {
  const [tokens, windows] = await Promise.all([
    view.tokens(refs),
    view.windows(refs.map((ref) => ({ ...ref, kind: 'token' as const }))),
  ])
  return refs.map((_, index) => ({ token: tokens[index], windows: windows[index] }))
}
