import type { Recovery } from './storm.ts'

/** Times from a fault until its effects were over, by kind; faults that came two at a time are a kind of their own. */
export function recoveryTable(recoveries: readonly Recovery[]): string {
  const kinds = new Map<string, Recovery[]>()
  const add = (kind: string, recovery: Recovery): void => {
    kinds.set(kind, [...(kinds.get(kind) ?? []), recovery])
  }
  for (const recovery of recoveries) {
    const { strikes } = recovery
    const [first] = strikes
    if (first === undefined) continue
    if (strikes.length > 1) add('two at a time', recovery)
    else {
      add(first.kind, recovery)
      if (first.isKill) add('all single kills', recovery)
    }
  }
  const header = [
    'recovery (ms)',
    'count',
    'served p50',
    'p99',
    'max',
    'by both p50',
    'p99',
    'stored p50',
    'p99',
  ]
  const rows = [...kinds]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, all]) => [
      ...[kind, `${all.length}`],
      ...percentiles(all.map(({ servedMs }) => servedMs)),
      `${Math.max(...all.map(({ servedMs }) => servedMs))}`,
      ...percentiles(all.map(({ bothMs }) => bothMs)),
      ...percentiles(all.map(({ storedMs }) => storedMs)),
    ])
  return [header, ...rows]
    .map(([kind = '', ...figures]) => kind.padEnd(20) + figures.map((text) => text.padStart(12)).join(''))
    .join('\n')
}

function percentiles(all: readonly number[]): string[] {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return [at(0.5), at(0.99)].map((ms) => `${ms}`)
}
