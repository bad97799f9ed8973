import { collectGarbage } from '../collect-garbage.ts'

/** Resident bytes of this process without what is only waiting to be collected. */
export function settledMemory(): number {
  for (let times = 0; times < 3; times++) collectGarbage()
  return process.memoryUsage.rss()
}
