import { setTimeout as sleep } from 'node:timers/promises'
import { addMove, movesOf, moveTopics } from '../../../dex/evm/token-moves.ts'
import { type MoveSums, noMoves } from '../../../dex/move-sums.ts'
import type { RawLog, TransfersFact } from '../../../domain/envelope.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Logger } from '../../../lib/logger.ts'
import { expectEncodable } from '../../../wire/fact-codec.ts'
import { FIRST_BLOCK, type HistoryQueue, type OpenHistory } from '../../history-queue.ts'
import { decide } from '../../rpc/endpoint-decision.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import { invalid, shaped, toIndex, toPastLog } from '../proof/block-logs.ts'
import type { EvmNode, EvmNodes } from '../rpc/rpc.ts'

export type TransferHistoryParts = {
  readonly nodes: Pick<EvmNodes, 'verified'>
  readonly queue: HistoryQueue
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
  /** Requests for one token before the next one gets its turn. */
  readonly spansPerTurn: number
  readonly retryMs: number
}

const DEFAULTS: HistorySettings = {
  firstSpan: 10_000,
  maxSpan: 1_000_000,
  spansPerTurn: 16,
  retryMs: 5_000,
}
const AT_ONCE = 4
/** Maximum transfers summed up in one fact. Ranges with few transfers are extended. */
const MAX_LOGS = 5_000
const FEW_LOGS = 500
/** Limit of history facts per block. */
const MAX_GAINS_PER_BLOCK = 5_000
/** After this many failures the next token gets its turn. */
const MAX_FAILURES = 3

/**
 * Reads the transfers from before tokens were first seen, in the background, and returns them as facts of later blocks.
 * Their sums do not depend on which block that is.
 */
export class TransferHistory {
  readonly #parts: TransferHistoryParts
  readonly #settings: HistorySettings
  readonly #ready = new Map<string, TransfersFact>()
  readonly #reading = new Set<string>()
  readonly #spans = new Map<string, number>()
  readonly #failures = new Map<string, number>()
  /** History read before a fork may belong to the orphaned branch. */
  #generation = 0

  constructor(parts: TransferHistoryParts) {
    this.#parts = parts
    this.#settings = { ...DEFAULTS, ...parts.settings }
  }

  /** Facts for the next block, in queue order. */
  take(): TransfersFact[] {
    const taken: TransfersFact[] = []
    let gains = 0
    for (const open of this.#parts.queue.first(AT_ONCE)) {
      const fact = this.#ready.get(keyOf(open))
      if (fact === undefined || gains > MAX_GAINS_PER_BLOCK) break
      this.#ready.delete(keyOf(open))
      gains += fact.gains.length
      taken.push(fact)
    }
    return taken
  }

  /** Continues reading; call it whenever the queue may have changed. */
  readOn(): void {
    const wanted = this.#parts.queue.first(AT_ONCE)
    for (const open of wanted) {
      const key = keyOf(open)
      if (this.#ready.has(key) || this.#reading.has(key) || this.#reading.size >= AT_ONCE) continue
      this.#reading.add(key)
      void this.#read(open, this.#generation).finally(() => this.#reading.delete(key))
    }
  }

  forget(): void {
    this.#generation++
    this.#ready.clear()
  }

  async #read(open: OpenHistory, generation: number): Promise<void> {
    const { nodes, logger, signal } = this.#parts
    const key = keyOf(open)
    try {
      const fact = await nodes.verified((node) => this.#ask(node, open))
      expectEncodable(fact)
      this.#failures.delete(open.address)
      if (fact.isLast) this.#spans.delete(open.address)
      if (generation === this.#generation) this.#ready.set(key, fact)
    } catch (error) {
      if (signal.aborted) return
      const failures = (this.#failures.get(open.address) ?? 0) + 1
      this.#failures.set(open.address, failures)
      this.#spans.set(open.address, Math.max(1, Math.floor(this.#spanOf(open.address) / 4)))
      const code = error instanceof ChaintapeError ? error.code : undefined
      logger.warn(
        { err: error, code, token: open.address, failures },
        'Transfer history read failed; retrying',
      )
      await sleep(this.#settings.retryMs, undefined, { signal }).catch(() => undefined)
      // An empty fact moves the token to the end of the queue.
      if (failures % MAX_FAILURES === 0 && generation === this.#generation)
        this.#ready.set(key, factOf(open, open.from - 1, noMoves(), undefined))
    }
  }

  async #ask(node: EvmNode, open: OpenHistory): Promise<TransfersFact> {
    const { address, upTo } = open
    // The token was created in the chain's first block with transactions.
    if (open.from > upTo) return factOf(open, upTo, noMoves(), undefined)
    const from = open.from === FIRST_BLOCK ? await firstBlockOf(node, address, upTo) : open.from
    const found = await this.#logs(node, address, from, upTo)
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
  async #logs(node: EvmNode, address: string, from: number, upTo: number) {
    const logs: PastLog[] = []
    let to = from - 1
    for (let asked = 0; to < upTo && asked < this.#settings.spansPerTurn && logs.length < FEW_LOGS; asked++) {
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

  #spanOf(address: string): number {
    return this.#spans.get(address) ?? this.#settings.firstSpan
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
  try {
    let [low, high] = [FIRST_BLOCK, upTo]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (await node.hadCode(address, middle)) high = middle
      else low = middle + 1
    }
    return low
  } catch (error) {
    if (!(error instanceof RpcFailure) || error.kind === 'rate_limited' || error.kind === 'timeout')
      throw error
    return FIRST_BLOCK
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

function keyOf({ address, from, upTo }: OpenHistory): string {
  return `${address}/${from}/${upTo}`
}
