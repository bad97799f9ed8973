import type { LogTrimmer } from '../../log/log-trimmer.ts'

/** What a log keeps; a limit of 0 is none. */
export type LogLimits = { readonly max_age_seconds: number; readonly max_bytes: number }

export type Trimmed = {
  readonly bytes: number
  /** Frames beyond the limits that had to stay, because they are not stored elsewhere yet. */
  readonly heldBack: number
}

/** Drops what exceeds the limits of a log, as far as it is `durable`: stored elsewhere up to that sequence. */
export async function trimLog(
  trimmer: Pick<LogTrimmer, 'size' | 'lastBefore' | 'trim'>,
  { max_age_seconds, max_bytes }: LogLimits,
  durable: number,
  nowMs = Date.now(),
): Promise<Trimmed> {
  const { bytes, first, last } = await trimmer.size()
  // A log that was never written to.
  if (last === 0) return { bytes, heldBack: 0 }
  const tooOld =
    max_age_seconds === 0 ? 0 : await trimmer.lastBefore(new Date(nowMs - max_age_seconds * 1_000))
  // Frames differ in size, so this is an estimate, which the next call corrects.
  const excess = max_bytes === 0 ? 0 : Math.max(0, 1 - max_bytes / Math.max(1, bytes))
  const tooMuch = first - 1 + Math.ceil((last - first + 1) * excess)
  const wanted = Math.max(tooOld, tooMuch, first - 1)
  const upTo = Math.min(wanted, durable)
  if (upTo >= first) await trimmer.trim(upTo)
  return { bytes, heldBack: Math.max(0, wanted - Math.max(durable, first - 1)) }
}
