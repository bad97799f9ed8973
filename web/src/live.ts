import { type Accessor, createEffect, createSignal, onCleanup } from 'solid-js'

/** How often a hidden page takes in what has arrived: it gets no frames. */
const HIDDEN_MS = 500

export type Polled<T> = {
  /** The latest answer for the current source; undefined until it is there. */
  readonly value: Accessor<T | undefined>
  readonly error: Accessor<unknown>
}

export type PollOptions = {
  /** Reads again so long after each answer. */
  readonly everyMs?: number
  /** Shows the value of the former source until the next one has answered. */
  readonly keepsFormer?: boolean
}

/**
 * Reads when the source changes. A failed attempt leaves the last value on the page, beside the error. An undefined source
 * reads nothing.
 */
export function createPolled<Source, T>(
  source: Accessor<Source | undefined>,
  read: (source: Source, signal: AbortSignal) => Promise<T>,
  { everyMs, keepsFormer = false }: PollOptions = {},
): Polled<T> {
  const [value, setValue] = createSignal<T>()
  const [error, setError] = createSignal<unknown>()
  createEffect(() => {
    const current = source()
    if (!keepsFormer) setValue(undefined)
    setError(undefined)
    if (current === undefined) return
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const attempt = async (): Promise<void> => {
      try {
        const answer = await read(current, stop.signal)
        if (stop.signal.aborted) return
        setValue(() => answer)
        setError(undefined)
      } catch (failure) {
        if (stop.signal.aborted) return
        setError(() => failure)
      }
      if (everyMs !== undefined) timer = setTimeout(() => void attempt(), everyMs)
    }
    void attempt()
    onCleanup(() => {
      stop.abort()
      clearTimeout(timer)
    })
  })
  return { value, error }
}

/**
 * Follows a stream while the source is defined. Items are taken in once per frame, together, so that the work of a frame
 * does not grow with the number of messages. Returns the error that ended the stream.
 */
export function followStream<Source, Item>(
  source: Accessor<Source | undefined>,
  open: (source: Source, signal: AbortSignal) => AsyncIterable<Item>,
  onItems: (items: readonly Item[], source: Source) => void,
): Accessor<unknown> {
  const [error, setError] = createSignal<unknown>()
  createEffect(() => {
    const current = source()
    setError(undefined)
    if (current === undefined) return
    const stop = new AbortController()
    let waiting: Item[] = []
    const takeIn = (): void => {
      const items = waiting
      waiting = []
      if (!stop.signal.aborted) onItems(items, current)
    }
    const follow = async (): Promise<void> => {
      for await (const item of open(current, stop.signal)) {
        if (stop.signal.aborted) return
        waiting.push(item)
        if (waiting.length === 1) atNextFrame(takeIn)
      }
    }
    follow().catch((failure: unknown) => {
      if (!stop.signal.aborted) setError(() => failure)
    })
    onCleanup(() => stop.abort())
  })
  return error
}

function atNextFrame(work: () => void): void {
  if (document.hidden) setTimeout(work, HIDDEN_MS)
  else requestAnimationFrame(work)
}

/** The time in Unix seconds, for ages on the page. */
export function createClock(everyMs = 1_000): Accessor<number> {
  const [now, setNow] = createSignal(Date.now() / 1_000)
  const timer = setInterval(() => setNow(Date.now() / 1_000), everyMs)
  onCleanup(() => clearInterval(timer))
  return now
}
