import { setTimeout as sleep } from 'node:timers/promises'

export type RetryOptions = {
  readonly signal: AbortSignal
  readonly isRetryable: (error: unknown) => boolean
  readonly onRetry: (error: unknown, attempt: number, delayMs: number) => void
  readonly firstDelayMs?: number
  readonly maxDelayMs?: number
}

/** Runs `work` until it succeeds, fails for good, or the signal aborts. Delays grow with jitter; each retry is reported. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, isRetryable, onRetry, firstDelayMs = 100, maxDelayMs = 5_000 } = options
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || !isRetryable(error)) throw error
      const ceiling = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1))
      const delayMs = Math.round(ceiling * (0.5 + Math.random() / 2))
      onRetry(error, attempt, delayMs)
      await sleep(delayMs, undefined, { signal })
    }
  }
}
