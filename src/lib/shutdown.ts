import type { Logger } from './logger.ts'

type Closer = { readonly name: string; readonly close: () => Promise<void> | void }

/**
 * The end of a process. `signal` makes every loop finish its current step; then all registered resources are
 * closed, latest first. A second request, or a close that hangs, ends the process at once.
 */
export class Shutdown {
  readonly signal: AbortSignal
  readonly #controller = new AbortController()
  readonly #closers: Closer[] = []
  readonly #logger: Logger
  readonly #graceMs: number
  #finished: Promise<void> | undefined

  /** With a `parent`, its signal aborts with the parent's; the creator calls `finish`. */
  constructor(logger: Logger, options: { graceMs?: number; parent?: AbortSignal } = {}) {
    const { graceMs = 10_000, parent } = options
    const { signal } = this.#controller
    this.signal = parent === undefined ? signal : AbortSignal.any([signal, parent])
    this.#logger = logger
    this.#graceMs = graceMs
  }

  /** Registers something to close; the latest registered is closed first. */
  onClose(name: string, close: Closer['close']): void {
    this.#closers.push({ name, close })
  }

  listenToSignals(): void {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        if (this.#finished !== undefined) process.exit(1)
        this.#logger.info({ signal: name }, 'Shutting down')
        void this.finish().then(() => process.exit(process.exitCode ?? 0))
      })
    }
  }

  finish(): Promise<void> {
    this.#finished ??= this.#closeAll()
    return this.#finished
  }

  async #closeAll(): Promise<void> {
    const overdue = setTimeout(() => {
      this.#logger.error({ grace_ms: this.#graceMs }, 'Shutdown timed out')
      process.exit(1)
    }, this.#graceMs)
    overdue.unref()
    this.#controller.abort(new Error('shutting down'))
    for (const { name, close } of this.#closers.reverse()) {
      try {
        await close()
      } catch (error) {
        this.#logger.error({ err: error, resource: name }, 'Close failed')
      }
    }
    clearTimeout(overdue)
  }
}
