import { base58Of } from '../rigs/solana-ledger.ts'

export const SYSTEM = '11111111111111111111111111111111'
export const SPL_TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

export const SOL = 10n ** 9n
/** Lamports that an account of tokens keeps so that it is not removed. */
const RENT = 2_039_280n

export type MintAccount = {
  readonly address: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly program: typeof SPL_TOKEN | typeof TOKEN_2022
  readonly supply: bigint
}

export type TokenAccount = { readonly mint: string; readonly owner: string; readonly amount: bigint }

/** A bonding curve or a pool, as its program keeps it. Undefined fields are those of other programs. */
export type PoolAccount = {
  readonly address: string
  readonly program: string
  readonly tokens: readonly [string, string]
  readonly vaults: readonly [string, string]
  /** What the program counts as its reserves. */
  readonly reserves: readonly [bigint, bigint]
  /** Virtual reserves of a curve, from which it takes its price. */
  readonly virtual?: readonly [bigint, bigint]
  readonly goal?: bigint
  readonly isClosed?: boolean
}

type Accounts = {
  readonly mints: Map<string, MintAccount>
  readonly tokens: Map<string, TokenAccount>
  readonly pools: Map<string, PoolAccount>
  readonly lamports: Map<string, bigint>
}

/** The accounts of a synthetic chain. Transactions change them, and a fork restores them. */
export class SolanaAccounts {
  #now: Accounts = { mints: new Map(), tokens: new Map(), pools: new Map(), lamports: new Map() }

  get mints(): ReadonlyMap<string, MintAccount> {
    return this.#now.mints
  }

  get tokens(): ReadonlyMap<string, TokenAccount> {
    return this.#now.tokens
  }

  snapshot(): Accounts {
    return structuredClone(this.#now)
  }

  restore(snapshot: Accounts): void {
    this.#now = structuredClone(snapshot)
  }

  addMint(mint: Omit<MintAccount, 'supply'>): void {
    this.#now.mints.set(mint.address, { ...mint, supply: 0n })
  }

  mint(address: string): MintAccount {
    return found(this.#now.mints, address)
  }

  pool(address: string): PoolAccount {
    return found(this.#now.pools, address)
  }

  hasPool(address: string): boolean {
    return this.#now.pools.has(address)
  }

  setPool(pool: PoolAccount): void {
    this.#now.pools.set(pool.address, pool)
  }

  /** The token account of an owner, whether it exists or not. */
  addressOf(owner: string, mint: string, nth = 0): string {
    return base58Of(`account ${nth} of ${owner} for ${mint}`)
  }

  /** The token account of an owner, which is created if it does not exist. */
  open(owner: string, mint: string, nth = 0): string {
    const address = this.addressOf(owner, mint, nth)
    if (this.#now.tokens.has(address)) return address
    this.#now.tokens.set(address, { mint, owner, amount: 0n })
    this.#now.lamports.set(address, RENT)
    return address
  }

  token(address: string): TokenAccount {
    return found(this.#now.tokens, address)
  }

  amount(address: string): bigint {
    return this.#now.tokens.get(address)?.amount ?? 0n
  }

  lamports(address: string): bigint {
    return this.#now.lamports.get(address) ?? 0n
  }

  addLamports(address: string, lamports: bigint): void {
    const after = this.lamports(address) + lamports
    if (after < 0n) throw new Error(`${address} has too few lamports`)
    this.#now.lamports.set(address, after)
  }

  /** Tokens from nowhere: a mint, or what an owner had before the first block. */
  issue(account: string, amount: bigint): void {
    const { mint } = this.#add(account, amount)
    const before = this.mint(mint)
    this.#now.mints.set(mint, { ...before, supply: before.supply + amount })
    if (mint === WRAPPED_SOL) this.addLamports(account, amount)
  }

  transfer(source: string, destination: string, amount: bigint): void {
    const { mint } = this.#add(source, -amount)
    if (this.#add(destination, amount).mint !== mint) throw new Error('a transfer between two mints')
    if (mint !== WRAPPED_SOL) return
    this.addLamports(source, -amount)
    this.addLamports(destination, amount)
  }

  #add(address: string, amount: bigint): TokenAccount {
    const before = this.token(address)
    const after = before.amount + amount
    if (after < 0n) throw new Error(`${address} holds ${before.amount}, less than ${-amount}`)
    this.#now.tokens.set(address, { ...before, amount: after })
    return before
  }
}

function found<T>(all: ReadonlyMap<string, T>, address: string): T {
  const account = all.get(address)
  if (account === undefined) throw new Error(`no account ${address}`)
  return account
}
