import { afterEach } from 'node:test'
import { createSolanaRpc } from '../../../src/chain/solana/rpc.ts'
import { createSolanaSource } from '../../../src/chain/solana/source.ts'
import { BlockWindow } from '../../../src/chain/solana/yellowstone/block-window.ts'
import type { LogsOf } from '../../../src/chain/solana/yellowstone/decode-block.ts'
import { followByStream } from '../../../src/chain/solana/yellowstone/live-source.ts'
import type { StreamEnd, YellowstoneOptions } from '../../../src/chain/solana/yellowstone/stream.ts'
import type { ChainSource } from '../../../src/chain/source.ts'
import { ReaderSetup } from './reader-setup.ts'
import { GENESIS_HASH, SolanaLedger } from './solana-ledger.ts'
import { createTestCommon } from './test-common.ts'
import { waitFor } from './wait-for.ts'
import { YellowstoneServer } from './yellowstone-server.ts'

export const TEST_SETTINGS = {
  ...{ firstDelayMs: 20, maxDelayMs: 100, stableMs: 10_000, silentMs: 1_000 },
  ...{ compareEveryMs: 20, maxLagBlocks: 8, patienceMs: 500 },
}

export type WorldOptions = Partial<Pick<YellowstoneOptions, 'accounts' | 'settings' | 'window'>> & {
  readonly logsOf?: LogsOf
  /** The stream serves another chain than the node. */
  readonly streamed?: SolanaLedger
}

/** A node and a stream of one ledger, and a reader that uses both. */
export class YellowstoneWorld {
  readonly ledger: SolanaLedger
  readonly server: YellowstoneServer
  readonly window: BlockWindow
  readonly ends: StreamEnd[] = []
  /** Blocks with transactions that were read over JSON-RPC. */
  rpcBlocks = 0
  isUp = false
  readonly #stop = new AbortController()
  readonly #options: WorldOptions
  #rpcUrl = ''

  constructor(first: number, options: WorldOptions = {}) {
    this.ledger = new SolanaLedger(first)
    this.server = new YellowstoneServer(options.streamed ?? this.ledger)
    this.window = options.window ?? new BlockWindow()
    this.#options = options
    this.ledger.falsify = (method, answer) => {
      const isBlock = method === 'getBlock' && 'transactions' in (answer as object)
      if (isBlock) this.rpcBlocks++
      return answer
    }
  }

  /** The source with its stream. */
  async source(token?: string): Promise<ChainSource> {
    const logger = createTestCommon().logger
    return followByStream(await this.#rpc(), {
      endpoints: [{ url: await this.server.listen(), token }],
      accounts: this.#options.accounts ?? [],
      logsOf: this.#options.logsOf ?? (() => []),
      logger,
      signal: this.#stop.signal,
      window: this.window,
      settings: { ...TEST_SETTINGS, ...this.#options.settings },
      metrics: {
        up: (_endpoint, isUp) => {
          this.isUp = isUp
        },
        ended: (_endpoint, how) => this.ends.push(how),
      },
    })
  }

  async setup(): Promise<ReaderSetup> {
    return new ReaderSetup(this.ledger.chain, await this.source())
  }

  /** A reader of the node alone. */
  async rpcSetup(): Promise<ReaderSetup> {
    return new ReaderSetup(this.ledger.chain, await this.#rpc())
  }

  /** Waits until the window has the tip of the chain. */
  async streamed(): Promise<void> {
    await waitUntil(
      'the stream to have the tip',
      () => this.isUp && this.window.head?.hash === this.ledger.chain.tip.hash,
    )
  }

  async #rpc() {
    if (this.#rpcUrl === '') this.#rpcUrl = await this.ledger.listen()
    const rpc = createSolanaRpc({
      urls: [this.#rpcUrl],
      genesisHash: GENESIS_HASH,
      logger: createTestCommon().logger,
      signal: this.#stop.signal,
      settings: { lookEveryMs: 50, lastResortMs: 5, lagAfterMs: 200 },
      metrics: { answered: () => undefined, up: () => undefined },
    })
    return createSolanaSource(rpc, { logsOf: this.#options.logsOf ?? (() => []) })
  }

  close(): void {
    this.#stop.abort()
    this.server.kill()
    this.ledger.close()
  }
}

export async function waitUntil(what: string, isDone: () => boolean): Promise<void> {
  await waitFor(what, () => isDone() || undefined)
}

/** Opens worlds, and closes them after each test of the file. */
export function yellowstoneWorlds(start: number): (options?: WorldOptions) => YellowstoneWorld {
  const worlds: YellowstoneWorld[] = []
  afterEach(() => {
    for (const world of worlds.splice(0)) world.close()
  })
  return (options = {}) => {
    const world = new YellowstoneWorld(start, options)
    worlds.push(world)
    return world
  }
}
