import assert from 'node:assert/strict'
import type { Hex } from 'viem'
import type { Market } from '../../dev/market/market.ts'
import { EvmFacts } from '../../src/chain/evm/facts/facts.ts'
import { type HistorySettings, TransferHistory } from '../../src/chain/evm/facts/transfer-history.ts'
import { Multicall } from '../../src/chain/evm/rpc/multicall.ts'
import { createEvmRpc } from '../../src/chain/evm/rpc/rpc.ts'
import { createEvmSource } from '../../src/chain/evm/source.ts'
import { HistoryOrder } from '../../src/chain/history-order.ts'
import { Reader } from '../../src/chain/reader.ts'
import { ReaderIndex } from '../../src/chain/reader-index.ts'
import { DexRegistry } from '../../src/dex/registry.ts'
import type { Token } from '../../src/domain/change.ts'
import type { Envelope, TransfersFact } from '../../src/domain/envelope.ts'
import { decodeEnvelope, encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { CanonicalView } from '../support/reference/canonical-view.ts'
import { foldChangeSets, type Tables } from '../support/reference/change-tables.ts'
import { EngineRun } from '../support/rigs/engine-run.ts'
import { NOTHING_COMMITTED } from '../support/rigs/memory-state.ts'
import { createTestCommon, type LogLine } from '../support/rigs/test-common.ts'

const MAX_BLOCKS = 400

/** A reader of a real node that looks back, its log in memory, and an engine that folds the log. */
export class HistoryRig {
  readonly log: Envelope[] = []
  readonly lines: LogLine[] = []
  /** Tokens whose logs no node served at the last poll. */
  readonly unserved = new Set<string>()
  readonly #market: Market
  readonly #urls: readonly string[]
  readonly #start: number
  readonly #settings: Partial<HistorySettings>

  constructor(market: Market, urls: readonly string[], start: number, settings: Partial<HistorySettings>) {
    this.#market = market
    this.#urls = urls
    this.#start = start
    this.#settings = { retryMs: 50, ...settings }
  }

  /** Reads, with an index made from the log alone, and mines a block whenever it has caught up, until it is done. */
  async read(isDone: (index: ReaderIndex) => boolean, mine = () => this.#market.mine()): Promise<void> {
    const index = new ReaderIndex(NOTHING_COMMITTED)
    for (const envelope of this.log) index.apply(envelope)
    const { logger, lines } = createTestCommon()
    const stop = new AbortController()
    const { signal } = stop
    const rpc = createEvmRpc({
      urls: this.#urls,
      chainId: 31_337,
      logger,
      signal,
      metrics: { answered: () => undefined, up: () => undefined },
    })
    const asker = new Multicall(rpc, { gas: 1_000_000, answerBytes: 1_024 })
    const coin = { name: 'Ether', symbol: 'ETH', decimals: 18 }
    const facts = new EvmFacts(asker, this.#registry(), coin, this.#wrappedNative(), [LOCKER])
    const history = new TransferHistory({
      nodes: rpc,
      histories: index.histories,
      order: new HistoryOrder(index.histories),
      hashAt: (number) => index.hashAt(number),
      wrappedNative: this.#wrappedNative(),
      logger,
      signal,
      settings: this.#settings,
    })
    let mined = 0
    let mining = Promise.resolve()
    const reading = new Reader({
      chain: 'local',
      source: createEvmSource(rpc, { finalityDepth: 20, receiptsRoot: 'verified' }),
      index,
      gather: (block, transactions, known) => facts.gather(block, transactions, known),
      background: [history],
      append: async (envelope) => {
        // As it comes out of the log, not as it went in.
        const decoded = decodeEnvelope(encodeEnvelope(envelope))
        this.log.push(decoded)
        index.apply(decoded)
      },
      flush: async () => undefined,
      startBlock: this.#start,
      readAheadBlocks: 4,
      pollMs: 10,
      logger,
      signal,
      onBlock: () => undefined,
      onProgress: ({ tip, lagBlocks }) => {
        if (tip === undefined || lagBlocks > 0) return
        this.#noteUnserved(index, history)
        if (isDone(index)) stop.abort()
        else if (mined++ < MAX_BLOCKS) mining = mining.then(mine)
        else stop.abort(new Error(`not done after ${MAX_BLOCKS} blocks`))
      },
    })
    await reading.run()
    await mining
    this.lines.push(...lines)
    assert.ok(isDone(index), `not done after ${mined} blocks`)
  }

  /** Until nothing older is missing. */
  readAll(): Promise<void> {
    return this.read((index) => index.tip !== undefined && index.histories.length === 0)
  }

  /** The published past of a token, on the canonical branch. */
  pieces(token: string): TransfersFact[] {
    const facts = CanonicalView.of(this.log).blocks.flatMap((block) => block.facts)
    return facts.flatMap((fact) => (fact.type === 'transfers' && fact.address === lower(token) ? [fact] : []))
  }

  tables(): Tables {
    const run = new EngineRun({
      chain: 'local',
      registry: this.#registry(),
      quoteAssets: [{ address: lower(this.#market.weth), kind: 'native' }],
      minDepthUsd: 0n,
      lockers: new Set([LOCKER]),
    })
    for (const envelope of this.log) run.apply(envelope)
    return foldChangeSets(run.sets)
  }

  token(address: string): Token {
    const token = this.tables().tokens.get(lower(address))
    assert.ok(token !== undefined, `${address} was never met`)
    return token
  }

  /** The engine's balances are what the contract answers for each of them, and for nobody else's. */
  async expectTrueBalances(token: Hex, others: readonly Hex[]): Promise<bigint> {
    const own = [...this.tables().balances.values()].filter((balance) => balance.token === lower(token))
    const known = new Map(own.map(({ holder, amountRaw }) => [holder, amountRaw]))
    for (const holder of new Set([...known.keys(), ...others.map(lower)])) {
      const truth = await this.#market.balanceOf(token, holder as Hex, this.tip)
      assert.equal(known.get(holder) ?? 0n, truth, `${token} of ${holder}`)
    }
    return own.reduce((sum, { amountRaw }) => sum + amountRaw, 0n)
  }

  get tip(): number {
    return CanonicalView.of(this.log).blocks.at(-1)?.number ?? 0
  }

  #noteUnserved({ histories }: ReaderIndex, history: TransferHistory): void {
    this.unserved.clear()
    const { first, next } = histories.places
    for (let place = first; place < next; place++) {
      const address = histories.at(place)?.address ?? ''
      if (history.isUnserved(address)) this.unserved.add(address)
    }
  }

  #wrappedNative(): ReadonlySet<string> {
    return new Set([lower(this.#market.weth)])
  }

  #registry(): DexRegistry {
    const factory = lower(this.#market.factory)
    return new DexRegistry([{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory }])
  }
}

export const LOCKER: Hex = `0x${'10c4'.padStart(40, '0')}`

export function lower(address: string): string {
  return address.toLowerCase()
}
