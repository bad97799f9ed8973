import { feePayer, type SolanaTransaction } from '../../dex/solana/transaction.ts'
import { base58Text, readBase58 } from '../../domain/base58.ts'
import type { BlockRef, RawLog, RawTransaction } from '../../domain/envelope.ts'
import { MAX_TIME } from '../../domain/limits.ts'
import { RecentlyUsed } from '../../domain/recently-used.ts'
import type { ChainSource, Doubt, FetchedBlock, Header } from '../source.ts'
import { parseRpcTransaction, type RpcTransaction } from './parse-transaction.ts'
import {
  asIndex,
  asRecord,
  type Commitment,
  invalid,
  type RpcBlock,
  type SolanaNode,
  type SolanaNodes,
} from './rpc.ts'
import { type Place, Slots } from './slots.ts'

export type SolanaSourceOptions = {
  /** The logs of the known programs in a transaction, with indexes from `firstIndex` on. */
  readonly logsOf: (transaction: SolanaTransaction, firstIndex: number) => RawLog[]
}

/** A header with its slot. Its number is the height, because slots are skipped. */
type Placed = Header & { readonly slot: number; readonly parentSlot: number }

const KEY_BYTES = 32
/** A confirmed slot may be reported before its block can be read. */
const HEAD_BACKTRACK_SLOTS = 64
/** A node further behind than this may not have heard yet of what it is asked to contradict. */
const WITNESS_LAG_BLOCKS = 8
/** Far more than a fork is deep. */
const MAX_HASHES = 10_000
const VOTE_LOG = 'Program Vote111111111111111111111111111111111111111 invoke [1]'

const scratch = new Uint8Array(KEY_BYTES)

/**
 * Solana over JSON-RPC. A node cannot prove a block: its hash covers entries that `getBlock` does not return. Checked are
 * the shape, the link to the parent, slot and height, and with several nodes the word of the others; see decision 79.
 */
export function createSolanaSource(nodes: SolanaNodes, options: SolanaSourceOptions): ChainSource {
  const shared: Shared = {
    slots: new Slots(),
    slotOfHash: new RecentlyUsed(MAX_HASHES),
    labels: new WeakMap(),
  }
  const ask = <T>(question: (node: NodeSource) => Promise<T>, only?: string): Promise<T> =>
    nodes.verified((node) => question(new NodeSource(node, options, shared)), only)

  const doubt = async (suspect: BlockRef, ours: BlockRef, { reason, isFinal }: Doubt) => {
    const label = shared.labels.get(suspect)
    if (label === undefined) return 'confirmed'
    const { asked, answers } = await nodes.elsewhere(label, async (node) => {
      const source = new NodeSource(node, options, shared)
      const [head, header] = await Promise.all([source.head(), source.headerAt(ours.number)])
      return { head: head.number, hash: header?.hash }
    })
    const witnesses = answers.filter(({ head, hash }) => {
      return hash !== undefined && (isFinal || head >= suspect.number - WITNESS_LAG_BLOCKS)
    })
    if (witnesses.some(({ hash }) => hash === ours.hash)) {
      nodes.blame(label, reason)
      throw invalid(`${reason}, but another node still has our block ${ours.number}`)
    }
    return asked > 0 && witnesses.length === 0 ? 'unanswered' : 'confirmed'
  }

  return {
    head: () => ask((node) => node.head()),
    headerAt: (number) => ask((node) => node.headerAt(number)),
    headerOf: (hash, child) =>
      ask((node) => node.headerOf(hash), child === undefined ? undefined : shared.labels.get(child)),
    finalised: () => ask((node) => node.newest('finalized')),
    blockAt: (number) => ask((node) => node.blockAt(number)),
    transactions: (block) => ask((node) => node.transactions(block)),
    doubt,
  }
}

type Shared = {
  readonly slots: Slots
  /** A node has no index by hash. */
  readonly slotOfHash: RecentlyUsed<number>
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

  async head(): Promise<Placed> {
    const header = await this.newest('confirmed')
    this.#node.sawHead(header.number)
    return header
  }

  async newest(commitment: Commitment): Promise<Placed> {
    const slot = await this.#node.slot(commitment)
    const listed = await this.#node.blocksFrom(
      Math.max(0, slot - HEAD_BACKTRACK_SLOTS),
      HEAD_BACKTRACK_SLOTS + 1,
    )
    const candidates = listed.filter((each) => each <= slot)
    for (const each of candidates.reverse()) {
      const header = await this.#headerIn(each)
      if (header !== undefined) return header
    }
    throw invalid(`the node has no block up to slot ${slot}`)
  }

  async headerAt(number: number): Promise<Placed | undefined> {
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
        return block === undefined ? undefined : this.#fetched(block, slot)
      },
      ({ header }) => header,
    )
  }

  async headerOf(hash: string): Promise<Placed | undefined> {
    const slot = this.#shared.slotOfHash.get(hash)
    if (slot === undefined) return undefined
    const header = await this.#headerIn(slot)
    return header?.hash === hash ? header : undefined
  }

  async transactions({ hash }: Header): Promise<RawTransaction[]> {
    const slot = this.#shared.slotOfHash.get(hash)
    const block = slot === undefined ? undefined : await this.#node.block(slot)
    const found = block === undefined || slot === undefined ? undefined : this.#fetched(block, slot)
    if (found?.header.hash === hash) return found.transactions
    this.#node.missedBlock()
    throw invalid(`the node does not know block ${hash} any more`)
  }

  /** The block of this height. If the slot belongs to another height, the slots of a former branch are dropped. */
  async #found<T>(
    number: number,
    read: (slot: number) => Promise<T | undefined>,
    headerOf: (found: T) => Placed,
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
    const toPlace = (header: Placed): Place => ({ slot: header.slot, height: header.number })
    return this.#shared.slots.find(this.#node, number, {
      placeAt: async (slot) => {
        const header = await this.#headerIn(slot)
        return header && toPlace(header)
      },
      head: async () => toPlace(await this.newest('confirmed')),
    })
  }

  async #headerIn(slot: number): Promise<Placed | undefined> {
    const block = await this.#node.blockHeader(slot)
    return block === undefined ? undefined : this.#toHeader(block, slot)
  }

  #fetched(block: RpcBlock, slot: number): { header: Placed; transactions: RawTransaction[] } {
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
      if (transaction === undefined || payer === undefined)
        throw invalid(`transaction ${index} of slot ${slot} is malformed`)
      const { signature } = transaction
      if (signatures.has(signature)) throw invalid(`transaction ${signature} is twice in slot ${slot}`)
      signatures.add(signature)
      const logs = transaction.isFailed ? [] : this.#options.logsOf(transaction, logIndex)
      logIndex += logs.length
      if (logs.length > 0) transactions.push({ index, hash: signature, from: base58Text(payer, 0), logs })
    })
    return { header, transactions }
  }

  #toHeader(block: RpcBlock, slot: number): Placed {
    const header = toHeader(block, slot)
    const { slots, slotOfHash, labels } = this.#shared
    slots.learn({ slot, height: header.number })
    slotOfHash.set(header.hash, slot)
    slotOfHash.set(header.parentHash, header.parentSlot)
    slotOfHash.evict()
    labels.set(header, this.#node.label)
    return header
  }
}

function toHeader(block: RpcBlock, slot: number): Placed {
  const { blockhash: hash, previousBlockhash: parentHash } = block
  if (!isKey(hash) || !isKey(parentHash)) throw invalid(`the block of slot ${slot} has a malformed hash`)
  const parentSlot = asIndex(block['parentSlot'], 'parentSlot')
  const number = asIndex(block['blockHeight'], 'blockHeight')
  const time = asIndex(block['blockTime'], 'blockTime')
  if (parentSlot >= slot && slot > 0) throw invalid(`slot ${slot} has the parent slot ${parentSlot}`)
  if (number > slot) throw invalid(`slot ${slot} has height ${number}`)
  if (time > MAX_TIME) throw invalid(`slot ${slot} has a time beyond 2106`)
  return { number, hash, parentHash, time, slot, parentSlot }
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && readBase58(value, scratch, 0)
}

/** Failed transactions changed nothing, and votes, most of a block, are not worth parsing. */
function isIgnored(answer: RpcBlock): boolean {
  const { err, logMessages } = asRecord(answer['meta'], 'meta')
  return (err !== null && err !== undefined) || (Array.isArray(logMessages) && logMessages[0] === VOTE_LOG)
}
