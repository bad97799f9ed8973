import type { ExpectedWindows, Sums } from './expected-windows.ts'

/** What docs/trending.md says a token's score is, written out again. */

export type Contender = {
  readonly liquidityUsd: bigint | undefined
  readonly windows: ExpectedWindows | undefined
  readonly ageSeconds: number | undefined
  readonly riskScore: number | undefined
}

const USD = 10n ** 18n

export function expectedScore({ liquidityUsd, windows, ageSeconds, riskScore }: Contender): number {
  if (liquidityUsd === undefined || liquidityUsd < 1_000n * USD || windows === undefined) return 0
  const day = windows.sums['24h']
  const volume = day.buyUsd + day.sellUsd
  const trades = day.buys + day.sells
  const makers = Math.max(1, day.makers)
  const each = volume / BigInt(makers)
  if (trades >= 500 && trades / makers >= 100) return 0
  if (volume >= 1_000_000n * USD && each >= 500_000n * USD && trades / makers >= 30) return 0

  const lately = (points: (sums: Sums) => number): number => {
    const { '1h': hour, '4h': four } = windows.sums
    return Math.floor((points(hour) * 5 + points(four) * 2 + points(day)) / 8)
  }
  const traded = ({ buyUsd, sellUsd, makers: wallets }: Sums): bigint =>
    least(buyUsd + sellUsd, BigInt(wallets) * 10_000n * USD, liquidityUsd * 20n)
  const forVolume = lately((sums) => doublings(traded(sums) / USD + 1n, 1n))
  if (forVolume === 0) return 0
  const forMakers = lately(({ makers: wallets, buyUsd, sellUsd }) => {
    return 2 * doublings(least(BigInt(wallets), (buyUsd + sellUsd) / (10n * USD)) + 1n, 1n)
  })
  const age = ageSeconds === undefined ? undefined : BigInt(Math.floor(ageSeconds / 3_600))
  const score =
    forVolume +
    forMakers +
    Math.min(10_000, doublings(liquidityUsd, 1_000n * USD)) +
    (age === undefined ? 0 : Math.max(0, 8_000 - doublings(age + 1n, 1n))) -
    4 * doublings(BigInt(trades), BigInt(makers) * 10n) -
    2 * doublings(volume, BigInt(makers) * 10_000n * USD) -
    2 * doublings(volume, liquidityUsd * 20n) -
    symmetry(day) -
    100 * (riskScore ?? 0)
  return Math.max(0, score)
}

function symmetry({ buyUsd, sellUsd, makers, buyers, sellers }: Sums): number {
  if (buyUsd + sellUsd === 0n) return 0
  const both = Math.floor(((buyers + sellers - makers) * 1_000) / makers)
  const difference = buyUsd < sellUsd ? sellUsd - buyUsd : buyUsd - sellUsd
  const uneven = Number((difference * 1_000n) / (buyUsd + sellUsd))
  return Math.floor((20_000 * Math.max(0, both - 500) * Math.max(0, 50 - uneven)) / (500 * 50))
}

function doublings(amount: bigint, base: bigint): number {
  if (amount <= base) return 0
  let [count, reached] = [0, base]
  for (; reached * 2n <= amount; reached *= 2n) count++
  return count * 1_000 + Number(((amount - reached) * 1_000n) / reached)
}

function least(...amounts: readonly bigint[]): bigint {
  return amounts.toSorted((a, b) => (a < b ? -1 : 1))[0] as bigint
}
