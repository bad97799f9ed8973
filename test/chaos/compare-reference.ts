import { ExpectedAnswers } from '../e2e/expected-answers.ts'
import { startOf } from '../e2e/expected-candles.ts'
import type { ExpectedTrade } from '../e2e/expected-pools.ts'
import { barTexts, liquidityRow, type Row, swapRow } from '../e2e/expected-rows.ts'
import { withoutProfile } from '../e2e/expected-wallets.ts'
import type { Rows } from '../e2e/protocols-run.ts'
import { SandboxComparison } from '../e2e/sandbox-comparison.ts'
import { tokenSwapRow } from '../e2e/ws-expected.ts'
import { foldCandles, foldEvents } from '../e2e/ws-fold.ts'
import { storedRows } from '../support/reference/store-dump.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { firstDifference } from './first-difference.ts'
import { pushesOf, type ResumingClient, type ResumingClients } from './resuming-clients.ts'
import type { ChaosWorld } from './world.ts'

const LAST_PUSH_MS = 60_000

/** Fields that the reference model leaves out, printed with every result. */
export const NOT_COMPARED = [
  'search terms of tokens that a fork removed, also with the fold',
  'versions: seq of rows, revision of candles',
  'inspections: risk_score, is_honeypot, is_mintable, contracts',
  'holders, which are read in the background: balances, market_cap, profile of a swap',
  'rows of tokens that began on the launchpad, but for the amounts of their trades there',
  'sums of the last 24 hours beside a pushed candle',
  'fdv of pairs of wrapped ether, whose supply in old blocks the node has forgotten',
  'rows of tokens, candles and windows: only answers about pairs, k1 and k60 candles, are compared',
]

export type ReferenceCounts = { readonly rows: number; readonly pushes: number }

/** Rows, answers of both gateways, and what every client has seen, against the receipts of the canonical chain. */
export async function compareWithReference(
  world: ChaosWorld,
  clients: ResumingClients,
): Promise<ReferenceCounts> {
  const comparison = await SandboxComparison.read(world)
  const rows = (await storedRows(world.stack, world.config.clickhouse.database)) as Rows
  const local = Object.fromEntries(
    Object.entries(rows).map(([table, all]) => [table, all.filter(({ chain }) => chain === 'local')]),
  )
  const compared = [
    { what: 'trades', ...comparison.tradeRows(local) },
    { what: 'trades on the launchpad', ...comparison.launchpadRows(local) },
    { what: 'liquidity', ...comparison.liquidityRows(local) },
    { what: 'changes of main pair', ...comparison.switchRows(local) },
    { what: 'pairs', ...comparison.pairRows(local) },
  ]
  for (const url of world.gatewayUrls) {
    const get = (path: string): ReturnType<ChaosWorld['get']> => world.get(path, url)
    compared.push({ what: `pairs of ${url}`, ...(await comparison.pairAnswers(get)) })
    compared.push({ what: `candles of ${url}`, ...(await comparison.candleAnswers(get)) })
  }
  for (const { what, stored, expected } of compared) {
    const difference = firstDifference(what, stored, expected)
    if (difference !== undefined) throw new Error(difference)
  }
  for (const client of clients.all) await compareClient(client, comparison, clients.since)
  return {
    rows: compared.reduce((sum, { expected }) => sum + expected.length, 0),
    pushes: clients.received,
  }
}

/** Its last pushes may still be under way. */
async function compareClient(
  client: ResumingClient,
  comparison: SandboxComparison,
  since: number,
): Promise<void> {
  const name = `${client.subject.topic} ${client.subject.address}`
  let difference: string | undefined
  await waitFor(
    name,
    () => {
      difference = differenceOf(client, comparison, since)
      return difference === undefined ? true : undefined
    },
    LAST_PUSH_MS,
  ).catch(() => undefined)
  const [fault] = client.client.faults
  if (fault !== undefined) throw new Error(`client of ${name}: ${fault}`)
  if (difference !== undefined) throw new Error(`client of ${name}: ${difference}`)
}

function differenceOf(
  client: ResumingClient,
  { expected }: SandboxComparison,
  since: number,
): string | undefined {
  const { topic, address } = client.subject
  const pushes = pushesOf(client)
  const ofPair = ({ pool }: { readonly pool: { readonly id: string } }): boolean => pool.id === address
  const isNew = ({ block }: { readonly block: number }): boolean => block > since
  switch (topic) {
    case 'tx':
    case 'multi_tx': {
      const isOfToken = ({ pool }: ExpectedTrade): boolean =>
        [pool.token0.address, pool.token1.address].includes(address)
      const trades = expected.pools.trades.filter(topic === 'tx' ? ofPair : isOfToken).filter(isNew)
      const seen = foldEvents(pushes, 'tx').map(({ row }) => withoutProfile(row))
      return firstDifference('swaps', seen, trades.map(topic === 'tx' ? swapRow : tokenSwapRow))
    }
    case 'liq': {
      const events = expected.pools.liquidity.filter(ofPair).filter(isNew)
      return firstDifference(
        'liquidity',
        foldEvents(pushes, 'liq').map(({ row }) => row),
        events.map(liquidityRow),
      )
    }
    case 'kline': {
      const series = new ExpectedAnswers(expected).candles(address, 'k1')
      const trades = expected.tradesOf(address).filter(isNew)
      const traded = new Set(trades.map(({ time }) => startOf('k1', time)))
      const seen = [...foldCandles(pushes).values()].map(({ kline }) => candleOf(kline.usd))
      const seenStarts = new Set(seen.map((candle) => candle['time']))
      const wanted = series.filter(({ start }) => traded.has(start) || seenStarts.has(start))
      return firstDifference(
        'candles',
        seen.toSorted((a, b) => Number(a['time']) - Number(b['time'])),
        wanted.flatMap(({ start, usd }) => (usd === undefined ? [] : [{ time: start, ...barTexts(usd) }])),
      )
    }
  }
}

function candleOf({ time, open, high, low, close, volume }: Row): Row {
  return { time, open, high, low, close, volume }
}
