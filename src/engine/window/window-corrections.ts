import type { Change, Windows } from '../../domain/change.ts'
import type { Restored } from '../../state/undone-values.ts'
import { published } from './published.ts'
import type { Subjects } from './subjects.ts'

/**
 * The effect of an undo on windows. A token without windows of its own shares those of its pair again, which replace
 * them.
 */
export function windowCorrections(restored: readonly Restored[], { rows }: Subjects): Change[] {
  const read = (bytes: Uint8Array | undefined): Windows | undefined => bytes && published(rows.view(bytes))
  const all = restored
    .filter(({ table }) => table === rows.name)
    .map((entry) => ({ was: read(entry.undone[0]), is: read(entry.restored) }))
    // Windows that lost their name when a token became a quote asset are not published.
    .map(({ was, is }) => ({ was: was && named(was), is: is && named(is) }))
    .sort((a, b) => (orderOf(a.is ?? a.was) < orderOf(b.is ?? b.was) ? -1 : 1))
  const standing = all.flatMap(({ is }) => is ?? [])
  const tokens = new Set(standing.map(({ token }) => token))
  const gone = all.flatMap(({ was, is }): Change[] => {
    if (was === undefined || is !== undefined) return []
    const { pair, token } = was
    if (token === undefined || !tokens.has(token))
      return [{ type: 'windowsRemoved', windows: { pair, token } }]
    return pair === undefined ? [] : [{ type: 'windowsRemoved', windows: { pair, token: undefined } }]
  })
  return [...gone, ...standing.map((windows): Change => ({ type: 'windows', windows }))]
}

function named(windows: Windows): Windows | undefined {
  return windows.pair === undefined && windows.token === undefined ? undefined : windows
}

/** Pairs first, each kind by id. */
function orderOf(windows: Windows | undefined): string {
  return windows?.pair === undefined ? `t${windows?.token}` : `p${windows.pair}`
}
