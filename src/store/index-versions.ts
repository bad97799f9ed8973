import { encodeChangeSet } from '../wire/change-codec.ts'
import { type ChangeSetIndex, indexChangeSet } from '../wire/change-index.ts'
import type { Versions } from './versioned.ts'

/** Indexes changes that did not come from a message, as if they had. */
export function indexVersions({ chain, seq, changes }: Versions): ChangeSetIndex {
  const head = { number: 0, hash: '', time: 0 }
  return indexChangeSet(encodeChangeSet({ chain, seq, cause: 'block', head, finalNumber: 0, changes }))
}
