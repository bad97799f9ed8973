type Month = { readonly name: string; readonly endsAt: number; readonly seconds: number }

/** Caches the last result: it is needed several times per request. */
let lastDay = { start: 0, name: '1970-01-01' }
let lastMonth: Month & { readonly start: number } = monthOf(0)

const DAY_MS = 86_400_000

/** Quotas are for calendar months, UTC; `endsAt` is in Unix seconds. */
export function billingMonth(nowMs: number): Month {
  if (nowMs < lastMonth.start || nowMs >= lastMonth.endsAt * 1_000) lastMonth = monthOf(nowMs)
  return lastMonth
}

/** The day that usage is counted on, UTC. */
export function billingDay(nowMs: number): string {
  if (nowMs < lastDay.start || nowMs >= lastDay.start + DAY_MS) {
    lastDay = { start: nowMs - (nowMs % DAY_MS), name: new Date(nowMs).toISOString().slice(0, 10) }
  }
  return lastDay.name
}

function monthOf(nowMs: number): typeof lastMonth {
  const now = new Date(nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const [start, end] = [Date.UTC(year, month), Date.UTC(year, month + 1)]
  const name = now.toISOString().slice(0, 7)
  return { start, name, endsAt: end / 1_000, seconds: (end - start) / 1_000 }
}
