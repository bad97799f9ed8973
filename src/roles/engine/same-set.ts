import { decodeChangeSet } from '../../wire/change-codec.ts'

/**
 * Whether a set that was folded again is the published one. If an earlier version of this program published it, it may
 * lack fields that this version adds, but nothing else may differ.
 */
export function isSameSet(folded: Uint8Array, published: Uint8Array): boolean {
  if (Buffer.compare(folded, published) === 0) return true
  const isOfEarlierVersion = (published[0] ?? 0) < (folded[0] ?? 0)
  return isOfEarlierVersion && hasAllOf(decodeChangeSet(folded), decodeChangeSet(published))
}

/** Whether `later` has every field of `earlier` with the same value. */
export function hasAllOf(later: unknown, earlier: unknown): boolean {
  if (earlier === undefined) return true
  if (typeof earlier !== 'object' || earlier === null) return Object.is(later, earlier)
  if (typeof later !== 'object' || later === null) return false
  if (Array.isArray(earlier) && (later as readonly unknown[]).length !== earlier.length) return false
  return Object.entries(earlier).every(([name, field]) =>
    hasAllOf((later as Readonly<Record<string, unknown>>)[name], field),
  )
}
