import { parseArgs } from 'node:util'

/** `--kills` and `--seed` of a soak, and dice that fall the same way for the same seed. */
export function soakOptions(): { kills: number; seed: number; roll: (sides: number) => number } {
  const { values } = parseArgs({ options: { kills: { type: 'string' }, seed: { type: 'string' } } })
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  return { kills: Number(values.kills ?? 100), seed, roll: diceOf(seed) }
}

export function diceOf(seed: number): (sides: number) => number {
  let dice = (seed % 2_147_483_646) + 1
  return (sides) => {
    dice = (dice * 48_271) % 2_147_483_647
    return dice % sides
  }
}
