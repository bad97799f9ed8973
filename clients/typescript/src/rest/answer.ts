export type RequestOptions = {
  readonly signal?: AbortSignal | undefined
  /** Deadline of the call, with all its attempts and waits. */
  readonly timeoutMs?: number | undefined
  /** Attempts after the first one. */
  readonly retries?: number | undefined
}

/** What the headers of a response report. A field is undefined if the gateway did not send it. */
export type AnswerMeta = {
  readonly status: number
  /** Credit units charged for this response. */
  readonly cuCost: number | undefined
  readonly cuRemaining: number | undefined
  /** Unix seconds. */
  readonly cuReset: number | undefined
  /** Requests and credit units left, each with the seconds until its quota is full again. */
  readonly limits: { readonly [quota: string]: { readonly remaining: number; readonly resetSeconds: number } }
  readonly retryAfterMs: number | undefined
  /** Freshness: the latest block of the chain, its time in Unix seconds, and its age. */
  readonly block: number | undefined
  readonly blockTime: number | undefined
  readonly lagMs: number | undefined
  /** Candles: where this history ends, for a subscription that continues it. */
  readonly cursor: string | undefined
  /** Ids that are missing in a batch because they are still being looked up. */
  readonly pendingIds: readonly string[]
  readonly unavailableChains: readonly string[]
  /** Holders: false while the list is incomplete, with the reason if it is known. */
  readonly holdersComplete: boolean | undefined
  readonly holdersReason: string | undefined
}

/** The response of an operation: await it for the data, or `withMeta()` for the data and the headers. */
export interface Answer<T> extends Promise<T> {
  withMeta(): Promise<AnswerWithMeta<T>>
}

export type AnswerWithMeta<T> = { readonly data: T; readonly meta: AnswerMeta }

export function answerOf<T>(pending: Promise<AnswerWithMeta<T>>): Answer<T> {
  const data = pending.then((answer) => answer.data)
  return Object.assign(data, {
    withMeta: () => {
      // The caller awaits the other promise: a rejection of this one is not unhandled.
      data.catch(() => undefined)
      return pending
    },
  })
}

export function readMeta(status: number, headers: Headers): AnswerMeta {
  const complete = headers.get('x-holders-complete')
  return {
    status,
    cuCost: numberOf(headers, 'x-cu-cost'),
    cuRemaining: numberOf(headers, 'x-cu-remaining'),
    cuReset: numberOf(headers, 'x-cu-reset'),
    limits: readLimits(headers.get('ratelimit') ?? ''),
    retryAfterMs: readRetryAfter(headers.get('retry-after')),
    block: numberOf(headers, 'x-block'),
    blockTime: numberOf(headers, 'x-block-time'),
    lagMs: numberOf(headers, 'x-lag-ms'),
    cursor: headers.get('x-cursor') ?? undefined,
    pendingIds: listOf(headers, 'x-pending-ids'),
    unavailableChains: listOf(headers, 'x-unavailable-chains'),
    holdersComplete: complete === null ? undefined : complete === 'true',
    holdersReason: headers.get('x-holders-reason') ?? undefined,
  }
}

function numberOf(headers: Headers, name: string): number | undefined {
  const text = headers.get(name)
  const value = text === null || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

function listOf(headers: Headers, name: string): string[] {
  const items = (headers.get(name) ?? '').split(',').map((item) => item.trim())
  return items.filter((item) => item !== '')
}

/** `"rate";r=99;t=1, "cu";r=9999995;t=86400` */
function readLimits(text: string): AnswerMeta['limits'] {
  const entries = [...text.matchAll(/"([^"]+)";r=(\d+)(?:;t=(\d+))?/g)].map(
    ([, name = '', remaining, reset]) =>
      [name, { remaining: Number(remaining), resetSeconds: Number(reset ?? 0) }] as const,
  )
  return Object.fromEntries(entries)
}

/** Proxies may send a date instead of seconds. */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined
  const seconds = Number(text)
  if (Number.isFinite(seconds) && text.trim() !== '') return Math.max(0, seconds * 1_000)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}
