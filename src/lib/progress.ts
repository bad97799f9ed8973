import type { Logger } from './logger.ts'
import { Pace } from './pace.ts'

const REPORT_EVERY_MS = 5_000
const REDRAW_EVERY_MS = 200
const BAR_WIDTH = 30

type Terminal = { readonly isTTY?: boolean; write(text: string): unknown }

/**
 * Reports the progress of a long task: a bar on a terminal, log lines elsewhere. `now` is in milliseconds. Tasks
 * shorter than one reporting interval are not reported.
 */
export class Progress {
  readonly #what: string
  readonly #logger: Logger
  readonly #terminal: Terminal
  readonly #now: () => number
  #pace = new Pace()
  #secondsLeft: number | undefined
  #startedAt: number | undefined
  #startedFrom = 0
  #reportedAt = 0
  #hasBar = false

  constructor(what: string, logger: Logger, terminal: Terminal = process.stderr, now = Date.now) {
    this.#what = what
    this.#logger = logger
    this.#terminal = terminal
    this.#now = now
  }

  /** Time left at the pace of the last minute; undefined without an estimate. */
  get secondsLeft(): number | undefined {
    return this.#secondsLeft
  }

  /** The first call sets the start of the bar. */
  update(done: number, total: number): void {
    const now = this.#now()
    if (this.#startedAt === undefined) {
      this.#startedAt = now
      this.#startedFrom = done
      this.#pace = new Pace()
      this.#reportedAt = now
    }
    this.#pace.observe(done, now)
    const isBar = this.#terminal.isTTY === true
    if (done < total && now - this.#reportedAt < (isBar ? REDRAW_EVERY_MS : REPORT_EVERY_MS)) return
    const wasReported = this.#reportedAt > this.#startedAt
    this.#reportedAt = now
    this.#secondsLeft = this.#pace.secondsLeft(done, total, now)
    const perSecond = Math.round(this.#pace.perSecond(done, now))
    if (done < total || wasReported) this.#report(isBar, done, total, perSecond, this.#secondsLeft)
    if (done >= total) this.#startedAt = undefined
  }

  #report(
    isBar: boolean,
    done: number,
    total: number,
    perSecond: number,
    etaSeconds: number | undefined,
  ): void {
    if (!isBar) {
      const facts = { done, total, per_second: perSecond, eta_seconds: etaSeconds }
      this.#logger.info(facts, done < total ? 'Catching up' : 'Caught up')
      return
    }
    const way = total - this.#startedFrom
    const share = way <= 0 ? 1 : (done - this.#startedFrom) / way
    const bar = '\u2588'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '\u2591')
    const eta = etaSeconds === undefined ? '?' : formatSeconds(etaSeconds)
    const line = `${this.#what} ${bar} ${Math.floor(share * 100)} %  ${done}/${total}  ${perSecond}/s  ${eta} left`
    this.#terminal.write(`\r\u001b[2K${line}${done < total ? '' : '\n'}`)
    this.#hasBar = done < total
  }

  /** Ends the line of an unfinished bar. */
  end(): void {
    if (this.#hasBar) this.#terminal.write('\n')
  }
}

function formatSeconds(seconds: number): string {
  const hours = Math.floor(seconds / 3_600)
  const minutes = Math.floor((seconds % 3_600) / 60)
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}
