/**
 * The state is folded again from BLOCKS after a crash, so a late commit costs about as much time at the next start as it took to
 * fold what was not committed. An early one writes the rows of busy pairs again and again, and journals of blocks that are final soon.
 */
export const COMMIT_EVERY_MS = 5_000

/** Changes wait in memory until they are committed, and the time that a commit takes delays the next block. */
const MAX_UNCOMMITTED_BYTES = 128_000_000

export function isCommitDue(uncommittedBytes: number, ageMs: number): boolean {
  return uncommittedBytes >= MAX_UNCOMMITTED_BYTES || ageMs >= COMMIT_EVERY_MS
}
