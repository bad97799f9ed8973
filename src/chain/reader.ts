import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainSettings } from '../domain/chain-settings.ts'
import {
  type BlockEnvelope,
  type BlockRef,
  type Envelope,
  type Fact,
  OLD_AFTER_SECONDS,
  type RawTransaction,
} from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { settingsChanges, uncoveredPast } from '../domain/settings-changes.ts'
import type { Logger } from '../lib/logger.ts'
import { expectEncodable } from '../wire/fact-codec.ts'
import { Announcements } from './announcements.ts'
import type { Doorbell } from './doorbell.ts'
import { continues, isDeepFork, readHead } from './link.ts'
import { ReadAhead, type ReadAheadParts } from './read-ahead.ts'
import type { ReaderIndex } from './reader-index.ts'
import type { ChainSource, FetchedBlock, Header, KnownFacts } from './source.ts'

export type ReaderParts = {
  readonly chain: string
  readonly source: ChainSource
  readonly index: ReaderIndex
  /** The settings by which `gather` selects; appended before the next block if the log's last ones differ. */
  readonly settings?: ChainSettings
  /** Filters a block's transactions and adds the facts it needs. `head` is the height of the chain. */
  readonly gather: (
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
    head: number,
  ) => Promise<{ transactions: RawTransaction[]; facts: Fact[] }>
  /** Requests in advance what `gather` will probably request. */
  readonly askAhead?: (
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
    head: number,
  ) => Promise<void>
  /** Sources of facts that belong to no particular block. */
  readonly background?: readonly BackgroundFacts[]
  /**
   * Appends to the log and updates the index; may return before either is durable. `announcedAt`: when the reader first
   * heard of a live block, in Unix milliseconds.
   */
  readonly append: (envelope: Envelope, announcedAt?: number) => Promise<void>
  /** Waits until everything appended is durable. */
  readonly flush: () => Promise<void>
  readonly startBlock: number
  /** Blocks fetched concurrently while the head is far away. */
  readonly readAheadBlocks: number
  readonly pollMs: number
  /** Ends the pause between two polls early. */
  readonly doorbell?: Doorbell
  /** After a takeover: when this reader, as the standby, first heard of the blocks that the log lacks. */
  readonly dueSince?: number | undefined
  /** Called for each fact that cannot be encoded and is dropped from its block. */
  readonly onDroppedFact?: (fact: Fact) => void
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Called after each poll of the chain; `lagBlocks` is the distance of the log from the node's head. */
  readonly onProgress: (progress: { tip: BlockRef | undefined; lagBlocks: number }) => void
  /** Called after each block on the way to the head. */
  readonly onBlock: (block: { number: number; head: number }) => void
}

/** A background source of facts about earlier blocks. */
export type BackgroundFacts = {
  /** Facts for the next block. */
  take(): Fact[]
  /** The log now ends with this block. */
  readOn(tip: Header): void
  /** Blocks were undone. */
  forget(): void
}

const MILESTONE_BLOCKS = 1_000

/** Follows a chain's head and appends blocks that link up, undos where they do not, and finality. */
export class Reader {
  readonly #parts: ReaderParts
  readonly #readAhead: ReadAhead
  readonly #background: readonly BackgroundFacts[]
  readonly #announcements: Announcements
  #hasSettings = false

  constructor(parts: ReaderParts) {
    this.#parts = parts
    this.#background = parts.background ?? []
    this.#announcements = new Announcements(parts.pollMs, parts.dueSince)
    const { source, index, askAhead, readAheadBlocks: width, logger } = parts
    const prepare: ReadAheadParts['prepare'] = async ({ header, transactions }, head) => {
      try {
        await askAhead?.(header, transactions, index, head)
      } catch (error) {
        // Failures are ignored: `gather` requests the same again in the block's turn.
        logger.debug({ err: error, block: header.number }, 'Prefetch of block facts failed')
      }
    }
    this.#readAhead = new ReadAhead({ source, width, prepare })
  }

  async run(): Promise<void> {
    try {
      await this.#run()
    } finally {
      this.#readAhead.clear()
    }
  }

  async #run(): Promise<void> {
    const { signal, pollMs, doorbell, logger, onProgress, index } = this.#parts
    let rungAt: number | undefined
    while (!signal.aborted) {
      try {
        const head = await this.#advance(rungAt)
        await this.#finalise()
        await this.#parts.flush()
        onProgress({
          tip: index.tip,
          lagBlocks: Math.max(0, head.number - (index.tip?.number ?? head.number)),
        })
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof ChaintapeError) || !error.retryable) throw error
        logger.warn({ err: error, code: error.code }, 'RPC request failed; retrying')
        // Responses in flight may come from a node that is no longer trusted.
        this.#readAhead.clear()
      }
      if (doorbell === undefined) await sleep(pollMs, undefined, { signal }).catch(() => undefined)
      else rungAt = await doorbell.wait(pollMs, signal)
    }
  }

  /** Reads up to the node's current head. `rungAt`: when the doorbell announced it. */
  async #advance(rungAt: number | undefined): Promise<Header> {
    const { source, index, startBlock, signal } = this.#parts
    const head = await source.head()
    this.#announcements.hear(head.number, index.tip?.number, rungAt ?? Date.now())
    switch (readHead(index.tip, head)) {
      case 'idle':
      case 'stale':
        return head
      case 'fork':
        await this.#undoTo(await this.#commonAncestor(head))
        break
      case 'ahead':
        break
    }
    let headTime = head.time
    while (!signal.aborted && (index.tip?.number ?? -1) < head.number) {
      // A floor without a tip means that everything read was undone: continue where the log started.
      const last = index.tip ?? index.floor
      const number = last === undefined ? startBlock : last.number + 1
      if (number > head.number) break
      const next = await this.#readAhead.take(number, head.number)
      if (next === undefined) break
      if (continues(last, next.header)) await this.#appendBlock(next, head.number, headTime)
      else await this.#followFork(last, number)
      // A long backfill may have outdated the head it started with.
      if (number % MILESTONE_BLOCKS === 0) headTime = Math.max(headTime, (await source.head()).time)
      this.#parts.onBlock({ number, head: head.number })
    }
    return head
  }

  async #appendBlock(
    { header, transactions: all }: FetchedBlock,
    head: number,
    headTime: number,
  ): Promise<void> {
    const { chain, index, gather, append } = this.#parts
    const { number, hash, parentHash, time } = header
    await this.#publishSettings(number)
    const { transactions, facts: own } = await gather(header, all, index, head)
    const found = [...own, ...this.#background.flatMap((each) => each.take())]
    const facts = found.filter((fact) => this.#isEncodable(fact))
    const place = { chain, number, hash, parentHash, time }
    const isOld = headTime - time > OLD_AFTER_SECONDS
    const block: BlockEnvelope = {
      kind: 'block',
      ...place,
      ...(isOld && { isOld }),
      ...{ transactions, facts },
    }
    await append(block, this.#announcements.of(number))
    for (const each of this.#background) each.readOn(header)
    // Publishes finality along the way, so that journals stay short.
    if (number % MILESTONE_BLOCKS === 0) await this.#finalise()
  }

  /** Settings precede every block that was selected by them, so the engine never folds a block by others. */
  async #publishSettings(next: number): Promise<void> {
    const { chain, index, settings, append, logger } = this.#parts
    if (settings === undefined || this.#hasSettings) return
    this.#hasSettings = true
    if (index.settings.equals(settings)) return
    const before = index.settings.last
    if (before !== undefined) {
      const changes = settingsChanges(before, settings)
      logger.warn({ block: next, ...changes, not_covered: uncoveredPast(changes, next) }, 'Settings change')
    } else if (index.floor !== undefined) logger.info({ block: next }, 'Settings enter the log')
    await append({ kind: 'settings', chain, settings })
  }

  /** Facts depend on contracts' answers, so an invalid one is dropped and must not stop the reader. */
  #isEncodable(fact: Fact): boolean {
    try {
      expectEncodable(fact)
      return true
    } catch (error) {
      const { type, address } = fact
      this.#parts.logger.error({ err: error, type, address }, 'Fact cannot be encoded; dropped')
      this.#parts.onDroppedFact?.(fact)
      return false
    }
  }

  /** A block that does not link up may have been fetched long ago: only the node's current answer proves a fork. */
  async #followFork(last: BlockRef | undefined, number: number): Promise<void> {
    this.#readAhead.clear()
    const header = await this.#parts.source.headerAt(number)
    if (header === undefined || continues(last, header)) return
    await this.#undoTo(await this.#commonAncestor(header))
  }

  /** Walks down the other branch, parent by parent, to the newest common block. */
  async #commonAncestor(branch: Header): Promise<BlockRef> {
    const { source, index } = this.#parts
    const floor = index.floor ?? { number: 0, hash: '' }
    const tip = index.tip ?? floor
    let header = branch
    while (header.number > floor.number) {
      const number = header.number - 1
      if (index.hashAt(number) === header.parentHash) {
        const ancestor = { number, hash: header.parentHash }
        await this.#confirmFork(branch, tip, ancestor)
        return ancestor
      }
      const parent = await source.headerOf(header.parentHash, branch)
      if (parent?.number !== number) {
        const reason =
          parent === undefined
            ? `the node lacks its own block ${header.parentHash}`
            : 'a parent is not one block below'
        await source.doubt?.(branch, tip, { reason, isFinal: false })
        throw new ChaintapeError('node_answer_invalid', reason)
      }
      header = parent
    }
    const reason = `the node's chain forks off below the final block ${floor.number}`
    const verdict = await source.doubt?.(branch, floor, { reason, isFinal: true })
    // Halting needs an operator, so one node's claim is not enough while the others are only unavailable.
    if (verdict === 'unanswered')
      throw new ChaintapeError('node_unavailable', `${reason}, and no other node could confirm or refute it`)
    throw new ChaintapeError('fork_below_final', reason)
  }

  async #confirmFork(branch: Header, tip: BlockRef, ancestor: BlockRef): Promise<void> {
    const { source, index } = this.#parts
    if (!isDeepFork(tip, ancestor)) return
    const number = ancestor.number + 1
    const ours = { number, hash: index.hashAt(number) ?? '' }
    const reason = `the node's chain forks off ${tip.number - ancestor.number} blocks deep`
    await source.doubt?.(branch, ours, { reason, isFinal: false })
  }

  async #undoTo(lastValid: BlockRef): Promise<void> {
    const { chain, index, append, logger } = this.#parts
    const tip = index.tip
    if (tip === undefined || lastValid.number >= tip.number) return
    logger.warn(
      { reorg_depth: tip.number - lastValid.number, common_ancestor: lastValid.number, tip: tip.number },
      'Chain reorg',
    )
    this.#readAhead.clear()
    await append({ kind: 'undo', chain, lastValid })
    for (const each of this.#background) each.forget()
  }

  async #finalise(): Promise<void> {
    const { chain, source, index, append } = this.#parts
    const final = await source.finalised()
    const { tip, floor } = index
    if (final === undefined || tip === undefined || floor === undefined) return
    // While catching up, the final block is ahead: then everything read is final, if the node still agrees with our
    // tip.
    const upTo = final.number > tip.number ? await source.headerAt(tip.number) : final
    // Only blocks that were read can be final here, and the floor only rises.
    if (upTo === undefined || upTo.number <= floor.number) return
    const ours = { number: upTo.number, hash: index.hashAt(upTo.number) ?? '' }
    if (ours.hash !== upTo.hash) {
      const reason = `final block ${upTo.number} differs from the one read before`
      // If the final block is ahead, a mismatch at our tip is an ordinary fork, which the next poll handles.
      if (upTo === final) await source.doubt?.(final, ours, { reason, isFinal: false })
      throw new ChaintapeError('node_answer_invalid', reason)
    }
    await append({ kind: 'final', chain, upTo: { number: upTo.number, hash: upTo.hash } })
  }
}
