import assert from 'node:assert/strict'
import { createEvmRpc, type EvmRpcOptions } from '../../src/chain/evm/rpc/rpc.ts'
import { createEvmSource } from '../../src/chain/evm/source.ts'
import { Reader } from '../../src/chain/reader.ts'
import { ReaderIndex } from '../../src/chain/reader-index.ts'
import type { PoolSettings } from '../../src/chain/rpc/endpoint-pool.ts'
import type { RpcOutcome } from '../../src/chain/rpc/endpoint-reports.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { FaultyProxy } from '../support/rigs/faulty-proxy.ts'
import { NOTHING_COMMITTED } from '../support/rigs/memory-state.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

type NodeLog = { readonly blockHash: string; readonly transactionHash: string; readonly data: string }
type World = ReturnType<EndpointRig['openWorld']>

export const CHAIN_ID = 31_337
export const BLOCKS = 300
/** Copies its calldata into a log: CALLDATACOPY, LOG1, STOP. */
const ECHO_CODE = '0x365f5f37602a365fa100'
const ECHO = `0x${'ec'.repeat(20)}`
/** As in production, but no test waits ten seconds to see that a node lags. */
const QUICK: Partial<PoolSettings> = { lagAfterMs: 200, lookEveryMs: 100, lastResortMs: 200 }

/** A real node with a log in every block, and faulty proxies before it. */
export class EndpointRig {
  readonly #stack: Stack
  #proxies: FaultyProxy[] = []
  readonly #seenBefore = new WeakMap<FaultyProxy, number>()
  #truth: string[] = []

  private constructor(stack: Stack) {
    this.#stack = stack
  }

  static async start(): Promise<EndpointRig> {
    const rig = new EndpointRig(await startStack({ services: ['anvil'], anvil: ['--no-mining'] }))
    await rig.#makeChain()
    return rig
  }

  async stop(): Promise<void> {
    await this.#closeProxies()
    await this.#stack.stop()
  }

  async startProxies(count: number): Promise<FaultyProxy[]> {
    await this.#closeProxies()
    const starts = Array.from({ length: count }, (_, index) => FaultyProxy.start(this.#stack.rpcUrl, index))
    this.#proxies = await Promise.all(starts)
    return this.#proxies
  }

  /** The endpoint with the most requests since the last call. */
  takeFavourite(): FaultyProxy {
    const recent = (proxy: FaultyProxy): number => proxy.seen.requests - (this.#seenBefore.get(proxy) ?? 0)
    const favourite = this.#proxies.reduce((best, proxy) => (recent(proxy) > recent(best) ? proxy : best))
    for (const proxy of this.#proxies) this.#seenBefore.set(proxy, proxy.seen.requests)
    return favourite
  }

  /** A pool over all proxies, with its reports. */
  openWorld(options: Partial<Pick<EvmRpcOptions, 'urls' | 'http'>> = {}) {
    const { logger, lines } = createTestCommon()
    const stop = new AbortController()
    const counts = new Map<string, number>()
    const up = new Map<string, boolean>()
    const rpc = createEvmRpc({
      urls: options.urls ?? this.#proxies.map(({ url }) => url),
      http: { timeoutMs: 1_000, ...options.http },
      chainId: CHAIN_ID,
      logger,
      signal: stop.signal,
      settings: QUICK,
      metrics: {
        answered: (label, outcome) => {
          const key = `${label} ${outcome}`
          counts.set(key, (counts.get(key) ?? 0) + 1)
        },
        up: (label, isUp) => up.set(label, isUp),
      },
    })
    const source = createEvmSource(rpc, { finalityDepth: 10, receiptsRoot: 'verified' })
    const count = (label: string, outcome: RpcOutcome): number => counts.get(`${label} ${outcome}`) ?? 0
    return { rpc, source, stop, counts, count, up, lines, logger }
  }

  /** Reads from the first block to the node's real head and compares every log. */
  async readChain(
    { source, logger }: World,
    onBlock: (blocks: number) => void = () => undefined,
  ): Promise<void> {
    const index = new ReaderIndex(NOTHING_COMMITTED)
    const stop = new AbortController()
    const seen: string[] = []
    await new Reader({
      chain: 'testchain',
      source,
      index,
      gather: async (_block, transactions) => ({ transactions: [...transactions], facts: [] }),
      append: async (envelope) => {
        assert.notEqual(envelope.kind, 'undo')
        index.apply(envelope)
        if (envelope.kind !== 'block') return
        for (const { hash, logs } of envelope.transactions) {
          for (const { data } of logs) {
            seen.push(`${envelope.hash} ${hash} 0x${Buffer.from(data).toString('hex')}`)
          }
        }
        onBlock(envelope.number)
        if (envelope.number === BLOCKS) stop.abort()
      },
      flush: async () => undefined,
      startBlock: 1,
      readAheadBlocks: 4,
      pollMs: 10,
      logger,
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(30_000)]),
      onBlock: () => undefined,
      onProgress: () => undefined,
    }).run()
    assert.deepEqual(seen, this.#truth)
  }

  async #makeChain(): Promise<void> {
    const [from] = (await this.#askNode('eth_accounts', [])) as string[]
    await this.#askNode('anvil_setCode', [ECHO, ECHO_CODE])
    for (let number = 1; number <= BLOCKS; number++) {
      const data = `0x${number.toString(16).padStart(64, '0')}`
      await this.#askNode('eth_sendTransaction', [{ from, to: ECHO, data, gas: '0x30000' }])
      await this.#askNode('evm_mine', [])
    }
    // Another way to ask for the same than the one under test.
    const range = { fromBlock: '0x0', toBlock: 'latest' }
    const logs = (await this.#askNode('eth_getLogs', [range])) as NodeLog[]
    this.#truth = logs.map(
      ({ blockHash, transactionHash, data }) => `${blockHash} ${transactionHash} ${data}`,
    )
    assert.equal(this.#truth.length, BLOCKS)
  }

  async #closeProxies(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
    this.#proxies = []
  }

  async #askNode(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await fetch(this.#stack.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
}
