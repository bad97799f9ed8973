import { type Hex, type Log, zeroAddress } from 'viem'
import { uniswapV2Pair } from '../../dev/market/artifacts.ts'
import { type Block, type Exchanges, ExpectedExchanges } from './expected-exchanges.ts'
import { ExpectedPools, type ExpectedTrade, pricedTokens } from './expected-pools.ts'
import { ExpectedPrices, type TokenInfo } from './expected-prices.ts'
import { ExpectedTokens } from './expected-tokens.ts'
import { type Close, type ExpectedWindows, windowsAt } from './expected-windows.ts'

/** A market on a node, and what its tokens are called. The first stablecoin or native coin is the highest in rank. */
export type MarketOnNode = Exchanges & {
  readonly tokens: readonly TokenInfo[]
  readonly stable: Hex
}

type BlockRef = { readonly number: number; readonly time: number }

/**
 * What the answers must be, computed from the node's receipts alone. Nothing of `src/` is used: the events are
 * decoded by the exchange's own ABI, and the arithmetic is written out again here, so that a mistake in the
 * product cannot hide in its expectation.
 */
export class ExpectedMarket {
  readonly prices: ExpectedPrices
  readonly pools: ExpectedPools
  readonly tokens: ExpectedTokens
  /** The newest block. */
  head: BlockRef = { number: 0, time: 0 }
  readonly #node: MarketOnNode
  readonly #exchanges: ExpectedExchanges
  readonly #infos: ReadonlyMap<string, TokenInfo>
  readonly #supplies = new Map<string, bigint>()
  readonly #closes = new Map<string, Close[]>()

  private constructor(node: MarketOnNode) {
    this.#node = node
    this.#infos = new Map(
      node.tokens.map((token) => [
        token.address.toLowerCase(),
        { ...token, address: token.address.toLowerCase() },
      ]),
    )
    this.prices = new ExpectedPrices(node.stable.toLowerCase(), [node.market.weth.toLowerCase(), zeroAddress])
    this.pools = new ExpectedPools(this.prices, this.#supplies)
    this.tokens = new ExpectedTokens(this.prices, this.pools.all)
    this.#exchanges = new ExpectedExchanges(node, this.pools, (address, { block, time }) =>
      this.#meet(address, block, time),
    )
  }

  static async read(node: MarketOnNode, lastBlock: number): Promise<ExpectedMarket> {
    const expected = new ExpectedMarket(node)
    for (let number = 1; number <= lastBlock; number++) {
      const [time, receipts] = await Promise.all([node.market.timeOf(number), node.market.receipts(number)])
      await expected.#fold({ number, time, receipts })
    }
    return expected
  }

  tradesOf(pair: string): ExpectedTrade[] {
    return this.pools.trades.filter(({ pool }) => pool.id === pair)
  }

  /** After the newest block, unless another is named. */
  pairWindows(pair: string, at: BlockRef = this.head): ExpectedWindows | undefined {
    const trades = this.tradesOf(pair).filter(({ side }) => side !== undefined)
    return this.#windows(pair, trades, at, ({ pool }) => pool.target0 === true)
  }

  tokenWindows(token: string, at: BlockRef = this.head): ExpectedWindows | undefined {
    const trades = this.pools.trades.filter(({ pool }) =>
      pricedTokens(pool).some(({ address }) => address === token),
    )
    return this.#windows(token, trades, at, ({ pool }) => pool.token0.address === token)
  }

  #windows(
    subject: string,
    trades: readonly ExpectedTrade[],
    { number, time }: BlockRef,
    isToken0: (trade: ExpectedTrade) => boolean,
  ): ExpectedWindows | undefined {
    return windowsAt(
      time,
      trades.filter(({ block }) => block <= number),
      (this.#closes.get(subject) ?? []).filter(({ block }) => block <= number),
      isToken0,
    )
  }

  async #fold(block: Block): Promise<void> {
    const { pools, prices, tokens } = this
    const tradesBefore = pools.trades.length
    await this.#exchanges.fold(block)
    await this.#askSupplies(block)
    const settled = prices.endBlock().flatMap((id) => pools.all.get(id) ?? [])
    tokens.endBlock(new Set([...pools.takeTouched(), ...settled]), block)
    const traded = new Set(pools.trades.slice(tradesBefore).map(({ pool }) => pool))
    const exchanged = new Set([...traded].flatMap(pricedTokens).map(({ address }) => address))
    for (const pool of traded) this.#close(pool.id, block, prices.countedWorth(pool).usd)
    for (const token of exchanged) this.#close(token, block, tokens.all.get(token)?.price.usd)
    this.head = block
  }

  #close(subject: string, { number, time }: BlockRef, usd: bigint | undefined): void {
    const closes = this.#closes.get(subject) ?? []
    closes.push({ block: number, time, usd })
    this.#closes.set(subject, closes)
  }

  /** Once a block is over, a token that made or unmade some of itself is asked again. */
  async #askSupplies({ number, receipts }: Block): Promise<void> {
    const changed = receipts.flatMap(({ logs }) => logs.filter(movesSupply))
    for (const address of new Set(changed.map((log) => log.address.toLowerCase()))) {
      const token = this.tokens.all.get(address)
      if (token !== undefined) token.supply = await this.#askSupply(address, number)
    }
  }

  async #askSupply(address: string, block: number): Promise<bigint> {
    const call = { to: address as Hex, abi: uniswapV2Pair.abi, name: 'totalSupply', args: [] }
    const supply = (await this.#node.market.read(call, block)) as bigint
    this.#supplies.set(address, supply)
    return supply
  }

  /** Amounts that a token minted in the block of its discovery count at once. */
  async #meet(address: string, block: number, time: number): Promise<TokenInfo> {
    const info = this.#infos.get(address)
    if (info === undefined) throw new Error(`no token ${address}`)
    if (this.tokens.all.has(address)) return info
    const supply = address === zeroAddress ? undefined : await this.#askSupply(address, block)
    this.tokens.meet(info, supply, time)
    return info
  }
}

const ZERO_TOPIC: Hex = `0x${'0'.repeat(64)}`

/** From the zero address or to it; or an event with one address alone, as wrapping has. */
function movesSupply({ topics }: Log): boolean {
  return topics.length === 2 || topics.slice(1, 3).includes(ZERO_TOPIC)
}
