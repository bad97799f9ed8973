import type { MarketReader } from '../../market/market-view.ts'
import { readSnapshot } from './snapshot.ts'
import type { Source } from './sources.ts'
import type { WatchedPairs } from './watched-pairs.ts'

/** More would keep other work waiting. */
const AT_A_TIME = 200

/** Reads the documents that pushes of a chain are built from again, after the chain switched to another generation. */
export async function refreshWatched(
  chain: string,
  watched: WatchedPairs,
  view: MarketReader,
): Promise<void> {
  const { pairs, tokens } = watched.refsOf(chain)
  const sources: Source[] = [
    ...pairs.map((ref) => ({ kind: 'pair' as const, key: `pair ${ref.address}`, chain, ref })),
    ...tokens.map((ref) => ({ kind: 'token' as const, key: `token ${ref.address}`, chain, ref })),
  ]
  for (let start = 0; start < sources.length; start += AT_A_TIME)
    await readSnapshot(sources.slice(start, start + AT_A_TIME), view, watched)
}
