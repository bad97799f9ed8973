import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { ExpectedAnswers } from './expected-answers.ts'
import { liquidityColumns, switchColumns, tradeColumns } from './expected-columns.ts'
import type { ExpectedMarket } from './expected-market.ts'
import { price, value } from './expected-numbers.ts'
import { klineRows, type Row } from './expected-rows.ts'
import { inChainOrder, pick, type Rows } from './protocols-run.ts'
import { launchpadTrades, type NodeBlock, sandboxReference } from './sandbox-reference.ts'
import { withoutUnknown } from './without-unknown.ts'

const LAUNCHPAD = 'fourmeme'
const CANDLES = 1_000

export type Comparison = { readonly stored: readonly Row[]; readonly expected: readonly Row[] }
type Market = Pick<Sandbox, 'chain' | 'tokens' | 'pools'>
type Get = (path: string) => Promise<{ readonly status: number; readonly body: unknown }>

/** What a sandbox stores and answers, beside what the reference model makes of the receipts of its node. */
export class SandboxComparison {
  readonly expected: ExpectedMarket
  readonly curveTrades: ReturnType<typeof launchpadTrades>
  /** Tokens that began on the launchpad, which the reference does not price. */
  readonly launched: ReadonlySet<string>
  readonly #market: Market

  private constructor(market: Market, expected: ExpectedMarket, blocks: readonly NodeBlock[]) {
    this.#market = market
    this.expected = expected
    this.curveTrades = launchpadTrades(market, blocks)
    const curves = market.pools.filter(({ venue }) => venue === 'curve')
    this.launched = new Set(
      curves.map(({ base }) => market.tokens.find(({ coin }) => coin === base)?.address ?? ''),
    )
  }

  static async read(market: Market): Promise<SandboxComparison> {
    const { expected, blocks } = await sandboxReference(market)
    return new SandboxComparison(market, expected, blocks)
  }

  /** How many trades there are, on exchanges and the launchpad. */
  get trades(): number {
    return this.expected.pools.trades.length + this.curveTrades.length
  }

  /** Every trade on an exchange, in every column. */
  tradeRows(rows: Rows): Comparison {
    const expected = this.expected.pools.trades.map(tradeColumns)
    return { stored: picked(onExchanges(rows['trades']), expected), expected }
  }

  /** Every trade on the launchpad, with the amounts of its event. */
  launchpadRows(rows: Rows): Comparison {
    const stored = inChainOrder(rows['trades']).filter(({ amm }) => amm === LAUNCHPAD)
    return {
      stored: stored.map((row) => {
        const { block, log, sold_amount_raw: sold, bought_amount_raw: bought } = row
        return { block, log, sold, bought }
      }),
      expected: this.curveTrades,
    }
  }

  liquidityRows(rows: Rows): Comparison {
    const expected = this.expected.pools.liquidity.map(liquidityColumns)
    return { stored: picked(onExchanges(rows['liquidity']), expected), expected }
  }

  /** Changes of main pair. */
  switchRows(rows: Rows): Comparison {
    const byToken = (a: Row, b: Row): number =>
      a['token'] === b['token']
        ? Number(a['block']) - Number(b['block'])
        : String(a['token']) < String(b['token'])
          ? -1
          : 1
    const expected = this.expected.tokens.switches.filter(({ token }) => !this.launched.has(token))
    const stored = (rows['switches'] ?? []).filter(({ token }) => !this.launched.has(String(token)))
    return {
      stored: stored
        .map((row) => pick(row, ['token', 'block', 'old_pair', 'new_pair', 'reason']))
        .toSorted(byToken),
      expected: expected.map(switchColumns).toSorted(byToken),
    }
  }

  /** Reserves, prices and TVL of every pair. */
  pairRows(rows: Rows): Comparison {
    const stored = new Map((rows['pairs'] ?? []).map((row) => [row['address'], row]))
    const expected = [...this.expected.pools.all.values()].map((one) => ({
      address: one.id,
      token0_reserve_raw: String(one.reserve0),
      token1_reserve_raw: String(one.reserve1),
      token0_price_usd: price(one.prices.price0.usd) ?? null,
      token1_price_usd: price(one.prices.price1.usd) ?? null,
      tvl_usd: value(one.tvl.usd) ?? null,
    }))
    return {
      stored: expected.map((row) => pick(stored.get(row.address) ?? {}, Object.keys(row))),
      expected,
    }
  }

  /** Pairs with their windows, to the last digit, as REST returns them. */
  async pairAnswers(get: Get): Promise<Comparison> {
    const answers = new ExpectedAnswers(this.expected)
    const [stored, expected]: [Row[], Row[]] = [[], []]
    for (const id of this.#pricedPools()) {
      const { status, body } = await get(`/v2/pairs/${id}-local`)
      const wanted = answers.pairDetail(id)
      // Holders are read in the background, and the node has forgotten how much ether was wrapped in old blocks.
      const isWrapped = wanted['target_token'] === this.#market.chain.exchanges.weth
      const left = ['market_cap', ...(isWrapped ? ['fdv'] : [])]
      stored.push({ status, ...without(withoutUnknown(body as Row), left) })
      expected.push({ status: 200, ...without(wanted, left) })
    }
    return { stored, expected }
  }

  /** The latest candles of pairs. */
  async candleAnswers(get: Get, pools = Number.POSITIVE_INFINITY): Promise<Comparison> {
    const answers = new ExpectedAnswers(this.expected)
    const [stored, expected]: [Row[], Row[]] = [[], []]
    for (const id of this.#pricedPools().slice(0, pools)) {
      for (const interval of ['k1', 'k60'] as const) {
        const { body } = await get(`/v2/klines/pair/${id}-local?interval=${interval}&limit=${CANDLES}`)
        stored.push(...(body as Row[]).map(({ revision: _, ...candle }) => ({ id, interval, ...candle })))
        const candles = klineRows(answers.candles(id, interval), 'usd').slice(-CANDLES)
        expected.push(...candles.map((candle) => ({ id, interval, ...candle })))
      }
    }
    return { stored, expected }
  }

  #pricedPools(): string[] {
    return [...this.expected.pools.all.values()]
      .filter(
        ({ token0, token1 }) => !this.launched.has(token0.address) && !this.launched.has(token1.address),
      )
      .map(({ id }) => id)
  }
}

function onExchanges(rows: readonly Row[] | undefined): Row[] {
  return inChainOrder(rows).filter(({ amm }) => amm !== LAUNCHPAD)
}

function picked(rows: readonly Row[], like: readonly Row[]): Row[] {
  const columns = Object.keys(like[0] ?? {})
  return rows.map((row) => pick(row, columns))
}

function without(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))
}
