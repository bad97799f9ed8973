import type { RateStore } from '../../../store/redis/rate-store.ts'
import type { Grant } from '../keys/key-ring.ts'
import type { Plan } from '../keys/plan.ts'
import { SharedBucket } from './shared-bucket.ts'

export type SharedRatesOptions = {
  readonly store: Pick<RateStore, 'lease'>
  readonly onFailure: (error: unknown) => void
  readonly now: () => number
}

type Entry = { readonly plan: Plan; readonly bucket: SharedBucket }

const SETTLE_MS = 500
/** A key that was not used for so long has no bucket here. */
const FORGET_MS = 60_000

/** The request rates of all keys, each counted over all gateways. */
export class SharedRates {
  readonly #options: SharedRatesOptions
  readonly #entries = new Map<string, Entry>()
  readonly #timer: NodeJS.Timeout
  /** The most that any key was seen at: what a key's share is until more is known of it. */
  #gateways = 1

  constructor(options: SharedRatesOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.settle(), SETTLE_MS)
    this.#timer.unref()
  }

  readonly bucketOf = ({ keyId, plan }: Grant): SharedBucket => {
    const known = this.#entries.get(keyId)
    if (known !== undefined && known.plan === plan) return known.bucket
    const { store, onFailure, now } = this.#options
    const bucket = new SharedBucket({
      perSecond: plan.requestsPerSecond,
      burst: plan.burst,
      lease: async (call) => {
        const answer = await store.lease(keyId, call)
        this.#gateways = Math.max(this.#gateways, answer.gateways)
        return answer
      },
      gateways: () => this.#gateways,
      onFailure,
      now,
    })
    this.#entries.set(keyId, { plan, bucket })
    return bucket
  }

  /** Gives back what idle keys have leased. */
  async settle(): Promise<void> {
    const settled: Promise<void>[] = []
    for (const [keyId, { bucket }] of this.#entries) {
      if (bucket.isIdle(FORGET_MS)) {
        this.#entries.delete(keyId)
        settled.push(bucket.settle(true))
      } else if (bucket.isIdle()) settled.push(bucket.settle())
    }
    await Promise.all(settled)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all([...this.#entries.values()].map(({ bucket }) => bucket.settle(true)))
  }
}
