import assert from 'node:assert/strict'
import { type Hex, type Log, type TransactionReceipt, zeroAddress } from 'viem'
import { uniswapV2Factory, uniswapV2Pair } from '../../dev/market/artifacts.ts'
import type { Market } from '../../dev/market/market.ts'
import { type UniswapV3, uniswapV3Factory, uniswapV3Pool } from '../../dev/market/uniswap-v3.ts'
import { poolManager, type UniswapV4 } from '../../dev/market/uniswap-v4.ts'
import { type ExpectedPool, type ExpectedPools, type Origin, originOf } from './expected-pools.ts'
import type { TokenInfo } from './expected-prices.ts'
import { decode, movedTo, payeeOf, TokenFlows } from './token-flows.ts'

/** What is deployed on the node. */
export type Exchanges = {
  readonly market: Pick<Market, 'factory' | 'weth' | 'timeOf' | 'receipts'> &
    Partial<Pick<Market, 'read' | 'nativeBalanceOf'>>
  readonly v3?: Pick<UniswapV3, 'factory'>
  readonly v4?: Pick<UniswapV4, 'manager'>
  /** Native coins that a change of V4's liquidity moved; without it, the node's balances say so. */
  readonly nativePaidIn?: (receipt: TransactionReceipt) => bigint
}

export type Block = {
  readonly number: number
  readonly time: number
  readonly receipts: readonly TransactionReceipt[]
}

/** Called for each token of a new pool. */
type MeetToken = (address: string, origin: Origin) => Promise<TokenInfo>

type Args = Readonly<Record<string, unknown>>

const AMM = { v2: 'uniswap_v2', v3: 'uniswap_v3', v4: 'uniswap_v4' }
const MILLION = 1_000_000n

/**
 * Reads receipts by the exchanges' own ABIs. A V3 pool holds what was transferred to it less what was transferred from
 * it. A V4 pool holds what its transactions moved into the manager and out of it, but for fees: pay-outs of fees have
 * transactions of their own, donations are fees, and of a swap the fee is what its event says.
 */
export class ExpectedExchanges {
  readonly #on: Exchanges
  readonly #pools: ExpectedPools
  readonly #meet: MeetToken
  readonly #flows = new TokenFlows()

  constructor(on: Exchanges, pools: ExpectedPools, meet: MeetToken) {
    this.#on = on
    this.#pools = pools
    this.#meet = meet
  }

  async fold(block: Block): Promise<void> {
    const { market, v3, v4 } = this.#on
    for (const receipt of block.receipts) {
      for (const log of receipt.logs) {
        const address = log.address.toLowerCase()
        const origin = originOf(receipt, log, block.time)
        this.#flows.note(log)
        if (address === market.factory.toLowerCase()) await this.#createV2(log, origin)
        else if (address === v3?.factory.toLowerCase()) await this.#createV3(log, origin)
        else if (address === v4?.manager.toLowerCase()) await this.#foldV4(log, origin, receipt, block)
        else {
          const pool = this.#pools.all.get(address)
          if (pool?.amm === AMM.v2) this.#foldV2(pool, log, origin)
          if (pool?.amm === AMM.v3) this.#foldV3(pool, log, origin)
        }
      }
    }
  }

  async #create(origin: Origin, amm: string, id: Hex, token0: Hex, token1: Hex): Promise<ExpectedPool> {
    const first = await this.#meet(token0.toLowerCase(), origin)
    const second = await this.#meet(token1.toLowerCase(), origin)
    return this.#pools.create(origin, amm, id.toLowerCase(), first, second)
  }

  async #createV2(log: Log, origin: Origin): Promise<void> {
    // One parameter has no name, so the decoder gives a list.
    const { args } = decode(uniswapV2Factory.abi, log) as unknown as { args: readonly [Hex, Hex, Hex] }
    await this.#create(origin, AMM.v2, args[2], args[0], args[1])
  }

  async #createV3(log: Log, origin: Origin): Promise<void> {
    const { name, args } = decode(uniswapV3Factory.abi, log)
    if (name !== 'PoolCreated') return
    await this.#create(origin, AMM.v3, args['pool'] as Hex, args['token0'] as Hex, args['token1'] as Hex)
  }

  #foldV2(pool: ExpectedPool, log: Log, origin: Origin): void {
    const { name, args } = decode(uniswapV2Pair.abi, log)
    const sender = String(args['sender']).toLowerCase()
    switch (name) {
      case 'Sync':
        pool.reserve0 = args['reserve0'] as bigint
        pool.reserve1 = args['reserve1'] as bigint
        this.#pools.reprice(pool, origin)
        break
      case 'Mint':
        this.#pools.moveLiquidity(pool, origin, 'addLiquidity', sender, bothAmounts(args))
        break
      case 'Burn':
        this.#pools.moveLiquidity(pool, origin, 'removeLiquidity', sender, bothAmounts(args))
        break
      case 'Swap': {
        const in0 = (args['amount0In'] as bigint) - (args['amount0Out'] as bigint)
        const in1 = (args['amount1In'] as bigint) - (args['amount1Out'] as bigint)
        this.#pools.trade(pool, origin, [in0, in1], sender, String(args['to']).toLowerCase())
      }
    }
  }

  #foldV3(pool: ExpectedPool, log: Log, origin: Origin): void {
    const { name, args } = decode(uniswapV3Pool.abi, log)
    // Asked for its fees, a position is burned by nothing: that is no event of the pool.
    if (name === 'SetFeeProtocol' || (name === 'Burn' && args['amount'] === 0n)) return
    if (name === 'IncreaseObservationCardinalityNext') return
    if (name === 'Initialize' || name === 'Swap') pool.sqrtPriceX96 = args['sqrtPriceX96'] as bigint
    pool.reserve0 = this.#flows.balance(pool.id, pool.token0.address)
    pool.reserve1 = this.#flows.balance(pool.id, pool.token1.address)
    this.#pools.reprice(pool, origin)
    const owner = String(args['owner']).toLowerCase()
    if (name === 'Mint' || name === 'Burn') pool.liquidity = undefined
    if (name === 'Mint') this.#pools.moveLiquidity(pool, origin, 'addLiquidity', owner, bothAmounts(args))
    if (name === 'Burn') this.#pools.moveLiquidity(pool, origin, 'removeLiquidity', owner, bothAmounts(args))
    if (name === 'Collect') this.#pools.moveLiquidity(pool, origin, 'collectFee', owner, bothAmounts(args))
    if (name === 'CollectProtocol')
      this.#pools.moveLiquidity(pool, origin, 'collectFee', '', bothAmounts(args))
    if (name !== 'Swap') return
    cross(pool, args['liquidity'] as bigint)
    this.#pools.trade(
      pool,
      origin,
      bothAmounts(args),
      String(args['sender']).toLowerCase(),
      String(args['recipient']).toLowerCase(),
    )
  }

  async #foldV4(log: Log, origin: Origin, receipt: TransactionReceipt, block: Block): Promise<void> {
    const { name, args } = decode(poolManager.abi, log)
    if (name === 'Initialize') {
      const [id, token0, token1] = [args['id'], args['currency0'], args['currency1']] as [Hex, Hex, Hex]
      const created = await this.#create(origin, AMM.v4, id, token0, token1)
      created.sqrtPriceX96 = args['sqrtPriceX96'] as bigint
    }
    const pool = this.#pools.all.get(String(args['id']))
    if (pool === undefined) return
    const sender = String(args['sender']).toLowerCase()
    if (name === 'ModifyLiquidity' && args['liquidityDelta'] !== 0n) {
      const moved0 = await this.#movedIntoManager(pool.token0, log, receipt, block)
      const moved1 = await this.#movedIntoManager(pool.token1, log, receipt, block)
      pool.reserve0 += moved0
      pool.reserve1 += moved1
      pool.liquidity = undefined
      this.#pools.reprice(pool, origin)
      const isAdded = (args['liquidityDelta'] as bigint) > 0n
      const kind = isAdded ? 'addLiquidity' : 'removeLiquidity'
      this.#pools.moveLiquidity(pool, origin, kind, sender, [moved0, moved1])
    }
    if (name === 'Donate') this.#pools.reprice(pool, origin)
    if (name !== 'Swap') return
    // The event's signs are the swapper's.
    const [moved0, moved1] = bothAmounts(args).map((amount) => -amount) as [bigint, bigint]
    for (const [{ address }, moved] of [[pool.token0, moved0] as const, [pool.token1, moved1] as const]) {
      if (address !== zeroAddress) assert.equal(moved, movedTo(this.#manager, address, receipt))
    }
    const fee = BigInt(args['fee'] as number)
    pool.reserve0 += moved0 > 0n ? moved0 - upTo(moved0 * fee, MILLION) : moved0
    pool.reserve1 += moved1 > 0n ? moved1 - upTo(moved1 * fee, MILLION) : moved1
    pool.sqrtPriceX96 = args['sqrtPriceX96'] as bigint
    cross(pool, args['liquidity'] as bigint)
    this.#pools.reprice(pool, origin)
    const bought = moved0 < 0n ? pool.token0 : pool.token1
    this.#pools.trade(pool, origin, [moved0, moved1], sender, payeeOf(this.#manager, bought.address, receipt))
  }

  get #manager(): string {
    return this.#on.v4?.manager.toLowerCase() ?? ''
  }

  /** What a change of liquidity moved into the V4 manager (negative: out of it). */
  async #movedIntoManager(
    { address }: TokenInfo,
    log: Log,
    receipt: TransactionReceipt,
    { number, receipts }: Block,
  ): Promise<bigint> {
    if (address !== zeroAddress) return movedTo(this.#manager, address, receipt)
    if (this.#on.nativePaidIn !== undefined) return this.#on.nativePaidIn(receipt)
    // Native coins emit no logs: the amount is the block's balance change without swaps and donations.
    const { market } = this.#on
    const [before, after] = await Promise.all(
      [number - 1, number].map((at) => market.nativeBalanceOf?.(this.#manager as Hex, at)),
    )
    let others = 0n
    for (const other of receipts.flatMap(({ logs }) => logs)) {
      if (other.address.toLowerCase() !== this.#manager || other.logIndex === log.logIndex) continue
      const { name, args } = decode(poolManager.abi, other)
      if (this.#pools.all.get(String(args['id']))?.token0.address !== zeroAddress) continue
      assert.notEqual(name, 'ModifyLiquidity', `block ${number} changes native liquidity twice`)
      if (name === 'Swap') others -= args['amount0'] as bigint
      if (name === 'Donate') others += args['amount0'] as bigint
    }
    return (after ?? 0n) - (before ?? 0n) - others
  }
}

function bothAmounts(args: Args): readonly [bigint, bigint] {
  return [args['amount0'] as bigint, args['amount1'] as bigint]
}

function cross(pool: ExpectedPool, liquidity: bigint): void {
  if (pool.liquidity !== undefined && pool.liquidity !== liquidity) pool.crossings += 1
  pool.liquidity = liquidity
}

function upTo(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor
}
