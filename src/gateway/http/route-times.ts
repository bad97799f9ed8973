import type { Metric, Registry } from 'prom-client'

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Times of one route: how many fell into each bucket, and their sum. */
export class RouteTimes {
  readonly counts = new Float64Array(BUCKETS.length + 1)
  seconds = 0

  add(ms: number): void {
    const seconds = ms / 1_000
    let bucket = 0
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket++
    this.counts[bucket] = (this.counts[bucket] as number) + 1
    this.seconds += seconds
  }
}

/**
 * A Prometheus histogram that counts in plain numbers and is put together when scraped: `observe` of prom-client hashes
 * the labels of every observation, at a twentieth of the cost of a cached response.
 */
export function routeHistogram(
  { name, help }: { readonly name: string; readonly help: string },
  registry: Registry,
): (route: string) => RouteTimes {
  const routes = new Map<string, RouteTimes>()
  const values = () =>
    Array.from(routes).flatMap(([route, { counts, seconds }]) => {
      let count = 0
      const buckets = Array.from(counts, (each, bucket) => {
        count += each
        return {
          metricName: `${name}_bucket`,
          labels: { le: BUCKETS[bucket] ?? '+Inf', route },
          value: count,
        }
      })
      if (count === 0) return []
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: { route }, value: seconds },
        { metricName: `${name}_count`, labels: { route }, value: count },
      ]
    })
  const get = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: values() })
  registry.registerMetric({ name, get, reset: () => routes.clear() } as unknown as Metric)
  return (route) => {
    const times = routes.get(route) ?? new RouteTimes()
    routes.set(route, times)
    return times
  }
}
