import { rawTransactionOf } from '../../dex/solana/raw-transaction.ts'
import { feePayer, type SolanaTransaction } from '../../dex/solana/transaction.ts'
import type { BlockRef, RawLog, RawTransaction } from '../../domain/envelope.ts'
import { MAX_TIME } from '../../domain/limits.ts'
import { RecentlyUsed } from '../../domain/recently-used.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import { secondOpinion } from '../rpc/second-opinion.ts'
import type { ChainSource, Doubt, FetchedBlock, Header } from '../source.ts'
import { parseRpcTransaction, type RpcTransaction } from './parse-transaction.ts'
import type { Commitment, SolanaNode, SolanaNodes } from './rpc.ts'
import { asIndex, asRecord, invalid, isBase58Key, type RpcBlock } from './rpc-answer.ts'
import { unsupportedVersion } from './rpc-failure.ts'
import { type Place, type SlotHeader, Slots } from './slots.ts'
import { isOfUnknownVersion, ranNoneOf } from './unknown-version.ts'

export type SolanaSourceOptions = {
  /** The logs of the known programs in a transaction, with indexes from `firstIndex` on. */
  readonly logsOf: (transaction: SolanaTransaction, firstIndex: number) => RawLog[]
  /**
   * A transaction of an unknown version is left out if it ran none of these programs. Otherwise, or without them, its
   * block is not read, because it would be incomplete; see decision 94.
   */
  readonly unknownVersions?: {
    readonly programs: ReadonlySet<string>
    readonly onLeftOut: (slot: number, index: number) => void
  }
}

export type SolanaSource = ChainSource &
  Required<Pick<ChainSource, 'blockAt' | 'doubt'>> & {
    /** Takes over a block that a stream reported: its parent can be read, and the nodes can contradict it. */
    learn(header: SlotHeader, label: string): void
  }

/** A confirmed slot may be reported before its block can be read. */
const HEAD_BACKTRACK_SLOTS = 64
/** A node further behind than this may not have heard yet of what it is asked to contradict. */
const WITNESS_LAG_BLOCKS = 8
/** Far more than a fork is deep. */
const MAX_HASHES = 10_000
/** Far more than real chains have in a row. */
const MAX_TIMELESS_BLOCKS = 64
const VOTE_LOG = 'Program Vote111111111111111111111111111111111111111 invoke [1]'

/**
 * Solana over JSON-RPC. A node cannot prove a block: its hash covers entries that `getBlock` does not return. Checked are
 * the shape, the link to the parent, slot and height, and with several nodes the word of the others; see decision 79.
 */
export function createSolanaSource(nodes: SolanaNodes, options: SolanaSourceOptions): SolanaSource {
  const shared: Shared = {
    slots: new Slots(),
    slotOfHash: new RecentlyUsed(MAX_HASHES),
    timeOfHash: new RecentlyUsed(MAX_HASHES),
    labels: new WeakMap(),
  }
  const ask = <T>(question: (node: NodeSource) => Promise<T>, only?: string): Promise<T> =>
    nodes.verified((node) => question(new NodeSource(node, options, shared)), only)

  const doubt = (suspect: BlockRef, ours: BlockRef, reason: Doubt) =>
    secondOpinion({
      ...{
        nodes,
        label: shared.labels.get(suspect),
        suspect,
        ours,
        doubt: reason,
        lagBlocks: WITNESS_LAG_BLOCKS,
      },
      testify: async (node) => {
        const source = new NodeSource(node, options, shared)
        const [head, header] = await Promise.all([source.head(), source.headerAt(ours.number)])
        return { head: head.number, hash: header?.hash }
      },
    })

  return {
    head: () => ask((node) => node.head()),
    headerAt: (number) => ask((node) => node.headerAt(number)),
    headerOf: (hash, child) =>
      ask((node) => node.headerOf(hash), child === undefined ? undefined : shared.labels.get(child)),
    finalised: () => ask((node) => node.newest('finalized')),
    blockAt: (number) => ask((node) => node.blockAt(number)),
    transactions: (block) => ask((node) => node.transactions(block)),
    doubt,
    learn: (header, label) => learn(shared, header, label),
  }
}

type Shared = {
  readonly slots: Slots
  /** A node has no index by hash. */
  readonly slotOfHash: RecentlyUsed<number>
  readonly timeOfHash: RecentlyUsed<number>
  /** The node that returned a header. */
  readonly labels: WeakMap<BlockRef, string>
}

class NodeSource {
  readonly #node: SolanaNode
  readonly #options: SolanaSourceOptions
  readonly #shared: Shared

  constructor(node: SolanaNode, options: SolanaSourceOptions, shared: Shared) {
    this.#node = node
    this.#options = options
    this.#shared = shared
  }

  async head(): Promise<SlotHeader> {
    const header = await this.newest('confirmed')
    this.#node.sawHead(header.number)
    return header
  }

  async newest(commitment: Commitment): Promise<SlotHeader> {
    const slot = await this.#node.slot(commitment)
    const newest = await this.#headerIn(slot)
    if (newest !== undefined) return newest
    const listed = await this.#node.blocksFrom(
      Math.max(0, slot - HEAD_BACKTRACK_SLOTS),
      HEAD_BACKTRACK_SLOTS + 1,
    )
    const candidates = listed.filter((each) => each < slot)
    for (const each of candidates.reverse()) {
      const header = await this.#headerIn(each)
      if (header !== undefined) return header
    }
    throw invalid(`the node has no block up to slot ${slot}`)
  }

  async headerAt(number: number): Promise<SlotHeader | undefined> {
    return this.#found(
      number,
      (slot) => this.#headerIn(slot),
      (header) => header,
    )
  }

  async blockAt(number: number): Promise<FetchedBlock | undefined> {
    return this.#found(
      number,
      async (slot) => {
        const block = await this.#node.block(slot)
        return block === undefined ? undefined : this.#fetched(await this.#withTime(block, slot), slot)
      },
      ({ header }) => header,
    )
  }

  async headerOf(hash: string): Promise<SlotHeader | undefined> {
    const slot = this.#shared.slotOfHash.get(hash)
    if (slot === undefined) return undefined
    const header = await this.#headerIn(slot)
    return header?.hash === hash ? header : undefined
  }

  async transactions({ hash }: Header): Promise<RawTransaction[]> {
    const slot = this.#shared.slotOfHash.get(hash)
    const block = slot === undefined ? undefined : await this.#node.block(slot)
    const found =
      block === undefined || slot === undefined
        ? undefined
        : this.#fetched(await this.#withTime(block, slot), slot)
    if (found?.header.hash === hash) return found.transactions
    this.#node.missedBlock()
    throw invalid(`the node does not know block ${hash} any more`)
  }

  /** The block of this height. If the slot belongs to another height, the slots of a former branch are dropped. */
  async #found<T>(
    number: number,
    read: (slot: number) => Promise<T | undefined>,
    headerOf: (found: T) => SlotHeader,
  ): Promise<T | undefined> {
    for (let attempt = 0; ; attempt++) {
      const slot = await this.#slotOf(number)
      const found = slot === undefined ? undefined : await read(slot)
      if (found !== undefined && headerOf(found).number === number) return found
      if (slot === undefined) {
        this.#node.missedBlock()
        return undefined
      }
      this.#shared.slots.clear()
      if (attempt > 0) {
        if (found !== undefined) throw invalid(`slot ${slot} is listed at height ${number}, but is not`)
        return undefined
      }
    }
  }

  #slotOf(number: number): Promise<number | undefined> {
    const toPlace = (header: SlotHeader): Place => ({ slot: header.slot, height: header.number })
    return this.#shared.slots.find(this.#node, number, {
      placeAt: async (slot) => {
        const header = await this.#headerIn(slot)
        return header && toPlace(header)
      },
      head: async () => toPlace(await this.newest('confirmed')),
    })
  }

  async #headerIn(slot: number): Promise<SlotHeader | undefined> {
    const block = await this.#node.blockHeader(slot)
    return block === undefined ? undefined : this.#toHeader(await this.#withTime(block, slot), slot)
  }

  #fetched(block: RpcBlock, slot: number): { header: SlotHeader; transactions: RawTransaction[] } {
    const header = this.#toHeader(block, slot)
    const all = block['transactions']
    if (!Array.isArray(all)) throw invalid(`block ${header.hash} has no transactions`)
    const transactions: RawTransaction[] = []
    const signatures = new Set<string>()
    let logIndex = 0
    all.forEach((each: unknown, index) => {
      const answer = asRecord(each, 'transaction')
      if (isIgnored(answer)) return
      const transaction = parseRpcTransaction(answer as RpcTransaction, slot)
      const payer = transaction && feePayer(transaction)
      if (transaction === undefined && isOfUnknownVersion(answer)) {
        this.#leaveOut(answer, slot, index)
        return
      }
      if (transaction === undefined || payer === undefined)
        throw invalid(`transaction ${index} of slot ${slot} is malformed`)
      const { signature } = transaction
      if (signatures.has(signature)) throw invalid(`transaction ${signature} is twice in slot ${slot}`)
      signatures.add(signature)
      const logs = transaction.isFailed ? [] : this.#options.logsOf(transaction, logIndex)
      logIndex += logs.length
      const raw = logs.length === 0 ? undefined : rawTransactionOf(transaction, index, logs)
      if (raw !== undefined) transactions.push(raw)
    })
    return { header, transactions }
  }

  #leaveOut({ meta }: RpcBlock, slot: number, index: number): void {
    const { unknownVersions } = this.#options
    const isHarmless = unknownVersions && ranNoneOf(unknownVersions.programs, asRecord(meta, 'meta'))
    if (!isHarmless) throw unsupportedVersion(slot, 'getBlock')
    unknownVersions.onLeftOut(slot, index)
  }

  /** Nodes do not know the time of every block. Such a block has the time of the nearest one below that has one. */
  async #withTime(block: RpcBlock, slot: number): Promise<RpcBlock> {
    let below = block
    for (let steps = 0; steps < MAX_TIMELESS_BLOCKS; steps++) {
      if (below['blockTime'] !== null && below['blockTime'] !== undefined)
        return below === block ? block : { ...block, blockTime: below['blockTime'] }
      const { previousBlockhash: hash } = below
      const known = typeof hash === 'string' ? this.#shared.timeOfHash.get(hash) : undefined
      if (known !== undefined) return { ...block, blockTime: known }
      const parent = await this.#node.blockHeader(asIndex(below['parentSlot'], 'parentSlot'))
      if (parent === undefined) break
      if (parent['blockhash'] !== hash) throw invalid(`the parent of slot ${slot} is another block`)
      below = parent
    }
    throw new RpcFailure('refused', `slot ${slot} has no time, and neither have the blocks below it`)
  }

  #toHeader(block: RpcBlock, slot: number): SlotHeader {
    const header = toHeader(block, slot)
    learn(this.#shared, header, this.#node.label)
    return header
  }
}

function learn({ slots, slotOfHash, timeOfHash, labels }: Shared, header: SlotHeader, label: string): void {
  const { slot, number, hash, parentHash, parentSlot, time } = header
  slots.learn({ slot, height: number })
  slotOfHash.set(hash, slot)
  slotOfHash.set(parentHash, parentSlot)
  slotOfHash.evict()
  timeOfHash.set(hash, time)
  timeOfHash.evict()
  labels.set(header, label)
}

export function toHeader(block: RpcBlock, slot: number): SlotHeader {
  const { blockhash: hash, previousBlockhash: parentHash } = block
  if (!isBase58Key(hash) || !isBase58Key(parentHash))
    throw invalid(`the block of slot ${slot} has a malformed hash`)
  const parentSlot = asIndex(block['parentSlot'], 'parentSlot')
  const number = asIndex(block['blockHeight'], 'blockHeight')
  const time = asIndex(block['blockTime'], 'blockTime')
  if (parentSlot >= slot && slot > 0) throw invalid(`slot ${slot} has the parent slot ${parentSlot}`)
  if (number > slot) throw invalid(`slot ${slot} has height ${number}`)
  if (time > MAX_TIME) throw invalid(`slot ${slot} has a time beyond 2106`)
  return { number, hash, parentHash, time, slot, parentSlot }
}

/** Failed transactions changed nothing, and votes, most of a block, are not worth parsing. */
function isIgnored(answer: RpcBlock): boolean {
  const { err, logMessages } = asRecord(answer['meta'], 'meta')
  return (err !== null && err !== undefined) || (Array.isArray(logMessages) && logMessages[0] === VOTE_LOG)
}
