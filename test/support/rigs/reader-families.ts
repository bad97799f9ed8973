import { setImmediate } from 'node:timers/promises'
import type { SolanaNodes } from '../../../src/chain/solana/rpc.ts'
import { createSolanaSource, type SolanaSource } from '../../../src/chain/solana/source.ts'
import { BlockWindow } from '../../../src/chain/solana/yellowstone/block-window.ts'
import { followByStream } from '../../../src/chain/solana/yellowstone/live-source.ts'
import { ReaderSetup, START } from './reader-setup.ts'
import { ScriptedChain } from './scripted-chain.ts'
import { SolanaLedger } from './solana-ledger.ts'
import { createTestCommon } from './test-common.ts'
import { waitFor } from './wait-for.ts'
import { YellowstoneServer } from './yellowstone-server.ts'
import { TEST_SETTINGS } from './yellowstone-world.ts'

/** How a reader gets the blocks of a chain. */
export type ReaderFamily = 'evm' | 'solana' | 'yellowstone'

/**
 * A chain whose blocks are found by number and by hash, one whose blocks are found by slot only, and the same with a stream
 * of its new blocks over gRPC.
 */
export const families: Record<ReaderFamily, (first?: number) => ReaderSetup> = {
  evm: (first = START) => new ReaderSetup(new ScriptedChain(first)),
  solana: (first = START) => {
    const ledger = new SolanaLedger(first)
    return new ReaderSetup(ledger.chain, polled(ledger))
  },
  yellowstone: (first = START) => {
    closeStreams()
    const stream = new Stream(new SolanaLedger(first))
    streams.add(stream)
    return new ReaderSetup(stream.ledger.chain, stream.source(), () => stream.synced())
  },
}

/** Requests for the head of a chain. A stream is compared with them in the background, so its number is not fixed. */
export const headCalls: Record<Exclude<ReaderFamily, 'yellowstone'>, number> = { evm: 1, solana: 2 }

const streams = new Set<Stream>()

/** Opening a stream closes the one before it; the last one remains, and has to be closed after the tests. */
export function closeStreams(): void {
  for (const stream of streams) stream.close()
  streams.clear()
}

/** A reader that has read the first blocks of a chain. */
export async function readBlocks(family: ReaderFamily, blocks: number, first = START): Promise<ReaderSetup> {
  const setup = families[family](first)
  setup.chain.mine(blocks)
  await setup.catchUp()
  return setup
}

function polled(ledger: SolanaLedger): SolanaSource {
  return createSolanaSource(ledger.nodes(), { logsOf: () => [] })
}

/** A ledger whose new blocks are streamed over real gRPC, with JSON-RPC behind it. */
class Stream {
  readonly ledger: SolanaLedger
  readonly #server: YellowstoneServer
  readonly #window = new BlockWindow()
  readonly #stop = new AbortController()

  constructor(ledger: SolanaLedger) {
    this.ledger = ledger
    this.#server = new YellowstoneServer(ledger)
  }

  async source() {
    // As over a network, so that the stream is read between two requests.
    const nodes = this.ledger.nodes()
    const verified: SolanaNodes['verified'] = async (ask) => {
      await setImmediate()
      return nodes.verified(ask)
    }
    const base = createSolanaSource({ ...nodes, verified }, { logsOf: () => [] })
    return followByStream(base, {
      endpoints: [{ url: await this.#server.listen(), token: undefined }],
      accounts: [],
      logsOf: () => [],
      logger: createTestCommon().logger,
      signal: this.#stop.signal,
      window: this.#window,
      settings: { ...TEST_SETTINGS, compareEveryMs: 1 },
      metrics: { up: () => undefined, ended: () => undefined },
    })
  }

  /** Waits until the stream has the head and the final block that the chain reports, unless they are below its window. */
  async synced(): Promise<void> {
    const { chain } = this.ledger
    const window = this.#window
    await waitFor('the stream to have the head', () => {
      const [head, final] = [chain.reported().at(-1), chain.final]
      if (head === undefined || window.head === undefined) return undefined
      const isBelow = head.number < window.head.number && window.at(head.number) === undefined
      const isFinal =
        final === undefined ||
        window.of(final.hash) === undefined ||
        (window.final?.number ?? -1) >= final.number
      return ((isBelow || window.of(head.hash) !== undefined) && isFinal) || undefined
    })
  }

  close(): void {
    this.#stop.abort()
    this.#server.kill()
  }
}
