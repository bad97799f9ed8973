/** All of something, in millionths. */
export const WHOLE_PPM = 1_000_000

/** What a part is of the whole, in millionths, and at most all of it. */
export function partPpm(part: bigint, whole: bigint): number {
  if (part <= 0n) return 0
  return part >= whole ? WHOLE_PPM : Number((part * BigInt(WHOLE_PPM)) / whole)
}
