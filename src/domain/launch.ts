/** Millionths of its goal from which on a bonding curve is nearly there. */
export const ALMOST_PPM = 800_000

export function isAlmostThere(progressPpm: number | undefined): progressPpm is number {
  return progressPpm !== undefined && progressPpm >= ALMOST_PPM
}
