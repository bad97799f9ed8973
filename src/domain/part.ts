/** The whole, in millionths. */
export const WHOLE_PPM = 1_000_000

/** The ratio of a part to the whole in millionths, capped at the whole. */
export function partPpm(part: bigint, whole: bigint): number {
  if (part <= 0n) return 0
  return part >= whole ? WHOLE_PPM : Number((part * BigInt(WHOLE_PPM)) / whole)
}
