/** State of a seeded generator (sfc32). Plain data, so that a copy of a market continues with the same numbers. */
export type Random = [number, number, number, number]

const WARM_UP = 12

export function seeded(seed: number): Random {
  const random: Random = [seed | 0, 0x9e3779b9 | 0, 0x243f6a88 | 0, 1]
  for (let round = 0; round < WARM_UP; round++) word(random)
  return random
}

/** Below one. Neither this nor what follows uses a function whose last digit depends on the machine. */
export function unit(random: Random): number {
  return word(random) / 2 ** 32
}

export function between(random: Random, low: number, high: number): number {
  return low + (high - low) * unit(random)
}

/** A whole number from `low` to `high`, both included. */
export function whole(random: Random, low: number, high: number): number {
  return low + Math.floor(unit(random) * (high - low + 1))
}

export function chance(random: Random, probability: number): boolean {
  return unit(random) < probability
}

export function pick<T>(random: Random, list: readonly T[]): T {
  const one = list[Math.floor(unit(random) * list.length)]
  if (one === undefined) throw new Error('nothing to pick from')
  return one
}

/** Undefined if nothing has a weight. */
export function pickWeighted<T>(
  random: Random,
  list: readonly T[],
  weightOf: (one: T) => number,
): T | undefined {
  const weights = list.map(weightOf)
  let left = unit(random) * weights.reduce((sum, weight) => sum + weight, 0)
  return list.find((_, at) => {
    left -= weights[at] ?? 0
    return left < 0
  })
}

/** Roughly normal, with a mean of zero and a deviation of one. */
export function bell(random: Random): number {
  let sum = -6
  for (let draw = 0; draw < 12; draw++) sum += unit(random)
  return sum
}

/** Mostly near `low`, seldom near `high`. */
export function skewed(random: Random, low: number, high: number): number {
  return low + (high - low) * unit(random) ** 3
}

function word(random: Random): number {
  const [a, b, c, counter] = random
  const sum = (((a + b) | 0) + counter) | 0
  random[3] = (counter + 1) | 0
  random[0] = b ^ (b >>> 9)
  random[1] = (c + (c << 3)) | 0
  random[2] = (((c << 21) | (c >>> 11)) + sum) | 0
  return sum >>> 0
}
