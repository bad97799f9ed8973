import type { Registry } from 'prom-client'
import type { Logger } from './logger.ts'
import type { Shutdown } from './shutdown.ts'

/** Dependencies of every long-lived part, passed explicitly instead of module-level singletons. */
export type Common = {
  readonly logger: Logger
  readonly metrics: Registry
  readonly shutdown: Shutdown
}
