import type { LatestValues } from '../../../log/latest-values.ts'

/** Successful requests, and their cost. */
export type Used = { readonly requests: number; readonly cu: number }

export type DayUsage = { readonly day: string; readonly operations: ReadonlyMap<string, Used> }

type Entry = {
  readonly day: string
  readonly keyId: string
  readonly operations: Map<string, { requests: number; cu: number }>
  changes: number
  written: number
  writing: Promise<void> | undefined
}

/** A request that began before midnight is counted on the day it began, even if it ends later. */
const KEEP_AFTER_DAY_MS = 3_600_000

/**
 * What each key used at this gateway, by day and operation. Each (day, key, gateway) has one value that only its gateway
 * writes, with totals and not differences: writing it twice, or again after a failure, changes nothing.
 */
export class UsageLedger {
  readonly #values: Pick<LatestValues, 'put'>
  readonly #gateway: string
  /** By day, then by key: names that are there already, so that no request makes one. */
  readonly #entries = new Map<string, Map<string, Entry>>()

  constructor(values: Pick<LatestValues, 'put'>, gateway: string) {
    this.#values = values
    this.#gateway = gateway
  }

  count(day: string, keyId: string, operation: string, cu: number): void {
    const entries = this.#entries.get(day) ?? new Map<string, Entry>()
    let entry = entries.get(keyId)
    if (entry === undefined) {
      entry = { day, keyId, operations: new Map(), changes: 0, written: 0, writing: undefined }
      this.#entries.set(day, entries.set(keyId, entry))
    }
    let used = entry.operations.get(operation)
    if (used === undefined) {
      used = { requests: 0, cu: 0 }
      entry.operations.set(operation, used)
    }
    used.requests++
    used.cu += cu
    entry.changes++
  }

  /** Makes what was counted for a key durable. */
  async flush(keyId: string): Promise<void> {
    await this.#writeAll((entry) => entry.keyId === keyId)
  }

  async flushAll(now: number): Promise<void> {
    await this.#writeAll(() => true)
    for (const [day, entries] of this.#entries) {
      if (now - Date.parse(day) <= 86_400_000 + KEEP_AFTER_DAY_MS) continue
      for (const [keyId, entry] of entries) if (entry.written === entry.changes) entries.delete(keyId)
      if (entries.size === 0) this.#entries.delete(day)
    }
  }

  async #writeAll(isWanted: (entry: Entry) => boolean): Promise<void> {
    const all = [...this.#entries.values()].flatMap((entries) => [...entries.values()])
    const due = all.filter((entry) => entry.written < entry.changes && isWanted(entry))
    await Promise.all(due.map((entry) => this.#write(entry)))
  }

  async #write(entry: Entry): Promise<void> {
    // One after the other: an older total must not overtake a newer one.
    while (entry.writing !== undefined) await entry.writing.catch(() => undefined)
    const { changes } = entry
    if (entry.written >= changes) return
    const body = Buffer.from(JSON.stringify(Object.fromEntries(entry.operations)))
    entry.writing = this.#values
      .put(usageName(entry.day, entry.keyId, this.#gateway), body)
      .then(() => {
        entry.written = changes
      })
      .finally(() => {
        entry.writing = undefined
      })
    await entry.writing
  }
}

/** The month is a part of its own, so that a month can be asked for. */
function usageName(day: string, keyId: string, gateway: string): string {
  return `${day.slice(0, 7)}.${day.slice(8)}.${keyId}.${gateway}`
}

/** The usage of a key that all gateways have written, by day, oldest first. */
export async function readUsage(
  values: Pick<LatestValues, 'read'>,
  keyId: string,
  month: string,
): Promise<DayUsage[]> {
  const days = new Map<string, Map<string, Used>>()
  for (const { day, operations } of await readParts(values, keyId, month)) {
    const sums = days.get(day) ?? new Map<string, Used>()
    days.set(day, sums)
    for (const [operation, { requests, cu }] of operations) {
      const sum = sums.get(operation) ?? { requests: 0, cu: 0 }
      sums.set(operation, { requests: sum.requests + requests, cu: sum.cu + cu })
    }
  }
  return [...days]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, operations]) => ({ day, operations: new Map([...operations].sort()) }))
}

/** The units of a key that each gateway has written as spent in a month. */
export async function readSpentByGateway(
  values: Pick<LatestValues, 'read'>,
  keyId: string,
  month: string,
): Promise<Map<string, number>> {
  const spent = new Map<string, number>()
  for (const { gateway, operations } of await readParts(values, keyId, month)) {
    const sum = [...operations.values()].reduce((total, { cu }) => total + cu, 0)
    spent.set(gateway, (spent.get(gateway) ?? 0) + sum)
  }
  return spent
}

type Part = {
  readonly day: string
  readonly gateway: string
  readonly operations: ReadonlyMap<string, Used>
}

async function readParts(values: Pick<LatestValues, 'read'>, keyId: string, month: string): Promise<Part[]> {
  return (await values.read(`${month}.*.${keyId}.*`)).map(({ name, body }) => {
    const [, day = '', , gateway = ''] = name.split('.')
    const operations = JSON.parse(Buffer.from(body).toString()) as Record<string, Used>
    return { day: `${month}-${day}`, gateway, operations: new Map(Object.entries(operations)) }
  })
}
