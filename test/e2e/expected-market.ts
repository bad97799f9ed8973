import { type Hex, type Log, zeroAddress } from 'viem'
import { uniswapV2Pair } from '../../dev/market/artifacts.ts'
import { ExpectedChain } from './expected-chain.ts'
import { type Block, type Exchanges, ExpectedExchanges } from './expected-exchanges.ts'
import type { TokenInfo } from './expected-prices.ts'

/** A market on a node, and what its tokens are called. The first stablecoin or native coin is the highest in rank. */
export type MarketOnNode = Exchanges & {
  readonly tokens: readonly TokenInfo[]
  readonly stable: Hex
  /** After a block; without it, the node's state says so. */
  readonly supplyOf?: (address: string, block: number) => bigint
}

/**
 * What the answers must be, computed from the node's receipts alone. Nothing of `src/` is used: the events are
 * decoded by the exchange's own ABI, and the arithmetic is written out again here, so that a mistake in the
 * product cannot hide in its expectation.
 */
export class ExpectedMarket extends ExpectedChain {
  readonly #node: MarketOnNode
  readonly #exchanges: ExpectedExchanges
  readonly #infos: ReadonlyMap<string, TokenInfo>

  private constructor(node: MarketOnNode) {
    super(node.stable.toLowerCase(), [node.market.weth.toLowerCase(), zeroAddress])
    this.#node = node
    this.#infos = new Map(
      node.tokens.map((token) => [
        token.address.toLowerCase(),
        { ...token, address: token.address.toLowerCase() },
      ]),
    )
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

  async #fold(block: Block): Promise<void> {
    await this.#exchanges.fold(block)
    await this.#askSupplies(block)
    this.endBlock(block)
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
    const known = this.#node.supplyOf?.(address, block)
    const supply = known ?? ((await this.#node.market.read?.(call, block)) as bigint)
    this.supplies.set(address, supply)
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
