import assert from 'node:assert/strict'
import { type Hex, type Log, type TransactionReceipt, zeroAddress } from 'viem'
import { uniswapV2Factory, uniswapV2Pair } from '../../dev/market/artifacts.ts'
import { uniswapV3Factory, uniswapV3Pool } from '../../dev/market/uniswap-v3.ts'
import { poolManager } from '../../dev/market/uniswap-v4.ts'
import { decimal, type TokenInfo } from './expected-market.ts'
import { ExpectedPrices, type Fraction } from './expected-prices.ts'
import type { ProtocolsScenario } from './protocols-scenario.ts'
import { decode, movedTo, TokenFlows } from './token-flows.ts'

/**
 * What is to be stored of V2, V3 and V4 pools, computed from the node's receipts alone, with nothing of `src/`.
 * A V3 pool holds what was transferred to it less what was transferred from it. A V4 pool holds what its
 * transactions moved into the manager and out of it, but for fees: pay-outs of fees have transactions of their
 * own, donations are fees, and of a swap the fee is what its event says.
 */

export type ExpectedPool = {
  readonly id: string
  readonly amm: string
  readonly token0: TokenInfo
  readonly token1: TokenInfo
  reserve0: bigint
  reserve1: bigint
  sqrtPriceX96: bigint | undefined
  /** In use at the pool's price, if nothing but a swap can have changed it since. */
  liquidity: bigint | undefined
  /** Swaps that went beyond the end of somebody's range. */
  crossings: number
  /** After the last event, by the prices of that moment. */
  usd0: string | null
  usd1: string | null
  tvlUsd: bigint | undefined
  /** What its target is worth by what of its price counts. */
  targetUsd: string | null
  /** What its quote side is worth. */
  depthUsd: bigint | undefined
}

/** Columns of a stored trade. */
export type ExpectedTrade = Readonly<Record<string, unknown>>

const AMM = { v2: 'uniswap_v2', v3: 'uniswap_v3', v4: 'uniswap_v4' }
const MILLION = 1_000_000n

export class ExpectedPools {
  readonly pools = new Map<string, ExpectedPool>()
  readonly trades: ExpectedTrade[] = []
  readonly #scenario: ProtocolsScenario
  readonly #tokens: ReadonlyMap<string, TokenInfo>
  readonly #prices: ExpectedPrices
  readonly #flows = new TokenFlows()

  private constructor(scenario: ProtocolsScenario) {
    const { market, v2, tokens } = scenario
    this.#scenario = scenario
    this.#tokens = new Map(tokens.map((token) => [token.address.toLowerCase(), token]))
    this.#prices = new ExpectedPrices(v2.stable.toLowerCase(), [market.weth.toLowerCase(), zeroAddress])
  }

  static async read(scenario: ProtocolsScenario, lastBlock: number): Promise<ExpectedPools> {
    const expected = new ExpectedPools(scenario)
    for (let number = 1; number <= lastBlock; number++) {
      for (const receipt of await scenario.market.receipts(number)) await expected.#fold(receipt)
      expected.#endBlock()
    }
    return expected
  }

  nativeUsd(): bigint | undefined {
    return this.#prices.nativeUsd()
  }

  #endBlock(): void {
    const changed = this.#prices.endBlock().flatMap((id) => this.pools.get(id) ?? [])
    // A token whose price is looked at again has all its pools looked at.
    const targets = new Set(changed.map((pool) => this.#prices.targetOf(pool)))
    for (const pool of this.pools.values()) {
      if (targets.has(this.#prices.targetOf(pool))) pool.targetUsd = priceText(this.#prices.targetUsd(pool))
    }
  }

  async #fold(receipt: TransactionReceipt): Promise<void> {
    const { market, v3, v4 } = this.#scenario
    for (const log of receipt.logs) {
      const address = log.address.toLowerCase()
      this.#flows.note(log)
      if (address === market.factory.toLowerCase()) this.#createV2(log)
      else if (address === v3.factory.toLowerCase()) this.#createV3(log)
      else if (address === v4.manager.toLowerCase()) await this.#foldV4(receipt, log)
      else {
        const pool = this.pools.get(address)
        if (pool?.amm === AMM.v2) this.#foldV2(pool, receipt, log)
        if (pool?.amm === AMM.v3) this.#foldV3(pool, receipt, log)
      }
    }
  }

  #createV2(log: Log): void {
    const { args } = decode(uniswapV2Factory.abi, log) as unknown as { args: readonly [Hex, Hex, Hex] }
    this.#create(AMM.v2, args[2], args[0], args[1])
  }

  #createV3(log: Log): void {
    const { name, args } = decode(uniswapV3Factory.abi, log)
    if (name === 'PoolCreated')
      this.#create(AMM.v3, args['pool'] as Hex, args['token0'] as Hex, args['token1'] as Hex)
  }

  #create(amm: string, id: Hex, token0: Hex, token1: Hex): ExpectedPool {
    const pool = {
      id: id.toLowerCase(),
      amm,
      token0: this.#token(token0),
      token1: this.#token(token1),
      reserve0: 0n,
      reserve1: 0n,
      sqrtPriceX96: undefined,
      liquidity: undefined,
      crossings: 0,
      usd0: null,
      usd1: null,
      tvlUsd: undefined,
      targetUsd: null,
      depthUsd: undefined,
    }
    this.pools.set(pool.id, pool)
    return pool
  }

  #foldV2(pool: ExpectedPool, receipt: TransactionReceipt, log: Log): void {
    const { name, args } = decode(uniswapV2Pair.abi, log)
    if (name === 'Sync') {
      pool.reserve0 = args['reserve0'] as bigint
      pool.reserve1 = args['reserve1'] as bigint
      this.#reprice(pool)
    }
    if (name !== 'Swap') return
    const in0 = (args['amount0In'] as bigint) - (args['amount0Out'] as bigint)
    const in1 = (args['amount1In'] as bigint) - (args['amount1Out'] as bigint)
    this.#trade(pool, receipt, log, in0, in1, args['sender'] as string, args['to'] as string)
  }

  #foldV3(pool: ExpectedPool, receipt: TransactionReceipt, log: Log): void {
    const { name, args } = decode(uniswapV3Pool.abi, log)
    // Asked for its fees, a position is burned by nothing: that is no event of the pool.
    if (name === 'SetFeeProtocol' || (name === 'Burn' && args['amount'] === 0n)) return
    if (name === 'Initialize' || name === 'Swap') pool.sqrtPriceX96 = args['sqrtPriceX96'] as bigint
    pool.reserve0 = this.#flows.balance(pool.id, pool.token0.address)
    pool.reserve1 = this.#flows.balance(pool.id, pool.token1.address)
    this.#reprice(pool)
    if (name === 'Mint' || name === 'Burn') pool.liquidity = undefined
    if (name !== 'Swap') return
    this.#cross(pool, args['liquidity'] as bigint)
    const [in0, in1] = [args['amount0'] as bigint, args['amount1'] as bigint]
    this.#trade(pool, receipt, log, in0, in1, args['sender'] as string, args['recipient'] as string)
  }

  async #foldV4(receipt: TransactionReceipt, log: Log): Promise<void> {
    const { name, args } = decode(poolManager.abi, log)
    if (name === 'Initialize') {
      const created = this.#create(
        AMM.v4,
        args['id'] as Hex,
        args['currency0'] as Hex,
        args['currency1'] as Hex,
      )
      created.sqrtPriceX96 = args['sqrtPriceX96'] as bigint
    }
    const pool = this.pools.get(String(args['id']))
    if (pool === undefined) return
    const moved0 = await this.#movedInto(pool.token0, receipt)
    const moved1 = await this.#movedInto(pool.token1, receipt)
    if (name === 'ModifyLiquidity' && args['liquidityDelta'] !== 0n) {
      pool.reserve0 += moved0
      pool.reserve1 += moved1
      pool.liquidity = undefined
      this.#reprice(pool)
    }
    if (name === 'Donate') this.#reprice(pool)
    if (name !== 'Swap') return
    // The event's signs are the swapper's.
    assert.deepEqual([moved0, moved1], [-(args['amount0'] as bigint), -(args['amount1'] as bigint)])
    const fee = BigInt(args['fee'] as number)
    pool.reserve0 += moved0 > 0n ? moved0 - upTo(moved0 * fee, MILLION) : moved0
    pool.reserve1 += moved1 > 0n ? moved1 - upTo(moved1 * fee, MILLION) : moved1
    pool.sqrtPriceX96 = args['sqrtPriceX96'] as bigint
    this.#cross(pool, args['liquidity'] as bigint)
    this.#reprice(pool)
    this.#trade(pool, receipt, log, moved0, moved1, args['sender'] as string, '')
  }

  /** What a transaction moved into the V4 manager (negative: out of it). */
  async #movedInto(token: TokenInfo, receipt: TransactionReceipt): Promise<bigint> {
    const { market, v4 } = this.#scenario
    if (token.address !== zeroAddress) return movedTo(v4.manager.toLowerCase(), token.address, receipt)
    // No log tells; nothing else in the block moves native coins in the manager.
    const block = Number(receipt.blockNumber)
    const before = await market.nativeBalanceOf(v4.manager, block - 1)
    return (await market.nativeBalanceOf(v4.manager, block)) - before
  }

  #cross(pool: ExpectedPool, liquidity: bigint): void {
    if (pool.liquidity !== undefined && pool.liquidity !== liquidity) pool.crossings += 1
    pool.liquidity = liquidity
  }

  #reprice(pool: ExpectedPool): void {
    const { target0, worth } = this.#prices.observe(pool, fractionOf(pool))
    if (target0 === undefined) return
    const [usd0, usd1] = target0 ? [worth?.target, worth?.quote] : [worth?.quote, worth?.target]
    pool.usd0 = priceText(usd0)
    pool.usd1 = priceText(usd1)
    const values = [
      worthOf(pool.reserve0, pool.token0.decimals, usd0),
      worthOf(pool.reserve1, pool.token1.decimals, usd1),
    ]
    pool.tvlUsd = values.includes(undefined) ? undefined : (values[0] ?? 0n) + (values[1] ?? 0n)
    pool.depthUsd = values[target0 ? 1 : 0]
  }

  #trade(
    pool: ExpectedPool,
    receipt: TransactionReceipt,
    log: Log,
    in0: bigint,
    in1: bigint,
    sender: string,
    recipient: string,
  ): void {
    const isZeroSold = in0 > 0n
    const raw0 = isZeroSold ? in0 : -in0
    const raw1 = isZeroSold ? -in1 : in1
    const { target0, worth } = this.#prices.paid(pool, raw0, raw1)
    const side = (is0: boolean, name: string) => ({
      [`${name}_token`]: (is0 ? pool.token0 : pool.token1).address,
      [`${name}_symbol`]: (is0 ? pool.token0 : pool.token1).symbol,
      [`${name}_amount_raw`]: String(is0 ? raw0 : raw1),
      [`${name}_reserve_raw`]: String(is0 ? pool.reserve0 : pool.reserve1),
      [`${name}_price_usd`]: priceText(is0 === target0 ? worth?.target : worth?.quote),
    })
    const quote = target0 ? pool.token1 : pool.token0
    const value = worthOf(target0 ? raw1 : raw0, quote.decimals, worth?.quote)
    this.trades.push({
      pair: pool.id,
      block: String(receipt.blockNumber),
      tx: receipt.transactionIndex,
      log: log.logIndex,
      amm: pool.amm,
      transaction: receipt.transactionHash,
      sender: sender.toLowerCase(),
      recipient: recipient.toLowerCase(),
      wallet: receipt.from.toLowerCase(),
      side: target0 === undefined ? null : isZeroSold === target0 ? 'sell' : 'buy',
      ...side(isZeroSold, 'sold'),
      ...side(!isZeroSold, 'bought'),
      value_usd: value === undefined ? null : decimal(value, 18),
      liquidity_usd: pool.tvlUsd === undefined ? null : decimal(pool.tvlUsd, 18),
    })
  }

  #token(address: Hex): TokenInfo {
    const token = this.#tokens.get(address.toLowerCase())
    if (token === undefined) throw new Error(`no token ${address}`)
    return { ...token, address: token.address.toLowerCase() }
  }
}

/** What one base unit of the first token costs in base units of the second. */
function fractionOf({ amm, reserve0, reserve1, sqrtPriceX96 }: ExpectedPool): Fraction | undefined {
  // A pool that holds nothing has no price, whatever it was created with.
  if (reserve0 === 0n && reserve1 === 0n) return undefined
  if (amm === AMM.v2) return { numerator: reserve1, denominator: reserve0 }
  if (sqrtPriceX96 === undefined) return undefined
  return { numerator: sqrtPriceX96 ** 2n, denominator: 2n ** 192n }
}

function priceText(price: bigint | undefined): string | null {
  return price === undefined ? null : decimal(price, 40)
}

function worthOf(raw: bigint, decimals: number, price: bigint | undefined): bigint | undefined {
  return price === undefined ? undefined : (raw * price) / 10n ** BigInt(decimals + 40 - 18)
}

function upTo(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor
}
