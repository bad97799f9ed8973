import { setTimeout as sleep } from 'node:timers/promises'
import { addMove, movesOf, moveTopics } from '../../../dex/evm/token-moves.ts'
import { type MoveSums, noMoves } from '../../../dex/move-sums.ts'
import type { RawLog, TransfersFact } from '../../../domain/envelope.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Logger } from '../../../lib/logger.ts'
import { expectEncodable } from '../../../wire/fact-codec.ts'
import { type HistoryClass, type HistoryOrder, LAUNCH_BLOCKS, type Turn } from '../../history-order.ts'
import { FIRST_BLOCK, type OpenHistories, type OpenHistory } from '../../open-histories.ts'
import { decide } from '../../rpc/endpoint-decision.ts'
import { RpcFailure, type RpcFailureKind } from '../../rpc/rpc-failure.ts'
import { invalid, shaped, toIndex, toPastLog } from '../proof/block-logs.ts'
import type { EvmNode, EvmNodes } from '../rpc/rpc.ts'

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

export type HistorySettings = {
  /** Blocks per request: at first, and at most. */
  readonly firstSpan: number
  readonly maxSpan: number
  /** Requests for one token in one turn. */
  readonly spansPerTurn: number
  readonly retryMs: number
}

const DEFAULTS: HistorySettings = {
  firstSpan: 10_000,
  maxSpan: 1_000_000,
  spansPerTurn: 16,
  retryMs: 5_000,
}
/** Histories read concurrently. */
const AT_ONCE = 4
/** Maximum transfers summed up in one fact. Ranges with few transfers are extended. */
const MAX_LOGS = 5_000
const FEW_LOGS = 500
/** Limits of history facts per block. */
const MAX_GAINS_PER_BLOCK = 5_000
const MAX_FACTS_PER_BLOCK = 32
/** Facts of one token that wait for a block. */
const MAX_AHEAD = 8
/** Longest pause of a history that no node serves, and of one whose nodes are in trouble. */
const MAX_PAUSE_MS = 3_600_000
const MAX_TROUBLE_MS = 60_000
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
  readonly #spans = new Map<string, number>()
  readonly #pauses = new Map<string, Pause>()
  readonly #unserved = new Set<string>()
  readonly #launches = new Set<string>()
  /** History read before a fork may belong to the orphaned branch. */
  #generation = 0
  #isStarted = false

  constructor(parts: TransferHistoryParts) {
    this.#parts = parts
    this.#settings = { ...DEFAULTS, ...parts.settings }
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

  /** Facts for the next block; those asked for first. */
  take(): TransfersFact[] {
    // The index has these facts only with the block, so nothing is begun before.
    this.#isStarted = false
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
    if (this.#reading.has(address)) return false
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
      if (fact.isLast) for (const each of [this.#spans, this.#launches]) each.delete(address)
      if (generation === this.#generation) this.#ready.set(address, [...pieces, { from: from.from, fact }])
    } catch (error) {
      if (signal.aborted) return
      this.#spans.set(address, Math.max(1, Math.floor(this.#spanOf(address) / 4)))
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
    const found = await this.#logs(node, address, { from, upTo, why })
    await this.#expectOurBranch(node, upTo)
    const sums = noMoves()
    let oldest: PastLog | undefined
    for (const logs of byTransaction(found.logs)) {
      const moves = movesOf({ logs }, (token) => this.#parts.wrappedNative.has(token))
      for (const move of moves) addMove(sums, move)
      if (moves.length > 0) oldest ??= logs[0]
    }
    const first = oldest === undefined || open.isBegun ? undefined : await firstTransfer(node, oldest)
    return factOf(open, found.to, sums, first)
  }

  /** Reads ranges of blocks until there are enough logs, or the turn is over. */
  async #logs(node: EvmNode, address: string, { from, upTo, why }: Range) {
    const logs: PastLog[] = []
    let to = from - 1
    for (let asked = 0; to < upTo && asked < this.#settings.spansPerTurn && logs.length < FEW_LOGS; asked++) {
      if (asked > 0 && this.#isPreempted(why)) break
      const found = await this.#logsOfSpan(node, address, to + 1, upTo)
      // Not spread into a call, because one block may have more logs of a token than a call takes arguments.
      for (const log of found.logs) logs.push(log)
      to = found.to
    }
    return { to, logs }
  }

  async #logsOfSpan(node: EvmNode, address: string, from: number, upTo: number) {
    const topics = moveTopics(this.#parts.wrappedNative.has(address))
    for (;;) {
      const span = this.#spanOf(address)
      const to = Math.min(upTo, from + span - 1)
      const answer = await pastLogs(node, { address, topics, from, to })
      if (!(answer instanceof RpcFailure) && (answer.length <= MAX_LOGS || span === 1)) {
        if (answer.length < FEW_LOGS) this.#spans.set(address, Math.min(this.#settings.maxSpan, span * 4))
        return { to, logs: shaped(() => inOrder(answer.map((log) => toPastLog(log, { address, from, to })))) }
      }
      // Another node may allow more logs.
      if (answer instanceof RpcFailure && span === 1) throw answer
      this.#spans.set(address, Math.max(1, Math.floor(span / 4)))
    }
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

  #spanOf(address: string): number {
    return this.#spans.get(address) ?? this.#settings.firstSpan
  }
}

type Range = { readonly from: number; readonly upTo: number; readonly why: HistoryClass }

/** The node works, but does not return these logs; asking it again changes nothing. */
const REFUSALS: ReadonlySet<RpcFailureKind> = new Set(['pruned', 'unsupported', 'refused', 'too_many_logs'])

/** Whether all nodes refused. One that is only in trouble may still serve the logs. */
class Refusal {
  #refused = 0
  #isOpen = false

  get isFinal(): boolean {
    return this.#refused > 0 && !this.#isOpen
  }

  async watch<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof RpcFailure && REFUSALS.has(error.kind)) this.#refused++
      else this.#isOpen = true
      throw error
    }
  }
}

type PastLog = RawLog & { readonly block: number; readonly transaction: string }

/** Returns the refusal if the node rejects the range as too large. */
async function pastLogs(node: EvmNode, filter: Parameters<EvmNode['pastLogs']>[0]) {
  try {
    return await node.pastLogs(filter)
  } catch (error) {
    if (error instanceof RpcFailure && decide(error).question === 'shrink') return error
    throw error
  }
}

/** A duplicate log would be counted twice. */
function inOrder(logs: readonly PastLog[]): readonly PastLog[] {
  for (const [index, log] of logs.entries()) {
    const before = logs[index - 1]
    if (before === undefined || before.block < log.block) continue
    if (before.block > log.block || before.index >= log.index) throw invalid('logs out of order')
  }
  return logs
}

/** The first block at which the contract exists; the very first block if the node cannot answer. */
async function firstBlockOf(node: EvmNode, address: string, upTo: number): Promise<number> {
  let [low, high] = [FIRST_BLOCK, upTo]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const had = await hadCode(node, address, middle)
    if (had === undefined) return FIRST_BLOCK
    if (had) high = middle
    else low = middle + 1
  }
  return low
}

/** Undefined if the node does not have the state of that block. */
async function hadCode(node: EvmNode, address: string, block: number): Promise<boolean | undefined> {
  if (block < FIRST_BLOCK) return false
  try {
    return await node.hadCode(address, block)
  } catch (error) {
    if (!(error instanceof RpcFailure) || error.kind === 'rate_limited' || error.kind === 'timeout')
      throw error
    return undefined
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

function byTransaction(logs: readonly PastLog[]): PastLog[][] {
  const groups = new Map<string, PastLog[]>()
  for (const log of logs) {
    const group = groups.get(log.transaction)
    if (group === undefined) groups.set(log.transaction, [log])
    else group.push(log)
  }
  return [...groups.values()]
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
