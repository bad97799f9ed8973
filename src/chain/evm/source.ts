import type { BlockRef, RawTransaction } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { MAX_TIME } from '../../domain/limits.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import { secondOpinion } from '../rpc/second-opinion.ts'
import type { ChainSource, Doubt, FetchedBlock, Header } from '../source.ts'
import { HASH, invalid, provedByReceipts, shaped, toIndex, vouchedByBloom } from './proof/block-logs.ts'
import type { ReceiptsRoot } from './proof/verify-receipts.ts'
import type { EvmNode, EvmNodes } from './rpc/rpc.ts'
import type { RpcBlock } from './rpc/rpc-answers.ts'

export type EvmSourceOptions = {
  readonly finalityDepth: number | undefined
  readonly receiptsRoot: ReceiptsRoot
  readonly now?: () => number
}

type Nodes = Pick<EvmNodes, 'verified' | 'elsewhere' | 'blame'>

/** Where a header came from: the node's label, and the block that its receipts can be proved against. */
type Origins = WeakMap<BlockRef, { readonly block: RpcBlock; readonly label: string }>

/** How long blocks wait for a node that has receipts, but not theirs, before one without receipts is asked. */
const RECEIPTS_PATIENCE_MS = 30_000
/** A node further behind than this may not know the block that it is asked about. */
const WITNESS_LAG_BLOCKS = 3

/** Each request is answered by a single node, so that a node that contradicts itself can be named. */
export function createEvmSource(nodes: Nodes, options: EvmSourceOptions): ChainSource {
  const origins: Origins = new WeakMap()
  const now = options.now ?? (() => performance.now())
  let waitingSince: number | undefined
  const ask = <T>(question: (node: NodeSource) => Promise<T>, only?: string): Promise<T> =>
    nodes.verified((node) => question(new NodeSource(node, options, origins)), only)

  /** Prefers nodes that serve receipts, because receipts can be proved; without any, logs alone keep the chain going. */
  const transactions = async (block: Header): Promise<RawTransaction[]> => {
    let isMissing = false
    try {
      const found = await ask(async (node) => {
        try {
          return await node.fromReceipts(block)
        } catch (error) {
          isMissing ||= isUnsupported(error)
          throw error
        }
      })
      waitingSince = undefined
      return found
    } catch (error) {
      if (!(error instanceof ChaintapeError)) throw error
      if (error instanceof UnknownBlockError) await blameInventor(block)
      if (!isMissing) throw error
      if (error.code === 'node_answer_invalid') {
        // A node serves receipts, but lacks these or has wrong ones; it may have them at the next attempt.
        waitingSince ??= now()
        if (now() - waitingSince < RECEIPTS_PATIENCE_MS) throw error
      } else if (error.code !== 'node_unavailable') throw error
    }
    return ask((node) => node.fromReceiptsOrLogs(block))
  }

  /** If the receipts of that height do not prove this block, they are requested by its hash. */
  const blockAt = async (number: number): Promise<FetchedBlock | undefined> => {
    const found = await ask((node) => node.blockAt(number))
    if (found === undefined) return undefined
    const { header, proved } = found
    return { header, transactions: proved ?? (await transactions(header)) }
  }

  /** A block that no node can serve may have been orphaned; a node that still claims it has invented it. */
  const blameInventor = async (block: Header): Promise<void> => {
    const label = origins.get(block)?.label
    if (label === undefined) return
    const isInvented = await nodes.verified(async (node) => {
      const source = new NodeSource(node, options, origins)
      if ((await source.headerAt(block.number))?.hash !== block.hash) return false
      return (await source.headerOf(block.hash)) === undefined
    }, label)
    if (isInvented)
      nodes.blame(label, `returned block ${block.hash} at ${block.number}, but does not know its hash`)
  }

  const doubt = (suspect: BlockRef, ours: BlockRef, reason: Doubt) =>
    secondOpinion({
      ...{
        nodes,
        label: origins.get(suspect)?.label,
        suspect,
        ours,
        doubt: reason,
        lagBlocks: WITNESS_LAG_BLOCKS,
      },
      testify: async (node) => {
        const source = new NodeSource(node, options, origins)
        const [head, header] = await Promise.all([source.head(), source.headerAt(ours.number)])
        return { head: head.number, hash: header?.hash }
      },
    })

  return {
    head: () => ask((node) => node.head()),
    headerAt: (number) => ask((node) => node.headerAt(number)),
    headerOf: (hash, child) => {
      const origin = child === undefined ? undefined : origins.get(child)?.label
      return ask((node) => node.headerOf(hash), origin)
    },
    finalised: () => ask((node) => node.finalised()),
    blockAt,
    transactions,
    doubt,
  }
}

class NodeSource {
  readonly #node: EvmNode
  readonly #options: EvmSourceOptions
  readonly #origins: Origins

  constructor(node: EvmNode, options: EvmSourceOptions, origins: Origins) {
    this.#node = node
    this.#options = options
    this.#origins = origins
  }

  async head(): Promise<Header> {
    const block = await this.#node.blockByTag('latest')
    if (block === null) throw invalid('the node has no latest block')
    return this.#toHeader(block)
  }

  async headerAt(number: number): Promise<Header | undefined> {
    const block = await this.#node.blockByNumber(number)
    if (block === null) return undefined
    const header = this.#toHeader(block)
    if (header.number !== number) throw invalid(`asked for block ${number}, got ${header.number}`)
    return header
  }

  /**
   * The header and, in the same round trip, the receipts of its height. They may be of another block that took its place
   * in between, or missing: receipts that do not prove the header are ignored, and no node is blamed.
   */
  async blockAt(number: number): Promise<{ header: Header; proved?: RawTransaction[] } | undefined> {
    const [header, receipts] = await Promise.all([
      this.headerAt(number),
      this.#node.receipts(number).catch(ignoreFailure),
    ])
    const block = header && this.#origins.get(header)?.block
    if (header === undefined || block === undefined) return undefined
    if (receipts == null) return { header }
    try {
      return { header, proved: provedByReceipts(header, block, receipts, this.#options.receiptsRoot) }
    } catch (error) {
      if (!(error instanceof ChaintapeError)) throw error
      return { header }
    }
  }

  async headerOf(hash: string): Promise<Header | undefined> {
    const block = await this.#node.blockByHash(hash)
    if (block === null) return undefined
    const header = this.#toHeader(block)
    if (header.hash !== hash) throw invalid(`asked for block ${hash}, got ${header.hash}`)
    return header
  }

  async finalised(): Promise<BlockRef | undefined> {
    const { finalityDepth } = this.#options
    if (finalityDepth === undefined) {
      const block = await this.#node.blockByTag('finalized')
      return block === null ? undefined : this.#toHeader(block)
    }
    const number = (await this.head()).number - finalityDepth
    return number < 0 ? undefined : this.headerAt(number)
  }

  async fromReceipts(header: Header): Promise<RawTransaction[]> {
    const receipts = await this.#node.receipts(header.hash)
    if (receipts === null) throw new UnknownBlockError(header)
    const { receiptsRoot } = this.#options
    const known = this.#origins.get(header)?.block
    if (known !== undefined) {
      try {
        return provedByReceipts(header, known, receipts, receiptsRoot)
      } catch (error) {
        if (!(error instanceof ChaintapeError)) throw error
        // The block may come from another node, so this one is compared with its own header before it is blamed.
      }
    }
    const block = this.#sameBlock(header, await this.#node.blockByHash(header.hash))
    return provedByReceipts(header, block, receipts, receiptsRoot)
  }

  async fromReceiptsOrLogs(header: Header): Promise<RawTransaction[]> {
    try {
      return await this.fromReceipts(header)
    } catch (error) {
      if (!isUnsupported(error)) throw error
    }
    const [full, logs] = await Promise.all([
      this.#node.fullBlockByHash(header.hash),
      this.#node.logs(header.hash),
    ])
    const { receiptsRoot } = this.#options
    const transactions = vouchedByBloom(header, this.#sameBlock(header, full), logs, receiptsRoot)
    if (receiptsRoot === 'verified') this.#node.unproved()
    return transactions
  }

  #sameBlock(header: Header, block: RpcBlock | null): RpcBlock {
    if (block === null) throw new UnknownBlockError(header)
    if (toHeader(block).hash !== header.hash) throw invalid(`asked for block ${header.hash}, got another`)
    return block
  }

  #toHeader(block: RpcBlock): Header {
    const header = toHeader(block)
    this.#origins.set(header, { block, label: this.#node.label })
    return header
  }
}

function toHeader(block: RpcBlock): Header {
  return shaped(() => {
    const { number, hash, parentHash, timestamp } = block
    if (number === null || hash === null) throw invalid('the node returned a pending block')
    if (!HASH.test(hash) || !HASH.test(parentHash)) throw invalid(`block ${number} has a malformed hash`)
    const time = toIndex(timestamp)
    if (time > MAX_TIME) throw invalid(`block ${number} has a time beyond 2106`)
    return { number: toIndex(number), hash, parentHash, time }
  })
}

class UnknownBlockError extends ChaintapeError {
  constructor({ hash }: Header) {
    super('node_answer_invalid', `the node does not know block ${hash} any more`)
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof RpcFailure && error.kind === 'unsupported'
}

function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof RpcFailure)) throw error
}
