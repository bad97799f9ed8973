/** Progress, in millionths of the goal, at which a bonding curve counts as almost graduated. */
export const ALMOST_PPM = 800_000

export function isAlmostThere(progressPpm: number | undefined): progressPpm is number {
  return progressPpm !== undefined && progressPpm >= ALMOST_PPM
}
