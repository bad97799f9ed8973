import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void

/** All of it, at once. */
export function collectGarbage(): void {
  collect({ type: 'major', flavor: 'last-resort' })
}

/**
 * From here on nothing is collected by itself until there is twenty times as much: for a process that makes load and takes times,
 * as its own pauses would be taken for those of what it measures.
 */
export function collectSeldom(): void {
  setFlagsFromString('--heap-growing-percent=2000')
}
