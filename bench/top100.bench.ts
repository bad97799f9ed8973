import { setTimeout as sleep } from 'node:timers/promises'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { formatAmount } from '../src/domain/money.ts'
import { connectLogs, type Logs } from '../src/log/connect.ts'
import { type Stack, startStack } from '../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../src/store/clickhouse/history-store.ts'
import { migrate } from '../src/store/clickhouse/migrate.ts'
import { openHistoryReader } from '../src/store/clickhouse/read/history-reader.ts'
import { ACCOUNTS_TOPIC, decodeAccountsQuestion, encodeAccountsAnswer } from '../src/wire/account-question.ts'
import { rowsOfSets } from '../test/support/reference/rows-of-sets.ts'
import { collectGarbage, collectSeldom } from './collect-garbage.ts'
import { sized } from './form.ts'
import { balanceSets, largest, type Ranks } from './holders/made-balances.ts'
import { type Bench, openOnce, quantile, repeatAsync, type Sides } from './measure.ts'
import { type BenchGateway, openGateway, PREFIX } from './rest/gateway.ts'
import { addressOf, makeSearched, setOf } from './search/made-tokens.ts'
import { historyOptions, silentCommon } from './stores/opened.ts'

const RANKS: Ranks = {
  holders: sized({ full: 1_000_000, short: 200_000, smoke: 20_000 }),
  changed: sized({ full: 20_000, short: 4_000, smoke: 500 }),
  versions: 3,
}
/** As many as can be asked for, one after the other, before the first one's answer is too old to be given again. */
const TOKENS = sized({ full: 8, short: 8, smoke: 4 })
const KEPT_MS = 5_000
const LIMIT = 100
const FILL_MS = 600_000

/** The first token is written as the writer does, the others are made of its rows; the last one's balances are all equal. */
const TOKEN_ADDRESSES = Array.from({ length: TOKENS }, (_, index) => addressOf(RANKS.holders + index))
const EQUAL = addressOf(RANKS.holders + TOKENS)
const EXPECTED = largest(RANKS, LIMIT)

export const bench: Bench = {
  figures: [
    {
      name: `the ${LIMIT} largest of ${RANKS.holders} holders / plain query of the same range`,
      bar: 0.3,
      goal: 0.45,
      direction: 'at least',
      per: 'wall second',
      open: openStore,
    },
    {
      name: `p99 of GET /v2/tokens/top100 that nobody asked for lately, ${RANKS.holders} holders / a millisecond`,
      bar: 100,
      goal: 40,
      direction: 'at most',
      per: 'slice',
      isTime: true,
      open: openCold,
    },
    {
      name: `p99 of the same, asked for again and again / a millisecond`,
      bar: 5,
      goal: 3,
      direction: 'at most',
      per: 'slice',
      isTime: true,
      open: openKept,
    },
    {
      name: `p99 of the ${LIMIT} largest of ${RANKS.holders} holders with equal balances / a millisecond`,
      bar: 2_000,
      goal: 500,
      direction: 'at most',
      per: 'slice',
      isTime: true,
      open: openEqual,
    },
  ],
}

type Filled = {
  readonly options: ReturnType<typeof historyOptions>
  readonly gateway: BenchGateway
  readonly logs: Logs
}

const filled = openOnce(bench.figures.length, fill, async ({ logs, gateway }) => {
  await logs.close()
  await gateway.stop()
})

async function fill(): Promise<Filled> {
  const stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
  const common = silentCommon()
  const options = historyOptions(stack.clickhouseUrl, PREFIX)
  await migrate(options, common)
  const store = openHistoryStore(options, common)
  const client = createClient({
    ...{ url: options.url, database: options.database, request_timeout: FILL_MS },
    log: { level: ClickHouseLogLevel.OFF },
  })
  const [first = '', ...others] = TOKEN_ADDRESSES
  for (let version = 0; version < RANKS.versions; version++) {
    for (const set of balanceSets(first, RANKS, version)) await store.write(rowsOfSets([set]))
    for (const token of others) await client.command({ query: COPY, query_params: { first, token, version } })
    if (version > 0) continue
    await client.command({ query: EQUALISE, query_params: { first, token: EQUAL } })
    // From here on every part stays as it is: a merge under way would be measured too.
    await client.command({ query: 'OPTIMIZE TABLE balances FINAL' })
    await client.command({ query: 'SYSTEM STOP MERGES' })
  }
  const documents = [...TOKEN_ADDRESSES, EQUAL].map(
    (_, index) => makeSearched(RANKS.holders + index, 0).token,
  )
  const set = setOf(RANKS.versions, documents)
  await Promise.all([store.close(), client.close()])
  const logs = await answerAccounts(stack)
  return { options, logs, gateway: await openGateway(set, stack) }
}

/** Other holders, so that what is known of one token's accounts says nothing of another's. */
const COPY = `
  INSERT INTO balances (chain, token, magnitude, holder, seq, is_deleted, amount_raw)
  SELECT chain, {token:String}, magnitude, concat('0x', lower(hex(SHA1(concat({token:String}, holder))))),
         seq, is_deleted, amount_raw
  FROM balances WHERE token = {first:String} AND seq = {version:UInt64} + 1`

const EQUALISE = `
  INSERT INTO balances (chain, token, magnitude, holder, seq, is_deleted, amount_raw)
  SELECT chain, {token:String}, 1000, holder, seq, is_deleted, toInt256('5000000000000000000')
  FROM balances WHERE token = {first:String}`

/** In the place of a reader whose node answers at once. */
async function answerAccounts(stack: Stack): Promise<Logs> {
  const nats = { urls: stack.natsUrls, prefix: PREFIX, replicas: 1, max_frame_bytes: 900_000 }
  const logs = await connectLogs(nats, silentCommon())
  logs.respond(`${ACCOUNTS_TOPIC}.eth`, async (question) =>
    encodeAccountsAnswer(
      decodeAccountsQuestion(question).map(() => ({ balanceRaw: 10n ** 18n, isContract: false })),
    ),
  )
  return logs
}

const RANGE_QUERY = `
  SELECT holder, amount_raw FROM balances
  WHERE chain = 'eth' AND token = {token:String} AND magnitude >= {least:UInt16}
  ORDER BY amount_raw DESC, holder
  LIMIT ${LIMIT}`

const LEAST_QUERY = `
  SELECT min(magnitude) AS least FROM
  (SELECT magnitude FROM balances FINAL WHERE token = {token:String} ORDER BY amount_raw DESC LIMIT ${LIMIT})`

/** Ours distinguishes versions, and has to find the lower bound of the range first. */
async function openStore(): Promise<Sides> {
  const { options } = await filled.open()
  const reader = openHistoryReader(options)
  const client = createClient({ url: options.url, database: options.database })
  const asked = await client.query({
    query: LEAST_QUERY,
    query_params: { token: TOKEN_ADDRESSES[0] },
    format: 'JSONEachRow',
  })
  const [row] = await asked.json<{ least: number }>()
  let wrong: string | undefined
  let next = 0
  const tokenOf = (): string => TOKEN_ADDRESSES[next++ % TOKENS] as string
  return {
    subject: repeatAsync(
      async () => {
        const question = { chain: 'eth', upTo: RANKS.versions, token: tokenOf(), limit: LIMIT }
        const found = await reader.topHolders(question)
        wrong ??= complaint(found.map(({ amountRaw }) => amountRaw))
        return 1
      },
      () => wrong,
    ),
    baseline: repeatAsync(
      async () => {
        const params = { token: tokenOf(), least: row?.least ?? 0 }
        const answer = await client.query({ query: RANGE_QUERY, query_params: params, format: 'JSONEachRow' })
        const rows = await answer.json<object>()
        if (rows.length !== LIMIT) wrong ??= `the plain query finds ${rows.length}`
        return 1
      },
      () => wrong,
    ),
    close: async () => {
      await Promise.all([reader.close(), client.close()])
      await filled.close()
    },
  }
}

function complaint(amounts: readonly bigint[]): string | undefined {
  const place = EXPECTED.findIndex((amount, index) => amounts[index] !== amount)
  return place === -1 && amounts.length === LIMIT
    ? undefined
    : `number ${place} of ${amounts.length} has ${amounts[place]}, not ${EXPECTED[place]}`
}

type Answered = { readonly holder: string; readonly amount_cur: number; readonly main_coin_balance: number }

const askGateway = ({ gateway }: Filled, token: string): Promise<Buffer> =>
  gateway.ask('GET', `/v2/tokens/top100/${token}-eth`)

function complaintOfAnswer({ gateway }: Filled, answer: Buffer): string | undefined {
  const rows = JSON.parse(answer.toString()) as Answered[]
  const decimals = gateway.tokens[0]?.decimals ?? 0
  const isAsExpected = EXPECTED.every(
    (amount, index) => rows[index]?.amount_cur === Number(formatAmount(amount, decimals)),
  )
  if (!isAsExpected || new Set(rows.map(({ holder }) => holder)).size !== LIMIT)
    return `not the ${LIMIT} largest`
  return rows.every(({ main_coin_balance }) => main_coin_balance === 1)
    ? undefined
    : 'accounts were not asked'
}

/** Each token only when what the gateway knows of it is too old. */
async function openCold(): Promise<Sides> {
  const world = await filled.open()
  const lastAsked = new Map<string, number>()
  return tailOf({
    ask: () => {
      const now = performance.now()
      const token = TOKEN_ADDRESSES.find((each) => now - (lastAsked.get(each) ?? -Infinity) > KEPT_MS + 500)
      if (token === undefined) return undefined
      lastAsked.set(token, now)
      return askGateway(world, token)
    },
    complaintOf: (answer) => complaintOfAnswer(world, answer),
    isOfAll: true,
  })
}

async function openKept(): Promise<Sides> {
  const world = await filled.open()
  return tailOf({
    ask: () => askGateway(world, TOKEN_ADDRESSES[0] as string),
    complaintOf: (answer) => complaintOfAnswer(world, answer),
    isOfAll: true,
  })
}

async function openEqual(): Promise<Sides> {
  const { options } = await filled.open()
  const reader = openHistoryReader(options)
  const sides = tailOf({
    ask: () => reader.topHolders({ chain: 'eth', upTo: RANKS.versions, token: EQUAL, limit: LIMIT }),
    complaintOf: (found) => {
      const isInOrder = found.every(
        ({ holder }, index) => index === 0 || (found[index - 1]?.holder ?? '') < holder,
      )
      return found.length === LIMIT && isInOrder ? undefined : 'not the lowest addresses'
    },
  })
  return {
    ...sides,
    close: async () => {
      await reader.close()
      await sides.close()
    },
  }
}

type Asking<T> = {
  /** Undefined while there is nothing to be asked. */
  readonly ask: () => Promise<T> | undefined
  /** Every answer is looked at, but that is no part of the time it took. */
  readonly complaintOf: (answer: T) => string | undefined
  /** The p99 is of all answers so far, not of the slice: where one has too few, or too few of those that wait. */
  readonly isOfAll?: boolean
}

/** One question after the other. */
function tailOf<T>({ ask, complaintOf, isOfAll = false }: Asking<T>) {
  const times: number[] = []
  collectSeldom()
  const subject: Sides['subject'] = async (durationMs) => {
    collectGarbage()
    const end = performance.now() + durationMs
    const first = isOfAll ? 0 : times.length
    do {
      const start = performance.now()
      const asked = ask()
      if (asked === undefined) {
        await sleep(20)
        continue
      }
      const answer = await asked
      times.push(performance.now() - start)
      const wrong = complaintOf(answer)
      if (wrong !== undefined) return { units: 0, wrong }
    } while (performance.now() < end)
    return { units: quantile(times.slice(first), 0.99) }
  }
  const close = (): Promise<void> => {
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(times, share).toFixed(1))
    console.log(`${times.length} answers, warm-up included: p50 ${p50} ms, p99 ${p99} ms`)
    return filled.close()
  }
  return { subject, close }
}
