import type { Config } from '../config/schema.ts'
import type { AdminAnswer, Readiness } from '../lib/admin-server.ts'
import type { Common } from '../lib/common.ts'

export type RoleName = 'reader' | 'engine' | 'writer' | 'gateway' | 'reconciler'

/** A started role: `done` resolves after a requested stop, and rejects on a fatal error. */
export type RunningRole = {
  readonly readiness: Readiness
  readonly done: Promise<void>
  /** Lines for `/readyz` that do not affect readiness. */
  readonly details?: () => readonly string[]
  /** Paths on the role's admin port besides health and metrics. */
  readonly answer?: AdminAnswer
}

/** Builds, wires and starts the role's I/O objects, and registers the opened ones with `common.shutdown`. */
export type StartRole = (config: Config, common: Common) => Promise<RunningRole>
