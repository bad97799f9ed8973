import type { Attempt } from './supervise.ts'

const LOOK_EVERY_MS = 5_000

/** Compares the end of a log with the role's position for the duration of the attempt. */
export function watchLag(
  { common, observeLag }: Pick<Attempt, 'common' | 'observeLag'>,
  end: () => Promise<number>,
  position: () => number,
): void {
  const look = async (): Promise<void> => {
    try {
      observeLag(await end(), position)
    } catch (error) {
      // Without the log the lag is unknown; chaintape_nats_connected reports the outage.
      common.logger.debug({ err: error }, 'Log end unreadable')
    }
  }
  const looking = setInterval(look, LOOK_EVERY_MS)
  looking.unref()
  common.shutdown.onClose('lag', () => clearInterval(looking))
}
