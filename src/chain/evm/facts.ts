import { decodeAbiParameters, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { DexRegistry } from '../../dex/registry.ts'
import type { Fact, PoolFact, RawTransaction, TokenFact } from '../../domain/envelope.ts'
import type { Header } from '../source.ts'
import type { EvmRpc } from './rpc.ts'
import { readTokenText } from './token-text.ts'

const abi = parseAbi([
  'function name()',
  'function symbol()',
  'function decimals()',
  'function totalSupply()',
  'function factory()',
  'function token0()',
  'function token1()',
  'function getPair(address, address)',
])
const CALL = {
  name: encodeFunctionData({ abi, functionName: 'name' }),
  symbol: encodeFunctionData({ abi, functionName: 'symbol' }),
  decimals: encodeFunctionData({ abi, functionName: 'decimals' }),
  totalSupply: encodeFunctionData({ abi, functionName: 'totalSupply' }),
  factory: encodeFunctionData({ abi, functionName: 'factory' }),
  token0: encodeFunctionData({ abi, functionName: 'token0' }),
  token1: encodeFunctionData({ abi, functionName: 'token1' }),
}

const MAX_FOREIGN_REMEMBERED = 100_000
const MAX_UINT8 = 255n

/** What was told before. */
export type KnownFacts = { knowsPool(address: string): boolean; knowsToken(address: string): boolean }

/**
 * Picks the logs that matter out of a block and asks the node, in the state right after that block, for what
 * the engine needs to make sense of them. Each fact is asked once and travels in the log.
 */
export class EvmFacts {
  readonly #rpc: EvmRpc
  readonly #registry: DexRegistry
  /** Contracts that emit a pool's events but belong to no exchange of ours: asked once per process. */
  readonly #foreign = new Set<string>()

  constructor(rpc: EvmRpc, registry: DexRegistry) {
    this.#rpc = rpc
    this.#registry = registry
  }

  async gather(
    { hash: blockHash }: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
  ): Promise<{ transactions: RawTransaction[]; facts: Fact[] }> {
    const pools = new Map<string, PoolFact>()
    const isPool = async (address: string): Promise<boolean> => {
      if (known.knowsPool(address) || pools.has(address)) return true
      if (this.#foreign.has(address)) return false
      const fact = await this.#askPool(address, blockHash)
      if (fact === undefined) this.#rememberForeign(address)
      else pools.set(address, fact)
      return fact !== undefined
    }
    const kept: RawTransaction[] = []
    for (const transaction of transactions) {
      const logs = []
      for (const log of transaction.logs) {
        const created = this.#registry.decodeFactoryLog(log)
        if (created !== undefined) {
          const { pool: address, token0, token1 } = created
          if (!known.knowsPool(address) && !pools.has(address)) {
            pools.set(address, { type: 'pool', address, factory: log.address, token0, token1 })
          }
          logs.push(log)
        } else if (this.#registry.looksLikePool(log) && (await isPool(log.address))) logs.push(log)
      }
      if (logs.length > 0) kept.push({ ...transaction, logs })
    }
    const addresses = new Set([...pools.values()].flatMap(({ token0, token1 }) => [token0, token1]))
    const unknown = [...addresses].filter((address) => !known.knowsToken(address))
    const tokens = await Promise.all(unknown.map((address) => this.#askToken(address, blockHash)))
    return { transactions: kept, facts: [...tokens, ...pools.values()] }
  }

  /** A pool may claim any factory: only the factory's own word that this is its pool counts. */
  async #askPool(address: string, blockHash: string): Promise<PoolFact | undefined> {
    const ask = async (to: string, data: Hex): Promise<string | undefined> =>
      toAddress(await this.#rpc.call(to, data, blockHash))
    const [factory, token0, token1] = await Promise.all([
      ask(address, CALL.factory),
      ask(address, CALL.token0),
      ask(address, CALL.token1),
    ])
    if (factory === undefined || token0 === undefined || token1 === undefined) return undefined
    if (this.#registry.deploymentOf(factory) === undefined) return undefined
    const args = [token0 as Hex, token1 as Hex] as const
    const own = await ask(factory, encodeFunctionData({ abi, functionName: 'getPair', args }))
    return own === address ? { type: 'pool', address, factory, token0, token1 } : undefined
  }

  async #askToken(address: string, blockHash: string): Promise<TokenFact> {
    const ask = (data: Hex): Promise<Hex | undefined> => this.#rpc.call(address, data, blockHash)
    const [name, symbol, decimals, supply] = await Promise.all([
      ask(CALL.name),
      ask(CALL.symbol),
      ask(CALL.decimals),
      ask(CALL.totalSupply),
    ])
    const decimalsClaimed = toUint(decimals)
    return {
      type: 'token',
      address,
      name: readTokenText(name),
      symbol: readTokenText(symbol),
      decimals:
        decimalsClaimed === undefined || decimalsClaimed > MAX_UINT8 ? undefined : Number(decimalsClaimed),
      supplyRaw: toUint(supply),
    }
  }

  #rememberForeign(address: string): void {
    if (this.#foreign.size >= MAX_FOREIGN_REMEMBERED) this.#foreign.clear()
    this.#foreign.add(address)
  }
}

function toUint(answer: Hex | undefined): bigint | undefined {
  return answer?.length === 66 ? decodeAbiParameters([{ type: 'uint256' }], answer)[0] : undefined
}

function toAddress(answer: Hex | undefined): string | undefined {
  return answer?.length === 66 && answer.startsWith(`0x${'0'.repeat(24)}`)
    ? `0x${answer.slice(26)}`
    : undefined
}
