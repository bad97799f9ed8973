import type { Header } from '../../../src/chain/source.ts'
import { SOL, SolanaAccounts, SPL_TOKEN, WRAPPED_SOL } from '../builders/solana-accounts.ts'
import { type MarketTransaction, openWallet, SolanaScript } from '../builders/solana-transaction.ts'
import { hasSolanaRecordings } from '../recorded/recorded-solana.ts'
import { type RecordedSwaps, recordedSwaps } from '../recorded/recorded-swaps.ts'
import { base58Of, SolanaLedger } from './solana-ledger.ts'
import { putMint, putRecorded } from './solana-market-accounts.ts'

/** The only stablecoin: the recorded pools of real ones therefore do not make the price of SOL. */
export const DOLLAR = base58Of('synthetic dollar')
const FIRST_TIME = 1_750_000_000

type Snapshot = ReturnType<SolanaAccounts['snapshot']>

/** A transaction of the market: recorded ones have swaps, synthetic ones the actions of their programs. */
export type MarketEntry = MarketTransaction & { readonly recorded?: RecordedSwaps }

export type MarketBlock = {
  readonly header: Header
  readonly entries: readonly MarketEntry[]
  /** The accounts after the block. */
  readonly after: Snapshot
}

/**
 * A market on a ledger: recorded transactions and synthetic ones, in blocks with skipped slots between them. A fork
 * restores the accounts, so that the balances of every branch are right.
 */
export class SolanaMarket {
  readonly ledger: SolanaLedger
  readonly accounts = new SolanaAccounts()
  readonly wallets: readonly string[]
  readonly #blocks = new Map<string, MarketBlock>()
  readonly #recorded: RecordedSwaps[]
  readonly #start: Snapshot
  #skipped = 0
  #sent = 0

  constructor(first = 1, walletCount = 8) {
    this.ledger = new SolanaLedger(first)
    this.ledger.transactionsOf = ({ hash }) => this.#blocks.get(hash)?.entries.map(({ rpc }) => rpc) ?? []
    this.#skip(FIRST_TIME - first)
    const { accounts } = this
    accounts.addMint({
      ...{ address: WRAPPED_SOL, name: 'Wrapped SOL', symbol: 'SOL', decimals: 9, program: SPL_TOKEN },
    })
    accounts.addMint({
      ...{ address: DOLLAR, name: 'Synthetic Dollar', symbol: 'SUSD', decimals: 6, program: SPL_TOKEN },
    })
    this.wallets = Array.from({ length: walletCount }, (_, nth) => {
      const wallet = openWallet(accounts, String(nth), 100_000n * SOL)
      accounts.issue(accounts.open(wallet, DOLLAR), 100_000_000n * 10n ** 6n)
      return wallet
    })
    this.#recorded = hasSolanaRecordings ? recordedSwaps() : []
    for (const recorded of this.#recorded) putRecorded(this.ledger, recorded)
    this.#start = accounts.snapshot()
  }

  get tip(): Header {
    return this.ledger.chain.tip
  }

  /** Recorded transactions that no block has yet. */
  get recordedLeft(): number {
    return this.#recorded.length
  }

  wallet(nth: number): string {
    return this.wallets[nth % this.wallets.length] as string
  }

  /** The next block, after `gap` more seconds than usual. */
  block(fill: (block: BlockScript) => void = () => undefined, gap = 0): Header {
    const { chain } = this.ledger
    this.#skip(gap)
    const script = new BlockScript(this, this.tip.number + 1 + this.#skipped, () => `${this.#sent++}`)
    fill(script)
    for (const mint of this.accounts.mints.values()) putMint(this.ledger, mint)
    chain.mine(1)
    const { entries } = script
    this.#blocks.set(this.tip.hash, { header: this.tip, entries, after: this.accounts.snapshot() })
    return this.tip
  }

  /** Leaves the newest blocks; the next block is on another branch. Recorded transactions wait for a block again. */
  fork(depth: number): void {
    const lost = this.ledger.chain.headers().slice(-depth)
    const entries = lost.flatMap(({ hash }) => this.#blocks.get(hash)?.entries ?? [])
    this.#recorded.unshift(...entries.flatMap(({ recorded }) => recorded ?? []))
    this.ledger.chain.fork(depth, 0)
    // So that no block of the other branch has the time of one that it replaces.
    this.#skip(1)
    this.accounts.restore(this.#blocks.get(this.tip.hash)?.after ?? this.#start)
  }

  /** Blocks of the canonical chain, oldest first. */
  canonical(): MarketBlock[] {
    return this.ledger.chain.headers().flatMap(({ hash }) => this.#blocks.get(hash) ?? [])
  }

  takeRecorded(): RecordedSwaps | undefined {
    return this.#recorded.shift()
  }

  #skip(seconds: number): void {
    this.#skipped += seconds
    this.ledger.chain.skipSeconds(seconds)
  }
}

/** Collects the transactions of a block. */
export class BlockScript {
  readonly entries: MarketEntry[] = []
  readonly time: number
  readonly #market: SolanaMarket
  readonly #nextName: () => string

  constructor(market: SolanaMarket, time: number, nextName: () => string) {
    this.#market = market
    this.time = time
    this.#nextName = nextName
  }

  send(wallet: string, fill: (script: SolanaScript) => void): void {
    const script = new SolanaScript(this.#market.accounts, wallet, `synthetic ${this.#nextName()}`)
    fill(script)
    this.entries.push(script.finish())
  }

  /** The next recorded transaction, if there is one left. */
  replay(): void {
    const recorded = this.#market.takeRecorded()
    if (recorded === undefined) return
    const { rpc, signature, payer } = recorded
    this.entries.push({ rpc, signature, payer, actions: [], recorded })
  }
}
