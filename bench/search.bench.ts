import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import type { Change } from '../src/domain/change.ts'
import { skeletonOf } from '../src/domain/search-text.ts'
import { startStack } from '../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../src/store/clickhouse/history-store.ts'
import { migrate } from '../src/store/clickhouse/migrate.ts'
import { openHistoryReader } from '../src/store/clickhouse/read/history-reader.ts'
import { rowsOfSets } from '../test/support/reference/rows-of-sets.ts'
import { collectGarbage, collectSeldom } from './collect-garbage.ts'
import { sized } from './form.ts'
import { type Bench, openOnce, quantile, type Sides, type Slice } from './measure.ts'
import { type BenchGateway, openGateway, PREFIX } from './rest/gateway.ts'
import { addressOf, makeSearched, setOf } from './search/made-tokens.ts'
import { historyOptions, silentCommon } from './stores/opened.ts'

const TOKENS = sized({ full: 1_000_000, short: 200_000, smoke: 3_000 })
const TOKENS_PER_BATCH = 50_000
const MERGE_MS = 600_000
/** So many are written again, twice, and these versions are not merged. */
const CHANGED = TOKENS / 50
/** As many as the gateway looks at. */
const CANDIDATES = 400
/** What people type, letter by letter; the copied and the rare; names, nonsense, and look-alikes. */
const KEYWORDS = [
  ...[
    'p',
    'pe',
    'pep',
    'pepe',
    'PEPE',
    'us',
    'usdt',
    'USD\u0421',
    'doge',
    'shib',
    'baby',
    'a',
    'link',
    'moon',
  ],
  ...[
    'shado',
    'zenlu',
    'trixdao',
    'the cat',
    'floki inu',
    'pepe cl',
    'protocol',
    'wenlura',
    'no such',
    'qqq',
  ],
]
const ORDERS = ['tx_volume_u_24h', 'market_cap', 'main_pair_tvl', 'fdv']

/** The same candidates by a plain query: without classes and without distinguishing versions. */
const PLAIN_QUERY = `
  SELECT chain, address FROM token_search
  WHERE kind <= {last_kind:String} AND startsWith(term, {skeleton:String}) AND chain IN ('eth')
  ORDER BY standing DESC
  LIMIT ${CANDIDATES}`

/** Made for longer ranges: they cost a plain query more than it takes otherwise. Ours is not changed by them. */
const PLAIN_SETTINGS = {
  query_plan_optimize_lazy_materialization: 0,
  use_skip_indexes_for_top_k: 0,
  use_top_k_dynamic_filtering: 0,
}

export const bench: Bench = {
  figures: [
    {
      name: `candidates of a keyword among ${TOKENS} tokens, best first / plain query`,
      bar: 0.7,
      goal: 0.9,
      direction: 'at least',
      per: 'wall second',
      open: openStore,
    },
    {
      name: `GET /v2/tokens among ${TOKENS} tokens, 100 rows / plain query of its candidates`,
      bar: 0.4,
      goal: 0.7,
      direction: 'at least',
      per: 'wall second',
      open: openAnswers,
    },
    {
      name: `p99 of GET /v2/tokens among ${TOKENS} tokens / a millisecond`,
      bar: 50,
      goal: 20,
      direction: 'at most',
      per: 'slice',
      isTime: true,
      open: openTail,
    },
  ],
}

type Searched = {
  readonly options: ReturnType<typeof historyOptions>
  readonly gateway: BenchGateway
  /** Keywords that there is something to be found by. */
  readonly found: ReadonlySet<string>
}

const searches = openOnce(bench.figures.length, fill, ({ gateway }) => gateway.stop())

async function fill(): Promise<Searched> {
  const stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
  const common = silentCommon()
  const options = historyOptions(stack.clickhouseUrl, PREFIX)
  await migrate(options, common)
  const store = openHistoryStore(options, common)
  const client = createClient({
    ...{ url: options.url, database: options.database, request_timeout: MERGE_MS },
    log: { level: ClickHouseLogLevel.OFF },
  })
  for (const [version, count] of [TOKENS, CHANGED, CHANGED].entries()) {
    for (let first = 0; first < count; first += TOKENS_PER_BATCH) {
      const length = Math.min(TOKENS_PER_BATCH, count - first)
      const changes = Array.from({ length }, (_, at) => makeSearched(first + at, version).token)
      // The rest of a token is not asked of ClickHouse.
      const rows = rowsOfSets([setOf(version + 1, changes)]).filter(({ table }) => table === 'token_search')
      await store.write(rows)
    }
    if (version > 0) continue
    // From here on every part stays as it is: a merge under way would be measured too.
    await client.command({ query: 'OPTIMIZE TABLE token_search FINAL' })
    await client.command({ query: 'SYSTEM STOP MERGES' })
  }
  await Promise.all([store.close(), client.close()])
  const { found, addresses } = await findCandidates(options)
  return { options, found, gateway: await openGateway(setOf(1, documentsOf(addresses)), stack) }
}

async function findCandidates(options: Searched['options']) {
  const reader = openHistoryReader(options)
  const found = new Set<string>()
  const addresses = new Set<string>()
  for (const keyword of KEYWORDS) {
    const rows = await reader.tokenMatches(questionOf(keyword))
    for (const { address } of rows) addresses.add(address)
    if (rows.length > 0) found.add(keyword)
  }
  await reader.close()
  return { found, addresses }
}

/** Only the tokens that will be requested are put into Redis. */
function documentsOf(addresses: ReadonlySet<string>): Change[] {
  const changes: Change[] = []
  for (let index = 0; index < TOKENS; index++) {
    if (!addresses.has(addressOf(index))) continue
    const { token, windows } = makeSearched(index, index < CHANGED ? 2 : 0)
    changes.push(token, windows)
  }
  return changes
}

const questionOf = (keyword: string) => {
  const skeleton = skeletonOf(keyword)
  const lastKind = [...skeleton].length < 3 ? ('symbol' as const) : ('word' as const)
  return { chains: ['eth'], skeleton, lastKind, limit: CANDIDATES }
}

/** Keyword after keyword, each answer looked at. */
function asking(ask: (keyword: string, order: string) => Promise<string | undefined>): Slice {
  let next = 0
  return async (durationMs) => {
    const end = performance.now() + durationMs
    let units = 0
    do {
      const order = ORDERS[Math.floor(next / KEYWORDS.length) % ORDERS.length] as string
      const wrong = await ask(KEYWORDS[next++ % KEYWORDS.length] as string, order)
      if (wrong !== undefined) return { units, wrong }
      units++
    } while (performance.now() < end)
    return { units }
  }
}

function openPlain({ options, found }: Searched): { slice: Slice; close(): Promise<void> } {
  const client = createClient({ url: options.url, database: options.database })
  const slice = asking(async (keyword) => {
    const { skeleton, lastKind } = questionOf(keyword)
    const answer = await client.query({
      query: PLAIN_QUERY,
      query_params: { skeleton, last_kind: lastKind },
      format: 'JSONEachRow',
      clickhouse_settings: PLAIN_SETTINGS,
    })
    return complaint(found, keyword, await answer.json<object>())
  })
  return { slice, close: () => client.close() }
}

function complaint(found: Searched['found'], keyword: string, rows: readonly unknown[]): string | undefined {
  return rows.length > 0 === found.has(keyword) ? undefined : `${keyword} has ${rows.length} rows`
}

async function openStore(): Promise<Sides> {
  const searched = await searches.open()
  const reader = openHistoryReader(searched.options)
  const plain = openPlain(searched)
  return {
    subject: asking(async (keyword) => {
      const rows = await reader.tokenMatches(questionOf(keyword))
      const isUnique = new Set(rows.map(({ address }) => address)).size === rows.length
      return isUnique ? complaint(searched.found, keyword, rows) : `${keyword}: a token is there twice`
    }),
    baseline: plain.slice,
    close: async () => {
      await Promise.all([reader.close(), plain.close()])
      await searches.close()
    },
  }
}

type Answered = { readonly token: string; readonly symbol: string; readonly is_impostor?: boolean }

const askGateway = ({ gateway }: Searched, keyword: string, order: string): Promise<Buffer> =>
  gateway.ask('GET', `/v2/tokens?${new URLSearchParams({ keyword, orderby: order })}`)

function complaintOfAnswer({ found }: Searched, keyword: string, answer: Buffer): string | undefined {
  const rows = JSON.parse(answer.toString()) as Answered[]
  const genuine = new Set<string>()
  for (const { symbol, is_impostor: isImpostor } of rows) {
    const key = skeletonOf(symbol)
    if (isImpostor !== true) genuine.add(key)
    else if (!genuine.has(key)) return `${keyword}: ${symbol} stands before its genuine token`
  }
  return complaint(found, keyword, rows)
}

async function openAnswers(): Promise<Sides> {
  const searched = await searches.open()
  const plain = openPlain(searched)
  return {
    subject: asking(async (keyword, order) =>
      complaintOfAnswer(searched, keyword, await askGateway(searched, keyword, order)),
    ),
    baseline: plain.slice,
    close: async () => {
      await plain.close()
      await searches.close()
    },
  }
}

async function openTail(): Promise<Sides> {
  const searched = await searches.open()
  const all: number[] = []
  collectSeldom()
  return {
    subject: async (durationMs) => {
      collectGarbage()
      const times: number[] = []
      const slice = asking(async (keyword, order) => {
        const start = performance.now()
        const answer = await askGateway(searched, keyword, order)
        // Every answer is looked at, but that is no part of the time it took.
        times.push(performance.now() - start)
        return complaintOfAnswer(searched, keyword, answer)
      })
      const { wrong } = await slice(durationMs)
      all.push(...times)
      return { units: quantile(times, 0.99), ...(wrong !== undefined && { wrong }) }
    },
    close: () => {
      const [p50, p99] = [0.5, 0.99].map((share) => quantile(all, share).toFixed(1))
      console.log(`${all.length} searches, warm-up included: p50 ${p50} ms, p99 ${p99} ms`)
      return searches.close()
    },
  }
}
