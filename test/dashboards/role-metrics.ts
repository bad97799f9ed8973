export type RoleMetric = {
  readonly type: string
  readonly labels: ReadonlySet<string>
  readonly hasValues: boolean
}

/** The metrics of an exposition in Prometheus' text format, by name. */
export function readMetrics(text: string, into: Map<string, RoleMetric>): void {
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const values = [
      ...text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? \\S+$`, 'gm')),
    ]
    const labels = values.flatMap(([, pairs = '']) =>
      Array.from(pairs.matchAll(/(\w+)="/g), ([, label = '']) => label),
    )
    const known = into.get(name)
    into.set(name, {
      type,
      labels: new Set([...(known?.labels ?? []), ...labels]),
      hasValues: (known?.hasValues ?? false) || values.length > 0,
    })
  }
}

/** The metric that a name in a query belongs to: a histogram has three names. */
export function metricOf(metrics: ReadonlyMap<string, RoleMetric>, name: string): RoleMetric | undefined {
  const histogram = metrics.get(name.replace(/_(bucket|sum|count)$/, ''))
  return metrics.get(name) ?? (histogram?.type === 'histogram' ? histogram : undefined)
}
