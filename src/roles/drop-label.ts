import type { Metric, Registry } from 'prom-client'

/** Removes all values of a chain that is not measured any more, which would stay as they are for ever. */
export async function dropLabel(registry: Registry, chain: string): Promise<void> {
  for (const metric of registry.getMetricsAsArray()) {
    const { values } = await (metric as unknown as Metric).get()
    for (const { labels } of values) {
      const { le: _, ...own } = labels as Readonly<Record<string, string | number>>
      if (own['chain'] === chain) (metric as { remove?(labels: object): void }).remove?.(own)
    }
  }
}
