import type { Registry } from 'prom-client'
import type { Logger } from './logger.ts'
import type { Shutdown } from './shutdown.ts'

/** What every part with a life of its own is handed; there are no module-level singletons. */
export type Common = {
  readonly logger: Logger
  readonly metrics: Registry
  readonly shutdown: Shutdown
}
