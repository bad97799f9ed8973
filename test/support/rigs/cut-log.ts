import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Cuts the end off a stream's newest block file, as a power failure does to a NATS server that syncs lazily. The server
 * must be dead.
 */
export function cutLog(dataDir: string, stream: string, bytes: number): void {
  const folder = join(dataDir, 'nats/store/jetstream/$G/streams', stream, 'msgs')
  const numbers = readdirSync(folder)
    .filter((name) => name.endsWith('.blk'))
    .map((name) => Number.parseInt(name, 10))
  const file = join(folder, `${Math.max(...numbers)}.blk`)
  truncateSync(file, Math.max(0, statSync(file).size - bytes))
}
