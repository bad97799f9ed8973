import type { Attempt } from './supervise.ts'

const LOOK_EVERY_MS = 5_000

/** Compares the end of a log with where the role is, for as long as the attempt lasts. */
export function watchLag(
  { common, observeLag }: Pick<Attempt, 'common' | 'observeLag'>,
  end: () => Promise<number>,
  position: () => number,
): void {
  const look = async (): Promise<void> => {
    try {
      observeLag(await end(), position)
    } catch (error) {
      // Without the log nothing can be said; that it is away is in chaintape_nats_connected.
      common.logger.debug({ err: error }, 'Log end unreadable')
    }
  }
  const looking = setInterval(look, LOOK_EVERY_MS)
  looking.unref()
  common.shutdown.onClose('lag', () => clearInterval(looking))
}
