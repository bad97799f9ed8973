import { base58 } from '@scure/base'
import { parseRpcTransaction } from '../../../src/chain/solana/parse-transaction.ts'
import { DexRegistry } from '../../../src/dex/registry.ts'
import { poolByVaults } from '../../../src/dex/solana/identify.ts'
import { knownPrograms } from '../../../src/dex/solana/protocols.ts'
import { rawLogsOf } from '../../../src/dex/solana/raw-logs.ts'
import { rawTransactionOf } from '../../../src/dex/solana/raw-transaction.ts'
import type { SolanaTransaction } from '../../../src/dex/solana/transaction.ts'
import type { ChangeSet, Pair, Token } from '../../../src/domain/change.ts'
import type { Fact, PoolFact, RawLog, RawTransaction } from '../../../src/domain/envelope.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { WRAPPED_SOL } from '../builders/solana-accounts.ts'
import { SOLANA_DEPLOYMENTS } from '../recorded/solana-programs.ts'
import { foldChangeSets, type Tables } from '../reference/change-tables.ts'
import { EngineRun } from './engine-run.ts'
import { DOLLAR, type MarketBlock, type SolanaMarket } from './solana-market.ts'

const CHAIN = 'solana'
const AMMS: Readonly<Record<string, string>> = { pump_fun: 'pump', raydium_launchlab: 'launchlab' }
export const SOLANA_ENGINE_DEPLOYMENTS = SOLANA_DEPLOYMENTS.map(({ protocol, factory }) => {
  return { amm: AMMS[protocol] ?? protocol, protocol, factory }
})
const programs = knownPrograms(SOLANA_ENGINE_DEPLOYMENTS)
const DLMM_SWAP = { pool: 0, vaults: [2, 3] } as const
const LB_PAIR = Buffer.from('210b3162b565b10d', 'hex')

export const solanaSettings: EngineSettings = {
  chain: CHAIN,
  registry: new DexRegistry(SOLANA_ENGINE_DEPLOYMENTS),
  quoteAssets: [
    { address: DOLLAR, kind: 'stable' },
    { address: WRAPPED_SOL, kind: 'native' },
  ],
  minDepthUsd: 0n,
  lockers: new Set(),
}

export type SolanaTokenFact = { readonly decimals: number; readonly supplyRaw: bigint | undefined }

/** An engine that folds Solana transactions, with the facts that a reader would find. */
export class SolanaEngine {
  readonly run: EngineRun
  readonly #registry: DexRegistry
  readonly #known = new Set<string>()
  readonly #tokenOf: (mint: string) => SolanaTokenFact | undefined
  readonly #hashes: string[] = []

  constructor(
    tokenOf: (mint: string) => SolanaTokenFact | undefined = () => undefined,
    settings: EngineSettings = solanaSettings,
  ) {
    this.#tokenOf = tokenOf
    this.#registry = settings.registry
    this.run = new EngineRun(settings)
  }

  /** All blocks of the market's canonical chain. */
  static of(market: SolanaMarket, settings = solanaSettings): SolanaEngine {
    const { accounts } = market
    const blocks = market.canonical()
    const recorded = new Map(
      blocks.flatMap(({ entries }) =>
        entries.flatMap((entry) => entry.recorded?.mints.map((mint) => [mint.address, mint] as const) ?? []),
      ),
    )
    const engine = new SolanaEngine((mint) => {
      const own = accounts.snapshot().mints.get(mint)
      if (own !== undefined) return { decimals: own.decimals, supplyRaw: own.supply }
      const decimals = recorded.get(mint)?.decimals
      return decimals === undefined ? undefined : { decimals, supplyRaw: undefined }
    }, settings)
    for (const block of blocks) engine.foldMarketBlock(block)
    return engine
  }

  foldMarketBlock({ header, entries }: MarketBlock): ChangeSet {
    const transactions = entries.flatMap(({ rpc }) => parseRpcTransaction(rpc, header.number) ?? [])
    return this.fold(header.time, transactions)
  }

  fold(time: number, all: readonly SolanaTransaction[]): ChangeSet {
    let logIndex = 0
    const transactions = all.flatMap((transaction, index): RawTransaction[] => {
      const logs = rawLogsOf(transaction, programs, logIndex)
      logIndex += logs.length
      const raw = logs.length === 0 ? undefined : rawTransactionOf(transaction, index, logs)
      return raw === undefined ? [] : [raw]
    })
    const number = this.#hashes.length + 1
    const parentHash = this.#hashes.at(-1) ?? base58.encode(new Uint8Array(32).fill(9))
    const hash = base58.encode(new Uint8Array(32).fill(number % 251, 0, 30).fill(1 + (number >> 8), 30))
    this.#hashes.push(hash)
    const facts = this.factsOf(
      transactions.flatMap(({ logs }) => logs),
      number,
    )
    return this.run.apply({
      ...{ kind: 'block', chain: CHAIN, number, hash, parentHash, time },
      ...{ transactions, facts },
    })
  }

  get tables(): Tables {
    return foldChangeSets(this.run.sets)
  }

  token(mint: string): Token {
    const token = this.tables.tokens.get(mint)
    if (token === undefined) throw new Error(`the engine does not know ${mint}`)
    return token
  }

  pair(pool: string): Pair {
    const pair = this.tables.pairs.get(pool)
    if (pair === undefined) throw new Error(`the engine does not know ${pool}`)
    return pair
  }

  /** Facts about pools and tokens that were not met before. */
  factsOf(logs: readonly RawLog[], block: number): Fact[] {
    const pools = logs.flatMap((log) => {
      const fact = this.#poolIn(log, block)
      if (fact === undefined || this.#known.has(fact.address)) return []
      this.#known.add(fact.address)
      return [fact]
    })
    const tokens = new Set(pools.flatMap((pool) => pool.tokens).filter((mint) => !this.#known.has(mint)))
    for (const mint of tokens) this.#known.add(mint)
    const texts = { nameRaw: Buffer.from('Some'), symbolRaw: Buffer.from('SOME') }
    return [
      ...[...tokens].map((address): Fact => {
        const { decimals, supplyRaw } = this.#tokenOf(address) ?? {}
        return { type: 'token', address, ...texts, decimals, supplyRaw }
      }),
      ...pools,
    ]
  }

  #poolIn(log: RawLog, block: number): PoolFact | undefined {
    const registry = this.#registry
    const created = registry.announced(log, block)
    if (created !== undefined) {
      const { pool: address, tokens, pricing, goalRaw } = created
      return {
        type: 'pool',
        address,
        factory: registry.factoryOf(log, block),
        tokens,
        pricing,
        reservesBefore: [0n, 0n],
        goalRaw,
      }
    }
    const address = registry.poolOf(log, block)
    const candidate = address === undefined ? undefined : registry.candidates(log, block)[0]
    if (address === undefined || candidate === undefined) return undefined
    const inquiry = candidate.identify(address, candidate.deployments, log)
    inquiry.next()
    const { value } = inquiry.next([syntheticPair(log)])
    return value === undefined || Array.isArray(value) || !('tokens' in value)
      ? undefined
      : { type: 'pool', address, ...value, factory: registry.factoryOf(log, block) }
  }
}

/** No recording has the account of a DLMM pool: a synthetic one has the mints of the swap and bins of 10 basis points. */
function syntheticPair(log: RawLog): Uint8Array | undefined {
  const found = poolByVaults(log, () => DLMM_SWAP)
  if (found === undefined) return undefined
  const data = Buffer.alloc(152)
  LB_PAIR.copy(data)
  data.writeUInt16LE(10, 80)
  for (const [place, mint] of found.tokens.entries()) data.set(base58.decode(mint), 88 + place * 32)
  return data
}
