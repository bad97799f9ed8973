import type { ChangeSet } from '../../../domain/change.ts'
import type { GatewayMetrics, PushTimes } from '../../http/metrics.ts'
import { type Quantiles, RecentDelays } from './recent-delays.ts'

/** Quantiles over the last minutes, in milliseconds. */
export type PushDelays = { readonly fromBlock: Quantiles; readonly fromAnnouncement: Quantiles }

type ChainDelays = {
  readonly all: PushTimes
  readonly fromBlock: RecentDelays
  readonly fromAnnouncement: RecentDelays
}

/** A block on its way to the sockets. */
export type LiveBlock = {
  /** Its pushes were written to a socket, at this time in Unix milliseconds. */
  written(now: number): void
}

/**
 * Time from a block's timestamp, and from when the reader first heard of it, to the write of its pushes to a socket. A
 * block is live if the reader followed the head of the chain, so that it heard of the block when a node announced it,
 * and if this gateway had caught up with its log.
 */
export class Freshness {
  readonly #metrics: Pick<GatewayMetrics, 'pushTimes'>
  readonly #now: () => number
  readonly #chains = new Map<string, ChainDelays>()

  constructor(metrics: Pick<GatewayMetrics, 'pushTimes'>, now: () => number) {
    this.#metrics = metrics
    this.#now = now
  }

  /** Undefined if the block is not live. */
  liveBlock(
    { chain, cause, head }: Pick<ChangeSet, 'chain' | 'cause' | 'head'>,
    announcedAt: number | undefined,
    isCaughtUp: boolean,
  ): LiveBlock | undefined {
    if (announcedAt === undefined || cause !== 'block' || !isCaughtUp) return undefined
    const { all, fromBlock, fromAnnouncement } = this.#delaysOf(chain)
    const blockTime = head.time * 1_000
    return {
      written: (now) => {
        // Clocks of two machines differ a little, and a chain may date its blocks ahead.
        const sinceBlock = Math.max(0, now - blockTime)
        const sinceAnnouncement = Math.max(0, now - announcedAt)
        all.fromBlock.add(sinceBlock)
        all.fromAnnouncement.add(sinceAnnouncement)
        fromBlock.add(sinceBlock, now)
        fromAnnouncement.add(sinceAnnouncement, now)
      },
    }
  }

  /** Undefined if no live block was pushed within the window. */
  of(chain: string): PushDelays | undefined {
    const delays = this.#chains.get(chain)
    const now = this.#now()
    const fromBlock = delays?.fromBlock.quantiles(now)
    const fromAnnouncement = delays?.fromAnnouncement.quantiles(now)
    return fromBlock && fromAnnouncement && { fromBlock, fromAnnouncement }
  }

  #delaysOf(chain: string): ChainDelays {
    const known = this.#chains.get(chain)
    if (known !== undefined) return known
    const delays = {
      all: this.#metrics.pushTimes(chain),
      fromBlock: new RecentDelays(),
      fromAnnouncement: new RecentDelays(),
    }
    this.#chains.set(chain, delays)
    return delays
  }
}
