import { setTimeout as sleep } from 'node:timers/promises'
import { type MoveSums, noMoves } from '../../../dex/move-sums.ts'
import type { TransfersFact } from '../../../domain/envelope.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Logger } from '../../../lib/logger.ts'
import { expectEncodable } from '../../../wire/fact-codec.ts'
import { type HistoryClass, type HistoryOrder, LAUNCH_BLOCKS, type Turn } from '../../history-order.ts'
import { FIRST_BLOCK, type OpenHistories, type OpenHistory } from '../../open-histories.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import { invalid, shaped, toIndex } from '../proof/block-logs.ts'
import type { EvmNode, EvmNodes } from '../rpc/rpc.ts'
import { firstBlockOf, hadCode } from './contract-age.ts'
import { DEFAULT_SPANS, type PastLog, PastTransfers, type SpanSettings } from './past-transfers.ts'
import { Refusal } from './refusal.ts'

export type TransferHistoryParts = {
  readonly nodes: Pick<EvmNodes, 'verified'>
  readonly histories: OpenHistories
  readonly order: HistoryOrder
  /** The hash of a block that can still be undone, from the log. */
  readonly hashAt: (number: number) => string | undefined
  readonly wrappedNative: ReadonlySet<string>
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly settings?: Partial<HistorySettings>
}

export type HistorySettings = SpanSettings & { readonly retryMs: number }

const DEFAULTS: HistorySettings = { ...DEFAULT_SPANS, retryMs: 5_000 }
/** Histories read concurrently. */
const AT_ONCE = 4
/** Limits of history facts per block. */
const MAX_GAINS_PER_BLOCK = 5_000
const MAX_FACTS_PER_BLOCK = 32
/** Facts of one token that wait for a block. */
const MAX_AHEAD = 8
/** Longest pause of a history that no node serves, and of one whose nodes are in trouble. */
const MAX_PAUSE_MS = 3_600_000
const MAX_TROUBLE_MS = 60_000
const HOLD_MS = 60_000
/** How far back the contract's code is asked for; many nodes have the state of the last 128 blocks alone. */
const LAUNCH_PROBES = [LAUNCH_BLOCKS, 100]

type Piece = { readonly from: number; readonly fact: TransfersFact }
/** After a failure, a history is not asked for before `until`. */
type Pause = { readonly failures: number; readonly until: number }

/**
 * Reads the transfers from before tokens were first seen, in the background, and returns them as facts of later blocks.
 * Their sums do not depend on which block that is.
 */
export class TransferHistory {
  readonly #parts: TransferHistoryParts
  readonly #settings: HistorySettings
  /** Facts for the next blocks: consecutive ranges of each token. */
  readonly #ready = new Map<string, Piece[]>()
  readonly #reading = new Set<string>()
  readonly #transfers: PastTransfers
  readonly #pauses = new Map<string, Pause>()
  readonly #unserved = new Set<string>()
  readonly #launches = new Set<string>()
  /** Imported balances, for the next block. */
  readonly #imports = new Map<string, Piece>()
  /** Histories that are not read on before this time, because an import is being prepared. */
  readonly #held = new Map<string, number>()
  /** History read before a fork may belong to the orphaned branch. */
  #generation = 0
  #isStarted = false

  constructor(parts: TransferHistoryParts) {
    this.#parts = parts
    this.#settings = { ...DEFAULTS, ...parts.settings }
    this.#transfers = new PastTransfers(parts.wrappedNative, this.#settings)
  }

  /** Histories whose old logs no node serves. */
  get unservedCount(): number {
    for (const address of this.#unserved) if (!this.isUnserved(address)) this.#unserved.delete(address)
    return this.#unserved.size
  }

  /** Whether every node that was asked refused the old logs of this address. */
  isUnserved(address: string): boolean {
    return this.#unserved.has(address) && this.#parts.histories.get(address) !== undefined
  }

  /** A client asked for the holders of this token. */
  want(address: string): void {
    this.#parts.order.ask(address)
    this.#begin()
  }

  /** Stops reading a history for a while, so that an import can begin where it stands. */
  hold(address: string): void {
    this.#held.set(address, performance.now() + HOLD_MS)
    this.#ready.delete(address)
  }

  /** Publishes imported balances with the next block, instead of reading the range that begins at `from`. */
  import(from: number, fact: TransfersFact): void {
    this.hold(fact.address)
    this.#imports.set(fact.address, { from, fact })
  }

  /** Facts for the next block; those asked for first. */
  take(): TransfersFact[] {
    // The index has these facts only with the block, so nothing is begun before.
    this.#isStarted = false
    // Alone, because it may be as large as a block can take.
    for (const [address, { from, fact }] of this.#imports) {
      this.#imports.delete(address)
      this.#held.delete(address)
      if (this.#parts.histories.get(address)?.from === from) return [fact]
    }
    const { order } = this.#parts
    const addresses = [...this.#ready.keys()]
    const taken: TransfersFact[] = []
    let gains = 0
    for (const address of [
      ...addresses.filter((each) => order.isAsked(each)),
      ...addresses.filter((each) => !order.isAsked(each)),
    ]) {
      let open = this.#parts.histories.get(address)
      const pieces = this.#ready.get(address) ?? []
      while (open !== undefined && pieces[0]?.from === open.from) {
        if (gains > MAX_GAINS_PER_BLOCK || taken.length >= MAX_FACTS_PER_BLOCK) return taken
        const { fact } = pieces.shift() as Piece
        gains += fact.gains.length
        taken.push(fact)
        open = after(open, fact)
      }
      // Those of another discovery, if any are left.
      this.#ready.delete(address)
    }
    return taken
  }

  /** Continues reading; call it whenever the index may have changed. */
  readOn(): void {
    this.#isStarted = true
    this.#begin()
  }

  forget(): void {
    this.#generation++
    this.#isStarted = false
    this.#ready.clear()
    this.#imports.clear()
    this.#parts.order.forget()
  }

  #begin(): void {
    while (this.#isStarted && this.#reading.size < AT_ONCE && !this.#parts.signal.aborted) {
      const turn = this.#parts.order.next(this.#canRead)
      if (turn === undefined) return
      const { address } = turn.open
      this.#reading.add(address)
      void this.#read(turn, this.#generation).finally(() => {
        this.#reading.delete(address)
        this.#begin()
      })
    }
  }

  readonly #canRead = ({ address }: OpenHistory, why: HistoryClass): boolean => {
    if (this.#reading.has(address) || this.#isHeld(address)) return false
    if (why !== 'asked' && this.#ready.size >= MAX_FACTS_PER_BLOCK) return false
    const pieces = this.#ready.get(address)
    if (pieces !== undefined && (pieces.length >= MAX_AHEAD || pieces.at(-1)?.fact.isLast)) return false
    return (this.#pauses.get(address)?.until ?? 0) <= performance.now()
  }

  async #read({ open, why }: Turn, generation: number): Promise<void> {
    const { nodes, logger, signal } = this.#parts
    const { address } = open
    const pieces = this.#ready.get(address) ?? []
    const from = pieces.reduce((rest, { fact }) => after(rest, fact) ?? rest, open)
    const refusal = new Refusal()
    try {
      if (why === 'launch' && !(await nodes.verified((node) => this.#isLaunch(node, from)))) {
        this.#parts.order.isNoLaunch(address)
        return
      }
      const fact = await nodes.verified((node) => refusal.watch(() => this.#ask(node, from, why)))
      expectEncodable(fact)
      this.#pauses.delete(address)
      this.#unserved.delete(address)
      if (fact.isLast) this.#launches.delete(address)
      if (fact.isLast) this.#transfers.forget(address)
      if (generation === this.#generation && !this.#isHeld(address))
        this.#ready.set(address, [...pieces, { from: from.from, fact }])
    } catch (error) {
      if (signal.aborted) return
      this.#transfers.shrink(address)
      this.#pause(address, refusal.isFinal ? MAX_PAUSE_MS : MAX_TROUBLE_MS)
      if (refusal.isFinal) {
        if (!this.#unserved.has(address))
          logger.warn(
            { err: error, token: address, from: from.from },
            'No node serves old logs of this token',
          )
        this.#unserved.add(address)
        return
      }
      const code = error instanceof ChaintapeError ? error.code : undefined
      const { failures } = this.#pauses.get(address) as Pause
      logger.warn({ err: error, code, token: address, failures }, 'Transfer history read failed; retrying')
      // Nodes in trouble are asked less often, whatever for.
      await sleep(this.#settings.retryMs, undefined, { signal }).catch(() => undefined)
    }
  }

  #isHeld(address: string): boolean {
    const until = this.#held.get(address)
    if (until !== undefined && until <= performance.now()) this.#held.delete(address)
    return this.#held.has(address)
  }

  #pause(address: string, maxMs: number): void {
    const failures = (this.#pauses.get(address)?.failures ?? 0) + 1
    const ms = Math.min(maxMs, this.#settings.retryMs * 2 ** Math.min(failures - 1, 20))
    this.#pauses.set(address, { failures, until: performance.now() + ms })
  }

  /** Whether the contract is young. If no node has the state to decide it, it is read in its turn like any other. */
  async #isLaunch(node: EvmNode, { address, upTo }: OpenHistory): Promise<boolean> {
    if (this.#launches.has(address)) return true
    for (const blocks of LAUNCH_PROBES) {
      const had = await hadCode(node, address, upTo - blocks)
      if (had === undefined) continue
      if (!had) this.#launches.add(address)
      return !had
    }
    return false
  }

  async #ask(node: EvmNode, open: OpenHistory, why: HistoryClass): Promise<TransfersFact> {
    const { address, upTo } = open
    // The token was created in the chain's first block with transactions.
    if (open.from > upTo) return factOf(open, upTo, noMoves(), undefined)
    const from = open.from === FIRST_BLOCK ? await firstBlockOf(node, address, upTo) : open.from
    const isOver = (): boolean => this.#isPreempted(why)
    const { to, sums, oldest } = await this.#transfers.read(node, { address, from, upTo, isOver })
    await this.#expectOurBranch(node, upTo)
    const first = oldest === undefined || open.isBegun ? undefined : await firstTransfer(node, oldest)
    return factOf(open, to, sums, first)
  }

  /** The token was first seen in the next block: a node without that block's parent is on another branch. */
  async #expectOurBranch(node: EvmNode, upTo: number): Promise<void> {
    const block = await node.blockByNumber(upTo + 1)
    const ours = this.#parts.hashAt(upTo + 1)
    if (block === null || (ours !== undefined && block.hash !== ours))
      throw new RpcFailure('unknown_block', `the node is not on our branch at block ${upTo + 1}`)
  }

  /** A history that clients asked for does not wait for the end of another one's turn. */
  #isPreempted(why: HistoryClass): boolean {
    return why !== 'asked' && this.#reading.size >= AT_ONCE && this.#parts.order.hasAsked(this.#canRead)
  }
}

async function firstTransfer(
  node: EvmNode,
  { block, transaction }: PastLog,
): Promise<TransfersFact['first']> {
  const [header, found] = await Promise.all([node.blockByNumber(block), node.transaction(transaction)])
  if (header === null || found === null)
    throw invalid(`the node lacks the transaction ${transaction} of its own log`)
  return shaped(() => ({ time: toIndex(header.timestamp), sender: found.from.toLowerCase() }))
}

const MAX_AMOUNT = 2n ** 255n - 1n

function factOf(
  { address, upTo }: OpenHistory,
  to: number,
  { gains, issuedRaw, burnedRaw, mintedToZeroRaw }: MoveSums,
  first: TransfersFact['first'],
): TransfersFact {
  const amounts = [...gains.values(), issuedRaw, burnedRaw, mintedToZeroRaw]
  return {
    type: 'transfers',
    address,
    upTo: to,
    isLast: to >= upTo,
    first,
    // An amount beyond the limits becomes a value that is recognizably impossible.
    ...(amounts.every((amount) => amount <= MAX_AMOUNT && amount >= -MAX_AMOUNT)
      ? {
          gains: Array.from(gains, ([holder, amountRaw]) => ({ holder, amountRaw })),
          issuedRaw,
          burnedRaw,
          mintedToZeroRaw,
        }
      : { gains: [], issuedRaw: 0n, burnedRaw: 0n, mintedToZeroRaw: MAX_AMOUNT + 1n }),
  }
}

/** What is open once the fact is published; undefined if nothing is. */
function after(open: OpenHistory, { upTo, isLast, first }: TransfersFact): OpenHistory | undefined {
  return isLast ? undefined : { ...open, from: upTo + 1, isBegun: open.isBegun || first !== undefined }
}
