import { setTimeout as sleep } from 'node:timers/promises'
import type { Announcer, DexRegistry } from '../../../dex/registry.ts'
import type { CreatedPool } from '../../../domain/created-pool.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { FoundLaunch } from '../../../domain/found-launch.ts'
import type { Logger } from '../../../lib/logger.ts'
import { decide } from '../../rpc/endpoint-decision.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import { shaped, toPastLog } from '../proof/block-logs.ts'
import type { EvmNode, EvmNodes } from '../rpc/rpc.ts'

/** Blocks of a factory that are scanned: all before `next`, up to and including `upTo` in the end. */
export type ScanProgress = { readonly next: number; readonly upTo: number }

/** Where the scan stores what it finds. */
export type CreationIndex = {
  progress(factory: string): ScanProgress | undefined
  add(
    pools: readonly CreatedPool[],
    progress: ReadonlyMap<string, ScanProgress>,
    launches: readonly FoundLaunch[],
  ): void
}

export type CreationScanParts = {
  readonly nodes: Pick<EvmNodes, 'verified'>
  readonly index: CreationIndex
  readonly registry: DexRegistry
  /** The last block that the log does not cover, or a later final one; undefined before the log begins. */
  readonly upTo: () => number | undefined
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Called after each range. */
  readonly onProgress?: (progress: { readonly blocksLeft: number }) => void
  readonly settings?: Partial<ScanSettings>
}

export type ScanSettings = {
  /** Blocks per request: at first, and at most. */
  readonly firstSpan: number
  readonly maxSpan: number
  readonly retryMs: number
}

const DEFAULTS: ScanSettings = { firstSpan: 10_000, maxSpan: 1_000_000, retryMs: 5_000 }
const FEW_LOGS = 2_000
const MANY_LOGS = 20_000
const WAIT_FOR_LOG_MS = 250

type Open = Announcer & { readonly key: string; readonly progress: ScanProgress }

/**
 * Scans the creation events of all factories and launch platforms up to the block where the log begins, one request at a
 * time. It fills an index and nothing else: a pool enters the log only when it trades or is asked for, and is verified
 * then; a launch enters it with its token.
 */
export class CreationScan {
  readonly #parts: CreationScanParts
  readonly #settings: ScanSettings
  #span: number

  constructor(parts: CreationScanParts) {
    this.#parts = parts
    this.#settings = { ...DEFAULTS, ...parts.settings }
    this.#span = this.#settings.firstSpan
  }

  /** Resolves once all factories are scanned, or the signal aborts. Continues where an earlier run stopped. */
  async run(): Promise<void> {
    const { logger, signal } = this.#parts
    const target = await this.#target()
    while (!signal.aborted && target !== undefined) {
      const open = this.#open(target)
      if (open.length === 0) return
      try {
        await this.#scanNext(open)
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof ChaintapeError || error instanceof RpcFailure)) throw error
        this.#span = Math.max(1, Math.floor(this.#span / 4))
        logger.warn({ err: error, blocks: this.#span }, 'Scan of creation events failed; retrying')
        await sleep(this.#settings.retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /** The log decides where the scan ends, so it must have begun. */
  async #target(): Promise<number | undefined> {
    const { upTo, signal } = this.#parts
    while (!signal.aborted) {
      const target = upTo()
      if (target !== undefined) return target
      await sleep(WAIT_FOR_LOG_MS, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  }

  #open(target: number): Open[] {
    const { index, registry } = this.#parts
    return registry.announcers.flatMap((announcer) => {
      const key = keyOf(announcer)
      const progress = index.progress(key) ?? { next: announcer.from, upTo: target }
      return progress.next > progress.upTo ? [] : { ...announcer, key, progress }
    })
  }

  /** Scans the oldest range, for all factories that are at the same block; the others are joined on the way. */
  async #scanNext(open: readonly Open[]): Promise<void> {
    const { nodes, index, onProgress } = this.#parts
    const from = Math.min(...open.map(({ progress }) => progress.next))
    const group = open.filter(({ progress }) => progress.next === from)
    const ahead = open.filter(({ progress }) => progress.next > from).map(({ progress }) => progress.next - 1)
    const last = Math.min(...group.map(({ progress }) => progress.upTo), ...ahead)
    const { pools, launches, to } = await nodes.verified((node) => this.#ask(node, group, from, last))
    const scanned = group.map(({ key, progress }) => [key, { ...progress, next: to + 1 }] as const)
    index.add(pools, new Map(scanned), launches)
    const left = open.map(({ progress }) => progress.upTo - Math.max(progress.next, to + 1) + 1)
    onProgress?.({ blocksLeft: Math.max(0, ...left) })
  }

  async #ask(
    node: EvmNode,
    group: readonly Open[],
    from: number,
    last: number,
  ): Promise<{ pools: CreatedPool[]; launches: FoundLaunch[]; to: number }> {
    const address = group.map(({ factory }) => factory)
    const topics = [...new Set(group.flatMap((announcer) => announcer.topics))]
    for (;;) {
      const span = this.#span
      const to = Math.min(last, from + span - 1)
      try {
        const answer = await node.pastLogs({ address, topics, from, to })
        const logs = shaped(() => answer.map((log) => toPastLog(log, { address, from, to })))
        const pools = logs.flatMap((log) => this.#toPool(log))
        const launches = logs.flatMap((log) => this.#toLaunch(log))
        if (answer.length > MANY_LOGS) this.#span = Math.max(1, Math.floor(span / 2))
        else if (answer.length < FEW_LOGS) this.#span = Math.min(this.#settings.maxSpan, span * 2)
        return { pools, launches, to }
      } catch (error) {
        const isTooLarge = error instanceof RpcFailure && decide(error).question === 'shrink' && span > 1
        if (!isTooLarge) throw error
        this.#span = Math.max(1, Math.floor(span / 4))
      }
    }
  }

  #toPool({ block, ...log }: ReturnType<typeof toPastLog>): CreatedPool[] {
    const { registry } = this.#parts
    const created = registry.announced(log, block)
    if (created === undefined) return []
    const { pool: address, tokens, pricing, tickSpacing, goalRaw } = created
    // An announcement may name a token twice; such a pool trades nothing.
    if (new Set(tokens).size !== tokens.length) return []
    return [{ address, factory: registry.factoryOf(log, block), tokens, pricing, tickSpacing, goalRaw }]
  }

  #toLaunch({ block, ...log }: ReturnType<typeof toPastLog>): FoundLaunch[] {
    const launch = this.#parts.registry.launchIn(log, block)
    return launch === undefined ? [] : [{ ...launch, factory: log.address, block, log: log.index }]
  }
}

/** A factory with other events, or from an earlier block, is scanned anew. */
function keyOf({ factory, from, topics }: Announcer): string {
  return `${factory}/${from}/${[...topics]
    .sort()
    .map((topic) => topic.slice(2, 10))
    .join(',')}`
}
