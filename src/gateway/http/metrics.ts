import { Counter, Gauge, type Registry } from 'prom-client'
import { type BucketedTimes, plainHistogram } from './plain-histogram.ts'

/** Without a time, the response is only counted. */
export type CountRequest = (status: number, ms?: number) => void

const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const PUSH_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300]

/** Times from a block to the write to a subscriber's socket. */
export type PushTimes = { readonly fromBlock: BucketedTimes; readonly fromAnnouncement: BucketedTimes }

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>

export function createGatewayMetrics(registry: Registry) {
  const registers = [registry]
  const name = (suffix: string): string => `chaintape_gateway_${suffix}`
  // Counted here and reported when scraped: the counter's own label lookup takes longer than a push.
  const pushes = new Map<string, number>()
  new Counter({
    name: name('pushes_total'),
    help: 'Messages pushed to subscribers by topic',
    labelNames: ['topic'] as const,
    registers,
    collect() {
      this.reset()
      for (const [topic, count] of pushes) this.inc({ topic }, count)
    },
  })
  const requests = new Map<string, Map<number, number>>()
  new Counter({
    name: name('requests_total'),
    help: 'REST requests by route and status',
    labelNames: ['route', 'status'] as const,
    registers,
    collect() {
      this.reset()
      for (const [route, byStatus] of requests) {
        for (const [status, count] of byStatus) this.inc({ route, status }, count)
      }
    },
  })
  const timesOf = plainHistogram(
    {
      ...{ name: name('request_seconds'), help: 'Latency of REST requests by route' },
      ...{ label: 'route', buckets: REQUEST_BUCKETS },
    },
    registry,
  )
  const fromBlock = plainHistogram(
    {
      name: name('block_to_push_seconds'),
      help: 'Time from the timestamp of a live block to the write of its pushes, once per block and socket',
      ...{ label: 'chain', buckets: PUSH_BUCKETS },
    },
    registry,
  )
  const fromAnnouncement = plainHistogram(
    {
      name: name('announcement_to_push_seconds'),
      help: 'Time from when the reader first heard of a live block to the write of its pushes, once per block and socket',
      ...{ label: 'chain', buckets: PUSH_BUCKETS },
    },
    registry,
  )
  return {
    /** Counts the responses of a route, and their latency. */
    countRequests: (route: string): CountRequest => {
      const byStatus = requests.get(route) ?? new Map<number, number>()
      requests.set(route, byStatus)
      const times = timesOf(route)
      return (status, ms) => {
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
        if (ms !== undefined) times.add(ms)
      }
    },
    pushTimes: (chain: string): PushTimes => ({
      fromBlock: fromBlock(chain),
      fromAnnouncement: fromAnnouncement(chain),
    }),
    sockets: new Gauge({ name: name('sockets'), help: 'Open WebSocket connections', registers }),
    subscriptions: new Gauge({ name: name('subscriptions'), help: 'Live subscriptions', registers }),
    countPush: (topic: string): void => {
      pushes.set(topic, (pushes.get(topic) ?? 0) + 1)
    },
    conflations: new Counter({
      name: name('conflations_total'),
      help: 'State pushes conflated: replaced by a later one before the client read them',
      registers,
    }),
    quotaRefusals: new Counter({
      name: name('quota_refusals_total'),
      help: 'Requests refused because credit units were exhausted or could not be counted',
      labelNames: ['reason'] as const,
      registers,
    }),
    slowReaders: new Counter({
      name: name('slow_readers_total'),
      help: 'WebSocket connections closed because the client read too slowly',
      registers,
    }),
  }
}

/** Figures that are asked for when they are scraped. */
export function watchMarketView(
  registry: Registry,
  chains: readonly string[],
  view: {
    overlaySize(chain: string): number
    overlayBytes(chain: string): number
    head(chain: string): { readonly time: number } | undefined
  },
): void {
  const registers = [registry]
  new Gauge({
    name: 'chaintape_gateway_overlay_documents',
    help: 'Documents in the overlay: not yet written to all stores',
    labelNames: ['chain'] as const,
    registers,
    collect() {
      for (const chain of chains) this.set({ chain }, view.overlaySize(chain))
    },
  })
  new Gauge({
    name: 'chaintape_gateway_overlay_bytes',
    help: 'Approximate memory of the overlay; limited by gateway.overlay_bytes over all chains',
    labelNames: ['chain'] as const,
    registers,
    collect() {
      for (const chain of chains) this.set({ chain }, view.overlayBytes(chain))
    },
  })
  new Gauge({
    name: 'chaintape_gateway_chain_lag_seconds',
    help: 'Age of the latest block served',
    labelNames: ['chain'] as const,
    registers,
    collect() {
      for (const chain of chains) {
        const head = view.head(chain)
        if (head !== undefined) this.set({ chain }, Date.now() / 1_000 - head.time)
      }
    },
  })
}
