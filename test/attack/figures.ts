import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const PAGE_BYTES = 4_096
const SAMPLE_MS = 100
const MEGABYTE = 1_048_576
const STEADY_MS = 8_000
const STEADY_MB = 3

export type Figures = {
  /** p99 of the gateway's event loop delay, as the gateway reports it. */
  readonly loopP99Ms: number
  readonly loopMaxMs: number
  /** The most that its resident memory was above what it was in the beginning. */
  readonly growthMb: number
  readonly residentMb: number
  /** Share of the time that its main thread was runnable but had no CPU. */
  readonly waited: number
  /** The same of other processes: their waits are part of the latencies that honest clients measure. */
  readonly bystandersWaited: readonly number[]
}

/**
 * Waits until resident memory has stopped to grow by itself: a process takes what it needs for its usual work bit by
 * bit, and that must not be taken for what an attack makes it take.
 */
export async function settledMemory(pid: number, maxSeconds: number): Promise<void> {
  const endsAt = performance.now() + maxSeconds * 1_000
  let [level, since] = [residentBytes(pid), performance.now()]
  while (performance.now() < endsAt && performance.now() - since < STEADY_MS) {
    await sleep(SAMPLE_MS)
    const now = residentBytes(pid)
    if (now > level + STEADY_MB * MEGABYTE) [level, since] = [now, performance.now()]
  }
}

function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
}

function waitedNs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1])
}

/** Watches a gateway for a span of time. */
export class Watch {
  readonly #adminUrl: string
  readonly #residentBytes: () => number
  readonly #atStart: number
  /** The gateway first. */
  readonly #pids: readonly number[]
  readonly #waitedAtStart: readonly number[]
  readonly #began = performance.now()
  readonly #sampling: NodeJS.Timeout
  #peak: number

  private constructor(adminUrl: string, pid: number, bystanders: readonly number[]) {
    this.#adminUrl = adminUrl
    this.#residentBytes = () => residentBytes(pid)
    this.#atStart = this.#residentBytes()
    this.#peak = this.#atStart
    this.#pids = [pid, ...bystanders]
    this.#waitedAtStart = this.#pids.map(waitedNs)
    this.#sampling = setInterval(() => {
      this.#peak = Math.max(this.#peak, this.#residentBytes())
    }, SAMPLE_MS)
  }

  static async begin(adminUrl: string, pid: number, bystanders: readonly number[]): Promise<Watch> {
    // Each scrape resets the measurement.
    await loopDelays(adminUrl)
    return new Watch(adminUrl, pid, bystanders)
  }

  async end(): Promise<Figures> {
    clearInterval(this.#sampling)
    const { p99, max } = await loopDelays(this.#adminUrl)
    const tookNs = (performance.now() - this.#began) * 1e6
    const [waited = 0, ...bystandersWaited] = this.#pids.map(
      (pid, index) => (waitedNs(pid) - (this.#waitedAtStart[index] ?? 0)) / tookNs,
    )
    const peak = Math.max(this.#peak, this.#residentBytes())
    return {
      loopP99Ms: p99 * 1_000,
      loopMaxMs: max * 1_000,
      growthMb: (peak - this.#atStart) / MEGABYTE,
      residentMb: peak / MEGABYTE,
      ...{ waited, bystandersWaited },
    }
  }
}

async function loopDelays(adminUrl: string): Promise<{ p99: number; max: number }> {
  const text = await metricsOf(adminUrl)
  return {
    p99: metric(text, 'nodejs_eventloop_lag_p99_seconds'),
    max: metric(text, 'nodejs_eventloop_lag_max_seconds'),
  }
}

export async function metricsOf(adminUrl: string): Promise<string> {
  return (await fetch(`${adminUrl}/metrics`)).text()
}

export function metric(text: string, name: string): number {
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
  if (value === undefined) throw new Error(`the gateway does not report ${name}`)
  return Number(value)
}
