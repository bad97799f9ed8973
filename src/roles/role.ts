import type { Config } from '../config/schema.ts'
import type { AdminAnswer, Readiness } from '../lib/admin-server.ts'
import type { Common } from '../lib/common.ts'

export type RoleName = 'reader' | 'engine' | 'writer' | 'gateway'

/** A started role: `done` resolves once it has stopped as asked, and rejects when it cannot go on. */
export type RunningRole = {
  readonly readiness: Readiness
  readonly done: Promise<void>
  /** Lines for `/readyz` that do not decide whether the role is ready. */
  readonly details?: () => readonly string[]
  /** Pages on the role's admin port beside health and metrics. */
  readonly answer?: AdminAnswer
}

/** Builds the role's I/O objects, joins them and starts it. What it opens it registers with `common.shutdown`. */
export type StartRole = (config: Config, common: Common) => Promise<RunningRole>
