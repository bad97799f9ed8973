import type { RawLog } from '../../../src/domain/envelope.ts'
import { type Leg, NATIVE } from './legs.ts'
import type { Transfer } from './transfers.ts'

/**
 * How the logs of tokens bear out what an event says of one of them, from the plainest to the weakest:
 * exact: one transfer of that amount between the holder and anybody;
 * total: all transfers of the token, together, are all that the holder's events say of it: several swaps, a
 *   repayment, a payment in two parts;
 * passed on: never left the holder of many pools, being what another pool of it took in or paid;
 * taxed: the token logs what is left after a tax of whole percents, or the amount before it;
 * unlogged: nothing to compare. The chain's own coin has no logs, and what the fees of a position paid moved nothing.
 */
export const VERDICTS = ['exact', 'total', 'passed on', 'taxed', 'unlogged'] as const
export type Verdict = (typeof VERDICTS)[number]

const MAX_TAX_PERCENT = 50n
/** Below it, whole percents fit by chance. */
const MIN_TAXED = 1_000_000n
const HOLDS_NATIVE = new Set(['curve', 'uniswap_v4', 'pancakeswap_infinity_cl', 'pancakeswap_infinity_bin'])
const MODIFY_LIQUIDITY = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec'

/** The weaker of the verdicts on both legs; undefined when one is not borne out, or neither can be compared. */
export function judge(
  swap: readonly [Leg, Leg],
  legs: readonly Leg[],
  transfers: readonly Transfer[],
  logs: readonly RawLog[],
): Verdict | undefined {
  const [first, second] = swap.map((leg) => verdictsOn(leg, legs, transfers, logs))
  let best: number | undefined
  for (const [token0, verdict0] of first ?? []) {
    for (const [token1, verdict1] of second ?? []) {
      if (token0 === token1 && token0 !== undefined) continue
      if (verdict0 === 'unlogged' && verdict1 === 'unlogged') continue
      const weaker = Math.max(VERDICTS.indexOf(verdict0), VERDICTS.indexOf(verdict1))
      best = Math.min(best ?? weaker, weaker)
    }
  }
  return best === undefined ? undefined : VERDICTS[best]
}

/** By token that the leg may be of; undefined for one that need not be known. */
function verdictsOn(
  leg: Leg,
  legs: readonly Leg[],
  transfers: readonly Transfer[],
  logs: readonly RawLog[],
): Map<string | undefined, Verdict> {
  const own = transfers.filter(({ from, to }) => (leg.amount > 0n ? to : from) === leg.holder)
  const verdicts = new Map<string | undefined, Verdict>()
  const candidates = leg.token === undefined ? new Set(own.map(({ token }) => token)) : [leg.token]
  for (const token of candidates) {
    const verdict = verdictOf(leg, token, legs, transfers)
    if (verdict !== undefined) verdicts.set(token, verdict)
  }
  if (verdicts.size > 0) return verdicts
  if (isPassedOn(leg, legs)) verdicts.set(leg.token, 'passed on')
  else if (isNative(leg, own) || isPaidWithFees(leg, logs)) verdicts.set(leg.token, 'unlogged')
  return verdicts
}

function verdictOf(
  leg: Leg,
  token: string,
  legs: readonly Leg[],
  transfers: readonly Transfer[],
): Verdict | undefined {
  const ofToken = transfers.filter((one) => one.token === token)
  const ins = ofToken.filter(({ to }) => to === leg.holder).map(({ amount }) => amount)
  const outs = ofToken.filter(({ from }) => from === leg.holder).map(({ amount }) => amount)
  const size = abs(leg.amount)
  if (size === 0n || (leg.amount > 0n ? ins : outs).includes(size)) return 'exact'

  const claimed = legs.filter((one) => {
    const isSame = one.token === undefined && one.pool === leg.pool && one.ref === leg.ref
    return one.holder === leg.holder && (one.token === token || isSame)
  })
  const claimedIn = sum(claimed.map(({ amount }) => amount).filter((amount) => amount > 0n))
  const claimedOut = -sum(claimed.map(({ amount }) => amount).filter((amount) => amount < 0n))
  const isMoved = ins.length + outs.length > 0 || claimed.length > 1
  if (isMoved && claimedIn - claimedOut === sum(ins) - sum(outs)) return 'total'
  if (isMoved && (leg.amount > 0n ? claimedIn === sum(ins) : claimedOut === sum(outs))) return 'total'

  const logged = leg.amount > 0n ? ins : outs
  return [...logged, sum(logged)].some((amount) => isTaxed(abs(leg.gross), amount)) ? 'taxed' : undefined
}

function isTaxed(claimed: bigint, logged: bigint): boolean {
  if (claimed < MIN_TAXED || logged < MIN_TAXED) return false
  const [more, less] = claimed > logged ? [claimed, logged] : [logged, claimed]
  for (let percent = 1n; percent <= MAX_TAX_PERCENT; percent++) {
    // Rounded up or down, once or for two parts.
    if (abs((more * (100n - percent)) / 100n - less) <= 2n) return true
  }
  return false
}

function isPassedOn(leg: Leg, legs: readonly Leg[]): boolean {
  if (leg.holder === leg.pool) return false
  return legs.some((other) => {
    const isSame = leg.token === undefined || other.token === undefined || leg.token === other.token
    return other.log !== leg.log && other.holder === leg.holder && isSame && other.amount === -leg.amount
  })
}

function isNative(leg: Leg, own: readonly Transfer[]): boolean {
  return (
    leg.token === NATIVE || (leg.token === undefined && own.length === 0 && HOLDS_NATIVE.has(leg.protocol))
  )
}

/** A change of a position pays out its fees, whose amount no event reports: a swap may be paid with them. */
function isPaidWithFees({ log, holder, pool }: Leg, logs: readonly RawLog[]): boolean {
  return logs.some(({ address, topics }) => {
    const isTouched = topics[0] === MODIFY_LIQUIDITY && topics[1] === pool && address === holder
    return isTouched && topics[2] === log.topics[2]
  })
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((all, amount) => all + amount, 0n)
}

function abs(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}
