import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void

/** Resident bytes of this process without what is only waiting to be collected. */
export function settledMemory(): number {
  for (let times = 0; times < 3; times++) collect({ type: 'major', flavor: 'last-resort' })
  return process.memoryUsage.rss()
}
