import type { BlockRef } from '../../../domain/envelope.ts'
import type { Logger } from '../../../lib/logger.ts'
import type { ChainSource, Header } from '../../source.ts'
import type { SlotHeader } from '../slots.ts'
import type { SolanaSource } from '../source.ts'
import type { BlockWindow } from './block-window.ts'
import { DEFAULT_SETTINGS, type YellowstoneSettings } from './settings.ts'
import { type YellowstoneOptions, YellowstoneStream } from './stream.ts'

/**
 * Starts a Yellowstone stream and returns a source that answers from its recent blocks, and over JSON-RPC where the
 * stream has nothing, is down, lags, or has other blocks than the nodes.
 */
export function followByStream(
  base: SolanaSource,
  options: Omit<YellowstoneOptions, 'onBlock'> & { readonly onBlock?: () => void },
): ChainSource {
  const stream = new YellowstoneStream({ onBlock: () => undefined, ...options })
  void stream.run()
  return new LiveSource(base, stream, options)
}

/** The blocks below a window come from the nodes, like the final block itself. */
function isBelow(window: BlockWindow, number: number): boolean {
  const isAbove = window.head === undefined || number > window.head.number
  return !isAbove && window.at(number) === undefined
}

type Trust = { readonly connection: number | undefined; readonly comparedAt: number }

class LiveSource implements ChainSource {
  readonly #base: SolanaSource
  readonly #stream: YellowstoneStream
  readonly #settings: YellowstoneSettings
  readonly #logger: Logger
  readonly #own = new WeakSet<BlockRef>()
  #trust: Trust = { connection: undefined, comparedAt: 0 }
  /** The connection that is not confirmed, and since when. */
  #doubted: Trust = { connection: undefined, comparedAt: 0 }
  #comparing: Promise<void> | undefined

  constructor(
    base: SolanaSource,
    stream: YellowstoneStream,
    { settings, logger }: Pick<YellowstoneOptions, 'settings' | 'logger'>,
  ) {
    this.#base = base
    this.#stream = stream
    this.#settings = { ...DEFAULT_SETTINGS, ...settings }
    this.#logger = logger
  }

  async head(): Promise<Header> {
    if (this.#isTrusted()) {
      const isDue = performance.now() - this.#trust.comparedAt >= this.#settings.compareEveryMs
      // The reader does not wait: a node that hangs must not hold up a stream that works.
      if (isDue) this.#comparing ??= this.#compareInBackground()
    } else {
      const theirs = await this.#base.head()
      await this.#compare(theirs)
      const ours = this.#stream.window.head
      if (!this.#isTrusted() || ours === undefined || ours.number < theirs.number) return theirs
    }
    const { head } = this.#stream.window
    return head === undefined ? this.#base.head() : this.#learn(head)
  }

  async headerAt(number: number): Promise<Header | undefined> {
    const block = this.#isTrusted() ? this.#stream.window.at(number) : undefined
    return block === undefined ? this.#base.headerAt(number) : this.#learn(block.header)
  }

  async blockAt(number: number): ReturnType<NonNullable<ChainSource['blockAt']>> {
    const block = this.#isTrusted() ? this.#stream.window.at(number) : undefined
    if (block === undefined) return this.#base.blockAt(number)
    this.#learn(block.header)
    return block
  }

  async headerOf(hash: string, child?: Header): Promise<Header | undefined> {
    const block = this.#stream.window.of(hash)
    if (block !== undefined) return this.#learn(block.header)
    // No node returned a block of the stream, so any of them may have its parent.
    const isOwn = child !== undefined && this.#own.has(child)
    return isOwn ? this.#base.headerOf(hash) : this.#base.headerOf(hash, child)
  }

  async transactions(header: Header): ReturnType<ChainSource['transactions']> {
    const block = this.#stream.window.of(header.hash)
    return block === undefined ? this.#base.transactions(header) : [...block.transactions]
  }

  async finalised(): Promise<BlockRef | undefined> {
    if (!this.#isTrusted()) return this.#base.finalised()
    const { window } = this.#stream
    if (window.final !== undefined) return this.#learn(window.final)
    const final = await this.#base.finalised()
    if (final === undefined || window.head === undefined) return final
    // A stream that is behind may still have blocks that the nodes have left, and they would become final with this one.
    const isKnown = window.at(final.number)?.header.hash === final.hash
    return isKnown || isBelow(window, final.number) ? final : undefined
  }

  async doubt(...[suspect, ours, reasons]: Parameters<NonNullable<ChainSource['doubt']>>) {
    try {
      return await this.#base.doubt(suspect, ours, reasons)
    } catch (error) {
      if (this.#own.has(suspect)) this.#stream.refute(reasons.reason)
      throw error
    }
  }

  /** A block of the stream leads to its parent over JSON-RPC, and the nodes can contradict it. */
  #learn(header: SlotHeader): SlotHeader {
    if (!this.#own.has(header)) this.#base.learn(header, this.#stream.label)
    this.#own.add(header)
    return header
  }

  /** Has the current connection been found to have the blocks of the nodes? */
  #isTrusted(): boolean {
    const { connection } = this.#stream
    return connection !== undefined && connection === this.#trust.connection
  }

  async #compareInBackground(): Promise<void> {
    try {
      await this.#compare(await this.#base.head())
    } catch (error) {
      // While no node answers, the stream is all there is.
      this.#logger.debug({ err: error }, 'Yellowstone stream could not be compared with JSON-RPC')
    } finally {
      this.#comparing = undefined
    }
  }

  async #compare(theirs: Header): Promise<void> {
    const { connection, window } = this.#stream
    const { head } = window
    if (connection === undefined || head === undefined) return
    const behind = theirs.number - head.number
    if (behind > this.#settings.maxLagBlocks) {
      this.#distrust(connection, 'lagging behind the RPC endpoints')
      return
    }
    // The lower of both heads is known to both.
    const ours = behind > 0 ? head : window.at(theirs.number)?.header
    const same = behind > 0 ? await this.#base.headerAt(head.number) : theirs
    if (ours === undefined || same === undefined) {
      if (!this.#isTrusted()) this.#distrust(connection, 'no block in common with the RPC endpoints')
    } else if (ours.hash !== same.hash) this.#distrust(connection, 'other blocks than the RPC endpoints')
    else {
      if (!this.#isTrusted()) this.#logger.info({ endpoint: this.#stream.label }, 'Yellowstone stream in use')
      this.#trust = { connection, comparedAt: performance.now() }
      this.#doubted = { connection: undefined, comparedAt: 0 }
    }
  }

  #distrust(connection: number, reason: string): void {
    if (connection !== this.#stream.connection) return
    const endpoint = this.#stream.label
    if (this.#isTrusted()) this.#logger.warn({ endpoint, reason }, 'Yellowstone stream not used')
    this.#trust = { connection: undefined, comparedAt: 0 }
    const now = performance.now()
    if (this.#doubted.connection !== connection) this.#doubted = { connection, comparedAt: now }
    else if (now - this.#doubted.comparedAt >= this.#settings.patienceMs) this.#stream.refute(reason)
  }
}
