import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ExchangeLog,
  ExchangeLogs,
  type FoundLogs,
  isSameExchange,
} from '../../chain/evm/exchange-logs.ts'
import { PastPoolFacts } from '../../chain/evm/facts/past-pool-facts.ts'
import type { EvmNodes } from '../../chain/evm/rpc/rpc.ts'
import type { Asker } from '../../chain/facts/asker.ts'
import type { NativeCoin } from '../../chain/facts/native-coin.ts'
import type { ChainSource, FetchedBlock } from '../../chain/source.ts'
import { DexRegistry } from '../../dex/registry.ts'
import type { DexDeployment } from '../../domain/chain-settings.ts'
import type { RawLog, RawTransaction } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { MissingDexes } from '../../domain/missing-dexes.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Progress } from '../../lib/progress.ts'
import { retryUntilAvailable, type Waiting } from '../../lib/waiting.ts'
import type { ArchivedBlock, BlockArchive } from '../../store/clickhouse/block-archive.ts'
import { decodeEnvelopeHead } from '../../wire/envelope-codec.ts'
import { expectEncodable } from '../../wire/fact-codec.ts'
import { SupplementRows } from './supplement-rows.ts'

export type SupplementParts = {
  readonly chain: string
  readonly epoch: string
  readonly archive: BlockArchive
  /** Names of this supplement and of earlier attempts. */
  readonly name: string
  readonly earlier: readonly string[]
  readonly missing: MissingDexes
  /** The sequence of the settings up to which blocks lack logs. */
  readonly settingsAt: number
  readonly nodes: Pick<EvmNodes, 'verified' | 'elsewhere' | 'blame' | 'blockByNumber'>
  readonly source: Pick<ChainSource, 'headerOf' | 'transactions'>
  readonly asker: Asker
  readonly native: NativeCoin
  /** Blocks that are read concurrently. */
  readonly width: number
  /** Throws if another process reads this supplement. */
  readonly mustRead: () => void
  /** Reports that nodes or ClickHouse do not answer. */
  readonly waiting: Waiting
  readonly progress: Pick<Progress, 'update' | 'end'>
  readonly note: (line: string) => void
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** The blocks in which logs of an exchange may be missing. */
type Range = { readonly dex: DexDeployment; readonly from: number; readonly to: number }

const LOOK_EVERY_MS = 500
/** Blocks in which logs are looked for at a time: at first, and at most. */
const FIRST_SPAN = 10_000
const MAX_SPAN = 1_000_000
const FEW_LOGS = 500
const MANY_LOGS = 5_000
/** An exchange that was removed and added again may lack logs a little earlier, if the chain forked there. */
const FORK_BLOCKS = 1_000

/**
 * Reads the logs that archived blocks lack, because an exchange was added to the settings later. Nodes are asked for
 * logs by address and topic; each block that has some is then read whole, by its archived hash, and proved by its
 * receipts. Killed at any point, the next attempt continues after the last rows that were committed.
 */
export class SupplementReader {
  readonly #parts: SupplementParts
  readonly #logs: ExchangeLogs
  readonly #rows: SupplementRows
  readonly #facts = new Map<string, PastPoolFacts>()
  #span = FIRST_SPAN
  #next = 0
  #blocksRead = 0

  constructor(parts: SupplementParts) {
    this.#parts = parts
    this.#logs = new ExchangeLogs(parts.nodes, parts.asker)
    this.#rows = new SupplementRows(parts)
  }

  /** Blocks that were read whole. */
  get blocksRead(): number {
    return this.#blocksRead
  }

  /** Returns the sequence of the last block of the supplement, 0 if it is empty; undefined if the signal aborts. */
  async run(): Promise<number | undefined> {
    const { progress, signal } = this.#parts
    await this.#untilArchived()
    if (signal.aborted) return undefined
    const ranges = await this.#ranges()
    const first = Math.min(...ranges.map(({ from }) => from))
    const last = Math.max(...ranges.map(({ to }) => to))
    this.#next = Math.max(first, (await this.#rows.continue()) + 1)
    const dexes = ranges.map(({ dex }) => dex)
    await this.#untilAnswered(() => this.#logs.findPools(dexes, this.#next - 1))
    while (this.#next <= last && !signal.aborted) {
      this.#parts.mustRead()
      progress.update(this.#next - first, last + 1 - first)
      await this.#untilAnswered(() => this.#step(ranges, last))
    }
    progress.end()
    if (signal.aborted) return undefined
    await this.#untilAnswered(() => this.#rows.flush())
    return this.#rows.lastSequence
  }

  /** Retries with a growing delay: all nodes may return invalid answers, and at once. */
  #untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    const { waiting, signal } = this.#parts
    const isRetryable = (error: unknown): boolean => error instanceof ChaintapeError && error.retryable
    return retryUntilAvailable(ask, waiting, { signal, isRetryable })
  }

  /** The archive takes settings with the block after them: then every block before them is final. */
  async #untilArchived(): Promise<void> {
    const { chain, epoch, archive, settingsAt, note, signal } = this.#parts
    let isNoted = false
    while (!signal.aborted && ((await archive.end(chain, epoch))?.sequence ?? 0) <= settingsAt) {
      if (!isNoted)
        note(`${chain}: waiting until the first block after the change of settings is final and archived`)
      isNoted = true
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  async #ranges(): Promise<Range[]> {
    const { missing } = this.#parts
    const first = await this.#firstNumber(1)
    const ranges: Range[] = []
    for (const [dex, { after, before }] of missing.all) {
      const begin = after === 0 ? first : Math.max(first, (await this.#firstNumber(after)) - FORK_BLOCKS)
      const end = (await this.#firstNumber(before)) - 1
      const { fromBlock = 0, untilBlock = end } = dex
      ranges.push({ dex, from: Math.max(begin, fromBlock), to: Math.min(end, untilBlock) })
    }
    return ranges.filter(({ from, to }) => from <= to)
  }

  /** The number of the first block from a message of BLOCKS on. */
  async #firstNumber(sequence: number): Promise<number> {
    const { chain, epoch, archive } = this.#parts
    const message = await archive.blockFrom(chain, epoch, sequence, Number.MAX_SAFE_INTEGER)
    if (message === undefined)
      throw new ChaintapeError('log_damaged', `archive of BLOCKS of ${chain}: no block after ${sequence}`)
    return decodeEnvelopeHead(message.body).number
  }

  /** Reads the blocks of one range; after a failure, the next call continues with the first block that is not read. */
  async #step(ranges: readonly Range[], last: number): Promise<void> {
    const { chain, epoch, archive, missing, width } = this.#parts
    const from = this.#next
    const to = Math.min(last, from + this.#span - 1)
    const open = ranges.filter((range) => range.from <= to && range.to >= from)
    const found = await this.#logs.find(
      open.map(({ dex }) => dex),
      from,
      to,
    )
    const byBlock = Map.groupBy(found.logs, ({ block }) => block)
    const numbers = [...byBlock.keys()].sort((one, other) => one - other)
    const archived = await archive.blocksOf(chain, epoch, numbers, this.#rows.lastSequence)
    const wanted = numbers.flatMap((number) => {
      const block = archived.get(number)
      if (block === undefined)
        throw new ChaintapeError('log_damaged', `archive of BLOCKS of ${chain}: block ${number} is missing`)
      const dexes = missing.at(block.sequence, number)
      const isMissing = ({ dex }: ExchangeLog): boolean => dexes.some((each) => isSameExchange(each, dex))
      const listed = byBlock.get(number)?.filter(isMissing) ?? []
      return listed.length === 0 ? [] : [{ block, dexes, listed }]
    })
    for (let at = 0; at < wanted.length; at += width) {
      const some = wanted.slice(at, at + width)
      const blocks = await Promise.all(some.map(({ block }) => this.#read(block)))
      for (const [index, { block, dexes, listed }] of some.entries()) {
        await this.#add(block, blocks[index] as FetchedBlock, dexes, listed, found)
        this.#next = block.number + 1
      }
      await this.#rows.flushIfDue()
    }
    this.#next = to + 1
    if (found.logs.length < FEW_LOGS) this.#span = Math.min(MAX_SPAN, this.#span * 2)
    if (found.logs.length > MANY_LOGS) this.#span = Math.ceil(this.#span / 2)
    await this.#rows.flushIfDue()
  }

  async #read({ number, hash }: ArchivedBlock): Promise<FetchedBlock> {
    const { source } = this.#parts
    const header = await source.headerOf(hash)
    if (header?.number !== number)
      throw new ChaintapeError('node_unavailable', `no node has the final block ${number}, ${hash}`)
    const transactions = await source.transactions(header)
    this.#blocksRead++
    return { header, transactions }
  }

  async #add(
    { sequence }: ArchivedBlock,
    { header, transactions }: FetchedBlock,
    dexes: readonly DexDeployment[],
    listed: readonly ExchangeLog[],
    found: FoundLogs,
  ): Promise<void> {
    const selected = withLogs(transactions, (log) => this.#logs.selects(log, dexes))
    this.#expectListed(selected, listed, found, header.number)
    const gathered = await this.#factsOf(dexes).gather(header, selected, this.#rows)
    const facts = gathered.facts.filter((fact) => {
      try {
        expectEncodable(fact)
        return true
      } catch (error) {
        const { type, address } = fact
        this.#parts.logger.error({ err: error, type, address }, 'Fact cannot be encoded; dropped')
        return false
      }
    })
    if (gathered.transactions.length > 0) this.#rows.add(sequence, header, gathered.transactions, facts)
  }

  /** The receipts prove which logs the block has: a list without one of them is incomplete elsewhere too. */
  #expectListed(
    selected: readonly RawTransaction[],
    listed: readonly ExchangeLog[],
    { labels }: FoundLogs,
    block: number,
  ): void {
    const known = new Set(listed.map(({ log }) => log.index))
    const left = selected.flatMap(({ logs }) => logs).find(({ index }) => !known.has(index))
    if (left === undefined) return
    const reason = `eth_getLogs left out log ${left.index} of block ${block}`
    for (const label of labels) this.#parts.nodes.blame(label, reason)
    throw new ChaintapeError('node_answer_invalid', reason)
  }

  #factsOf(dexes: readonly DexDeployment[]): PastPoolFacts {
    const { asker, native } = this.#parts
    const key = JSON.stringify(dexes)
    const facts = this.#facts.get(key) ?? new PastPoolFacts(asker, new DexRegistry(dexes), native)
    this.#facts.set(key, facts)
    return facts
  }
}

function withLogs(
  transactions: readonly RawTransaction[],
  isWanted: (log: RawLog) => boolean,
): RawTransaction[] {
  return transactions
    .map((transaction) => ({ ...transaction, logs: transaction.logs.filter(isWanted) }))
    .filter(({ logs }) => logs.length > 0)
}
