import { ChaintapeError } from '../domain/errors.ts'
import type { ChainSource } from './source.ts'

/** The first block at or after this time (Unix seconds); undefined if the chain has not reached it. */
export async function firstBlockAt(
  source: Pick<ChainSource, 'head' | 'headerAt'>,
  time: number,
): Promise<number | undefined> {
  const head = await source.head()
  if (head.time < time) return undefined
  // Everything below `low` is earlier; `high` is not.
  let low = 0
  let high = head.number
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const header = await source.headerAt(middle)
    if (header === undefined)
      throw new ChaintapeError('node_unavailable', `no node has block ${middle}, so its time is not known`)
    if (header.time < time) low = middle + 1
    else high = middle
  }
  return low
}
