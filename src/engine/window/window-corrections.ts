import type { Change, Windows } from '../../domain/change.ts'
import type { Restored } from '../../state/undone-values.ts'
import { published } from './published.ts'
import type { Subjects } from './subjects.ts'

/** What an undo makes of windows. A token that no longer has its own has those of its pair again: these replace them. */
export function windowCorrections(restored: readonly Restored[], { rows }: Subjects): Change[] {
  const read = (bytes: Uint8Array | undefined): Windows | undefined => bytes && published(rows.view(bytes))
  const all = restored
    .filter(({ table }) => table === rows.name)
    .map((entry) => ({ was: read(entry.undone[0]), is: read(entry.restored) }))
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

/** Pairs first, each kind by id. */
function orderOf(windows: Windows | undefined): string {
  return windows?.pair === undefined ? `t${windows?.token}` : `p${windows.pair}`
}
