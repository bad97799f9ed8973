import { addMove, movesOf, moveTopics } from '../../../dex/evm/token-moves.ts'
import { type MoveSums, noMoves } from '../../../dex/move-sums.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import { decide } from '../../rpc/endpoint-decision.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import { invalid, shaped, toPastLog } from '../proof/block-logs.ts'
import type { EvmNode } from '../rpc/rpc.ts'

export type SpanSettings = {
  /** Blocks per request: at first, and at most. */
  readonly firstSpan: number
  readonly maxSpan: number
  /** Requests for one token in one turn. */
  readonly spansPerTurn: number
}

export const DEFAULT_SPANS: SpanSettings = { firstSpan: 10_000, maxSpan: 1_000_000, spansPerTurn: 16 }

export type PastLog = RawLog & { readonly block: number; readonly transaction: string }

export type PastRange = {
  readonly address: string
  readonly from: number
  readonly upTo: number
  /** Whether to stop before the next request. */
  readonly isOver?: () => boolean
}

/** Maximum transfers summed up at once. Ranges with few transfers are extended. */
const MAX_LOGS = 5_000
const FEW_LOGS = 500

/** Sums of the transfers of tokens in past blocks, in ranges that the node accepts. */
export class PastTransfers {
  readonly #wrappedNative: ReadonlySet<string>
  readonly #settings: SpanSettings
  readonly #spans = new Map<string, number>()

  constructor(wrappedNative: ReadonlySet<string>, settings: SpanSettings = DEFAULT_SPANS) {
    this.#wrappedNative = wrappedNative
    this.#settings = settings
  }

  /** Reads on from `from`, up to block `to`, and returns the oldest log that moved something. */
  async read(
    node: EvmNode,
    range: PastRange,
  ): Promise<{ readonly to: number; readonly sums: MoveSums; readonly oldest: PastLog | undefined }> {
    const found = await this.#logs(node, range)
    const sums = noMoves()
    let oldest: PastLog | undefined
    for (const logs of byTransaction(found.logs)) {
      const moves = movesOf({ logs }, (token) => this.#wrappedNative.has(token))
      for (const move of moves) addMove(sums, move)
      if (moves.length > 0) oldest ??= logs[0]
    }
    return { to: found.to, sums, oldest }
  }

  /** A request failed: the next one is for fewer blocks. */
  shrink(address: string): void {
    this.#spans.set(address, Math.max(1, Math.floor(this.#spanOf(address) / 4)))
  }

  forget(address: string): void {
    this.#spans.delete(address)
  }

  /** Reads ranges of blocks until there are enough logs, or the turn is over. */
  async #logs(node: EvmNode, { address, from, upTo, isOver = () => false }: PastRange) {
    const logs: PastLog[] = []
    let to = from - 1
    for (let asked = 0; to < upTo && asked < this.#settings.spansPerTurn && logs.length < FEW_LOGS; asked++) {
      if (asked > 0 && isOver()) break
      const found = await this.#logsOfSpan(node, address, to + 1, upTo)
      // Not spread into a call, because one block may have more logs of a token than a call takes arguments.
      for (const log of found.logs) logs.push(log)
      to = found.to
    }
    return { to, logs }
  }

  async #logsOfSpan(node: EvmNode, address: string, from: number, upTo: number) {
    const topics = moveTopics(this.#wrappedNative.has(address))
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
      this.shrink(address)
    }
  }

  #spanOf(address: string): number {
    return this.#spans.get(address) ?? this.#settings.firstSpan
  }
}

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

function byTransaction(logs: readonly PastLog[]): PastLog[][] {
  const groups = new Map<string, PastLog[]>()
  for (const log of logs) {
    const group = groups.get(log.transaction)
    if (group === undefined) groups.set(log.transaction, [log])
    else group.push(log)
  }
  return [...groups.values()]
}
