import { WRAPPED_SOL } from '../support/builders/solana-accounts.ts'
import type { PoolAction } from '../support/builders/solana-transaction.ts'
import type { RecordedMint, RecordedSwap } from '../support/recorded/recorded-swaps.ts'
import {
  DOLLAR,
  type MarketBlock,
  type MarketEntry,
  type SolanaMarket,
} from '../support/rigs/solana-market.ts'
import { ExpectedChain } from './expected-chain.ts'
import type { ExpectedHolding } from './expected-holdings.ts'
import type { ExpectedPool, Origin } from './expected-pools.ts'
import type { TokenInfo } from './expected-prices.ts'
import { expectedProfile } from './expected-profile.ts'
import type { Row } from './expected-rows.ts'

/** A launch as its platform knows it. */
export type ExpectedLaunch = {
  readonly token: string
  readonly curve: string
  readonly amm: string
  readonly createdAt: number
  readonly goal: bigint
  raised: bigint
  graduatedAt: number | undefined
}

/**
 * What the answers must be, computed from what the programs of the market did and, of recorded transactions, from the
 * balances of the accounts that their programs name. No decoder is involved.
 */
export class ExpectedSolana extends ExpectedChain {
  readonly launches = new Map<string, ExpectedLaunch>()
  /** Pools that recorded transactions use; of these only the trades are known. */
  readonly recorded = new Set<string>()
  readonly #entries = new Map<string, MarketEntry>()
  readonly #ammOf: (program: string) => string
  readonly #infos = new Map<string, TokenInfo>()
  readonly #births = new Map<string, { readonly createdAt: number; readonly creator: string }>()
  #last: MarketBlock | undefined

  /** `ammOf` gives the name of a program, or of a recorded swap's protocol. */
  constructor(market: SolanaMarket, ammOf: (program: string) => string) {
    super(DOLLAR, [WRAPPED_SOL])
    this.#ammOf = ammOf
    for (const block of market.canonical()) this.#fold(block)
  }

  /** Holders by owner, whatever the number of their accounts. Known only of tokens that were created here. */
  of(token: string): ExpectedHolding | undefined {
    const birth = this.#births.get(token)
    if (birth === undefined || this.#last === undefined) return undefined
    const { tokens, mints, lamports } = this.#last.after
    const sums = new Map<string, bigint>()
    for (const { mint, owner, amount } of tokens.values())
      if (mint === token) sums.set(owner, (sums.get(owner) ?? 0n) + amount)
    const holders = [...sums]
      .filter(([, raw]) => raw > 0n)
      .map(([holder, raw]) => ({ holder, raw, nativeRaw: lamports.get(holder) ?? 0n }))
      .sort((a, b) => (a.raw === b.raw ? (a.holder < b.holder ? -1 : 1) : a.raw > b.raw ? -1 : 1))
    const supply = mints.get(token)?.supply ?? 0n
    return { holders, supply, burned: 0n, locked: 0n, circulating: supply, ...birth }
  }

  /** The swap with the profile of its wallet, as an object. */
  withProfile(swap: Row): Row {
    const entry = this.#entries.get(String(swap['transaction']))
    const pool = this.pools.all.get(String(swap['pair_address']))
    if (entry === undefined || pool === undefined) throw new Error(`no transaction ${swap['transaction']}`)
    return { ...swap, profile: expectedProfile(entry, [pool.token0.address, pool.token1.address]) }
  }

  #fold(block: MarketBlock): void {
    const { number, time } = block.header
    for (const [tx, entry] of block.entries.entries()) {
      const { signature: transaction, payer: wallet } = entry
      this.#entries.set(transaction, entry)
      const origin = { block: number, tx, log: -1, time, transaction, wallet }
      for (const action of entry.actions) this.#act(action, origin, block)
      this.#replay(entry, origin)
    }
    this.#last = block
    this.endBlock({ number, time })
  }

  #act(action: PoolAction, origin: Origin, { after: { mints } }: MarketBlock): void {
    const { after } = action
    const { program, tokens, reserves, virtual = reserves, goal } = after
    if (action.type === 'created') {
      const [first, second] = tokens.map((address) => {
        const mint = mints.get(address)
        if (mint === undefined) throw new Error(`no mint ${address}`)
        return this.#meet(mint, mint.supply, origin)
      }) as [TokenInfo, TokenInfo]
      const amm = this.#ammOf(program)
      const pool = this.pools.create(origin, amm, action.pool, first, second)
      if (goal === undefined) return
      pool.isCurve = true
      const { time: createdAt, wallet: creator } = origin
      this.launches.set(action.pool, {
        ...{ token: tokens[0], curve: action.pool, amm, createdAt, goal, raised: 0n, graduatedAt: undefined },
      })
      this.#births.set(tokens[0], { createdAt, creator })
      // LaunchLab reports no reserves before the first trade.
      if (amm === 'pump') this.#setPool(pool, reserves, virtual, origin)
      return
    }
    const pool = this.pools.all.get(action.pool)
    if (pool === undefined) throw new Error(`no pool ${action.pool}`)
    const launch = this.launches.get(action.pool)
    if (launch !== undefined) launch.raised = reserves[1]
    if (action.type === 'closed') {
      if (launch !== undefined) launch.graduatedAt ??= origin.time
      this.#setPool(pool, [0n, 0n], virtual, origin)
      return
    }
    this.#setPool(pool, reserves, virtual, origin)
    if (action.type === 'supplied')
      this.pools.moveLiquidity(pool, origin, 'addLiquidity', action.user, action.amounts)
    else this.pools.trade(pool, origin, action.amounts, '', action.user)
  }

  #setPool(
    pool: ExpectedPool,
    [reserve0, reserve1]: readonly [bigint, bigint],
    [base, quote]: readonly [bigint, bigint],
    origin: Origin,
  ): void {
    pool.reserve0 = reserve0
    pool.reserve1 = reserve1
    if (base > 0n) pool.sqrtPriceX96 = rootOf((quote << 192n) / base)
    this.pools.reprice(pool, origin)
  }

  #replay({ recorded }: MarketEntry, origin: Origin): void {
    for (const swap of recorded?.swaps ?? []) {
      const pool = this.pools.all.get(swap.pool) ?? this.#meetPool(swap, recorded?.mints ?? [], origin)
      const isSameOrder = pool.token0.address === swap.mints[0]
      const [first, second] = swap.amounts
      this.pools.trade(pool, origin, isSameOrder ? [first, second] : [second, first], '', '')
    }
  }

  #meetPool({ pool, protocol, mints }: RecordedSwap, all: readonly RecordedMint[], origin: Origin) {
    const [first, second] = mints.map((address) => {
      const decimals = address === WRAPPED_SOL ? 9 : all.find((mint) => mint.address === address)?.decimals
      const info = { address, name: '', symbol: '', decimals: decimals ?? 0 }
      return this.#meet(info, undefined, origin)
    }) as [TokenInfo, TokenInfo]
    this.recorded.add(pool)
    return this.pools.meet(origin, this.#ammOf(protocol), pool, first, second)
  }

  #meet(token: TokenInfo, supply: bigint | undefined, { time }: Origin): TokenInfo {
    const { address, name, symbol, decimals } = token
    const known = this.#infos.get(address)
    if (known !== undefined) return known
    const info = { address, name, symbol, decimals }
    // The supply of the native coin is unknown.
    const counted = address === WRAPPED_SOL ? undefined : supply
    if (counted !== undefined) this.supplies.set(address, counted)
    this.tokens.meet(info, counted, time)
    this.#infos.set(address, info)
    return info
  }
}

/** The largest integer whose square is not above the value, bit by bit. */
function rootOf(value: bigint): bigint {
  let root = 0n
  for (let bit = 1n << 160n; bit > 0n; bit >>= 1n) if ((root + bit) ** 2n <= value) root += bit
  return root
}
