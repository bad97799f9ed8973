import { candlesOf, type ExpectedCandle, type IntervalName } from './expected-candles.ts'
import type { ExpectedChain } from './expected-chain.ts'
import { topHolderRows } from './expected-holder-rows.ts'
import { type ExpectedHolding, ExpectedHoldings } from './expected-holdings.ts'
import { amountValue, decimal, price, value } from './expected-numbers.ts'
import { type ExpectedPool, pricedTokens, targetOf } from './expected-pools.ts'
import {
  CHAIN,
  change24h,
  changeToday,
  known,
  liquidityRow,
  pairWindowFields,
  type Row,
  swapRow,
  tokenWindowFields,
  volumeUsd,
} from './expected-rows.ts'
import { type ExpectedToken, fdvOf } from './expected-tokens.ts'
import { expectedScore } from './expected-trending.ts'

/** What REST answers of the market: every field, with the names of the interface. */
export class ExpectedAnswers {
  readonly #market: ExpectedChain
  readonly #holdings: Pick<ExpectedHoldings, 'of'>
  readonly #risks = new Map<string, Row>()

  /** Without holders, no response that contains them can be compared. */
  constructor(market: ExpectedChain, holdings: Pick<ExpectedHoldings, 'of'> = new ExpectedHoldings()) {
    this.#market = market
    this.#holdings = holdings
  }

  /** Inspection results are not recomputed here: every response must agree with this one. */
  examined(address: string, { risk_score, is_honeypot, is_mintable }: Row): void {
    this.#risks.set(address, { risk_score, is_honeypot, is_mintable })
  }

  pairDetail(id: string): Row {
    const pool = this.pool(id)
    const { token0, token1, prices, tvl } = pool
    const windows = this.#market.pairWindows(id)
    return known({
      ...{ pair: id, chain: CHAIN, amm: pool.amm, target_token: targetOf(pool)?.address },
      ...{ token0_address: token0.address, token0_symbol: token0.symbol, token0_decimal: token0.decimals },
      ...{ token0_price_usd: price(prices.price0.usd), token0_price_eth: price(prices.price0.eth) },
      ...{ token1_address: token1.address, token1_symbol: token1.symbol, token1_decimal: token1.decimals },
      ...{ token1_price_usd: price(prices.price1.usd), token1_price_eth: price(prices.price1.eth) },
      reserve0: decimal(pool.reserve0, token0.decimals),
      reserve1: decimal(pool.reserve1, token1.decimals),
      init_reserve0: pool.initial0 && decimal(pool.initial0, token0.decimals),
      init_reserve1: pool.initial1 && decimal(pool.initial1, token1.decimals),
      tvl: value(tvl.usd),
      market_cap: value(this.#marketCap(targetOf(pool)?.address)),
      fdv: value(pool.fdvUsd),
      created_at: pool.createdAt,
      updated_at: pool.updatedAt,
      first_trade_at: pool.firstTradeAt,
      last_trade_at: pool.last?.time,
      high_u: price(windows?.highUsd),
      low_u: price(windows?.lowUsd),
      price_ath_u: price(pool.athUsd),
      is_main_pair: this.isMain(pool),
      ...pairWindowFields(windows),
    })
  }

  tokenDetail(address: string): Row {
    const { info, price: worth, tvlUsd, updatedAt } = this.token(address)
    return {
      status: 1,
      msg: 'SUCCESS',
      data_type: 1,
      data: {
        is_audited: false,
        pairs: this.topPairs(address, 5).map((pool) => this.#tokenPair(pool)),
        token: {
          ...{
            name: info.name,
            symbol: info.symbol,
            chain: CHAIN,
            current_price_usd: price(worth.usd) ?? '',
          },
          market_cap: value(this.#marketCap(address)) ?? '',
          holders: this.#holdings.of(address)?.holders.length ?? 0,
          ...{ tvl: value(tvlUsd) ?? '', logo_url: '', updated_at: updatedAt },
        },
      },
    }
  }

  #tokenPair(pool: ExpectedPool): Row {
    const { id, amm, token0, token1, prices, tvl, updatedAt, reserve0, reserve1 } = pool
    const windows = this.#market.pairWindows(id)
    return known({
      ...{ amm, chain: CHAIN, pair: id },
      price_change: changeToday(windows) ?? '',
      price_change_24h: change24h(windows) ?? '',
      ...{ token0_symbol: token0.symbol, token1_symbol: token1.symbol },
      token0_price_usd: price(prices.price0.usd) ?? '',
      token1_price_usd: price(prices.price1.usd) ?? '',
      volume_u: value(volumeUsd(windows)) ?? '',
      updated_at: updatedAt,
      ...{ token0_address: token0.address, token1_address: token1.address },
      ...{ token0_decimal: token0.decimals, token1_decimal: token1.decimals },
      reserve0: decimal(reserve0, token0.decimals),
      reserve1: decimal(reserve1, token1.decimals),
      tvl: value(tvl.usd),
      ...pairWindowFields(windows),
    })
  }

  /** One entry of the price map. */
  tokenPrice(address: string): Row {
    const token = this.token(address)
    const windows = this.#market.tokenWindows(address)
    return known({
      token_id: `${address}-${CHAIN}`,
      current_price_usd: price(token.price.usd),
      price_change_1d: changeToday(windows),
      price_change_24h: change24h(windows),
      tvl: value(token.tvlUsd),
      tx_volume_u_24h: value(volumeUsd(windows)),
      fdv: value(fdvOf(token)),
      market_cap: value(this.#marketCap(address)),
      holders: this.#holdings.of(address)?.holders.length,
      updated_at: token.updatedAt,
    })
  }

  /** The row of searches and lists. */
  tokenRow(address: string): Row {
    const token = this.token(address)
    const { info, supply } = token
    const windows = this.#market.tokenWindows(address)
    const day = windows?.sums['24h']
    const holding = this.#holdings.of(address)
    return known({
      ...{ token: address, chain: CHAIN, name: info.name, symbol: info.symbol, decimal: info.decimals },
      total: supply === undefined ? undefined : decimal(supply, info.decimals),
      current_price_usd: price(token.price.usd),
      current_price_eth: price(token.price.eth),
      price_change_1d: changeToday(windows),
      price_change_24h: change24h(windows),
      fdv: value(fdvOf(token)),
      tvl: value(token.tvlUsd),
      main_pair: token.mainPair?.id,
      main_pair_tvl: value(token.mainPairTvlUsd),
      tx_volume_u_24h: value(volumeUsd(windows)),
      tx_amount_24h: windows && decimal(windows.amountRaw, info.decimals),
      tx_count_24h: day && day.buys + day.sells,
      updated_at: token.updatedAt,
      market_cap: value(this.#marketCap(address)),
      holders: holding?.holders.length,
      created_at: holding?.createdAt,
      ...this.#launch(address, holding),
      burn_amount: holding && decimal(holding.burned, info.decimals),
      lock_amount: holding && decimal(holding.locked, info.decimals),
      is_honeypot: -1,
      ...this.#risks.get(address),
      ...tokenWindowFields(windows),
    })
  }

  mainTokenRow(address: string): Row {
    return { current_price_usd: '', market_cap: '', holders: 0, logo_url: '', ...this.tokenRow(address) }
  }

  /** Its first trade of all. The chain is read from its first block, so that none can have been before. */
  #launch(address: string, holding: ExpectedHolding | undefined): Row {
    const first = this.#market.pools.trades.find(
      ({ pool, side }) => side !== undefined && pricedTokens(pool).some((token) => token.address === address),
    )
    if (holding === undefined || first === undefined) return {}
    const { price0, price1 } = first.prices
    const paid = first.pool.token0.address === address ? price0 : price1
    return { launch_at: first.time, launch_price: price(paid.usd) }
  }

  #marketCap(address: string | undefined): bigint | undefined {
    const holding = address === undefined ? undefined : this.#holdings.of(address)
    if (address === undefined || holding === undefined) return undefined
    const { info, price: worth } = this.token(address)
    return amountValue(holding.circulating, info.decimals, worth.usd)
  }

  topHolders(address: string, limit = 100): Row[] {
    const holding = this.#holdings.of(address)
    return holding === undefined ? [] : topHolderRows(this.token(address), holding, limit)
  }

  /** But for what was found out about it, and the ranks of its holders. */
  contract(address: string): Row {
    const { info, supply } = this.token(address)
    return known({
      ...{ token: address, chain: CHAIN, token_name: info.name, token_symbol: info.symbol },
      decimal: info.decimals,
      total: supply === undefined ? undefined : decimal(supply, info.decimals),
      holders: this.#holdings.of(address)?.holders.length,
      dex: this.topPairs(address, 10).map(({ amm, id, token0, token1, tvl }) =>
        known({ amm, pair: id, name: `${token0.symbol}/${token1.symbol}`, liquidity: value(tvl.usd) }),
      ),
    })
  }

  /** Whatever side the token is on. Those that hold most first, then those with the larger volume, then the lower address. */
  topPairs(address: string, limit: number): ExpectedPool[] {
    const volume = ({ id }: ExpectedPool): bigint => volumeUsd(this.#market.pairWindows(id)) ?? -1n
    return [...this.#market.pools.all.values()]
      .filter(({ token0, token1 }) => token0.address === address || token1.address === address)
      .sort(
        (a, b) =>
          descending(a.tvl.usd ?? -1n, b.tvl.usd ?? -1n) ||
          descending(volume(a), volume(b)) ||
          (a.id < b.id ? -1 : 1),
      )
      .slice(0, limit)
  }

  /** The ranked tokens with their scores. Launch times and risks come from the rows. */
  trending(rowOf: (address: string) => Row): { readonly address: string; readonly score: number }[] {
    const { prices, tokens, head } = this.#market
    const mainTokens = new Set([prices.stable, ...prices.natives])
    return [...tokens.all.values()]
      .filter(({ info }) => !mainTokens.has(info.address) && rowOf(info.address)['is_honeypot'] !== 1)
      .map(({ info: { address }, mainPairTvlUsd }) => {
        const { launch_at, created_at, risk_score } = rowOf(address)
        const bornAt = (launch_at ?? created_at) as number | undefined
        const score = expectedScore({
          liquidityUsd: mainPairTvlUsd,
          windows: this.#market.tokenWindows(address),
          ageSeconds: bornAt === undefined ? undefined : Math.max(0, head.time - bornAt),
          riskScore: risk_score as number | undefined,
        })
        return { address, score }
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || (a.address < b.address ? -1 : 1))
  }

  /** Addresses of tokens whose symbol begins with a text, equal ones first, copies last, then by what is asked for. */
  byKeyword(keyword: string, order: 'tx_volume_u_24h' | 'main_pair_tvl' | 'fdv'): string[] {
    const rank = (token: ExpectedToken): bigint => {
      if (order === 'fdv') return fdvOf(token) ?? -1n
      if (order === 'main_pair_tvl') return token.mainPairTvlUsd ?? -1n
      return volumeUsd(this.#market.tokenWindows(token.info.address)) ?? 0n
    }
    const isEqual = ({ info }: ExpectedToken): boolean => info.symbol.toLowerCase() === keyword.toLowerCase()
    const isCopy = ({ info }: ExpectedToken): boolean => this.isImpostor(info.address)
    return [...this.#market.tokens.all.values()]
      .filter(({ info }) => info.symbol.toLowerCase().startsWith(keyword.toLowerCase()))
      .sort(
        (a, b) =>
          Number(isEqual(b)) - Number(isEqual(a)) ||
          Number(isCopy(a)) - Number(isCopy(b)) ||
          descending(rank(a), rank(b)) ||
          (a.info.address < b.info.address ? -1 : 1),
      )
      .map(({ info }) => info.address)
  }

  /** Another token of the same symbol has more in its main pair. */
  isImpostor(address: string): boolean {
    const held = ({ mainPairTvlUsd }: ExpectedToken): bigint => mainPairTvlUsd ?? -1n
    const tokens = [...this.#market.tokens.all.values()]
    const token = tokens.find(({ info }) => info.address === address)
    return tokens.some(
      (other) => token && other.info.symbol === token.info.symbol && held(other) > held(token),
    )
  }

  candles(pair: string, interval: IntervalName): ExpectedCandle[] {
    return candlesOf(
      this.#market.tradesOf(pair).filter(({ side }) => side !== undefined),
      interval,
    )
  }

  /** Newest first. */
  swaps(pair: string): Row[] {
    return this.#market.tradesOf(pair).toReversed().map(swapRow)
  }

  liquidity(pair: string): Row[] {
    return this.#market.pools.liquidity
      .filter(({ pool }) => pool.id === pair)
      .toReversed()
      .map(liquidityRow)
  }

  isMain(pool: ExpectedPool): boolean {
    const target = targetOf(pool)
    return target !== undefined && this.token(target.address).mainPair === pool
  }

  pool(id: string): ExpectedPool {
    const pool = this.#market.pools.all.get(id)
    if (pool === undefined) throw new Error(`no pool ${id}`)
    return pool
  }

  token(address: string): ExpectedToken {
    const token = this.#market.tokens.all.get(address)
    if (token === undefined) throw new Error(`no token ${address}`)
    return token
  }
}

function descending(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? 1 : -1
}
