/** Quotas are for calendar months, UTC; `endsAt` is in Unix seconds. */
export function billingMonth(now: Date): {
  readonly name: string
  readonly endsAt: number
  readonly seconds: number
} {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const [start, end] = [Date.UTC(year, month), Date.UTC(year, month + 1)]
  return { name: now.toISOString().slice(0, 7), endsAt: end / 1_000, seconds: (end - start) / 1_000 }
}
