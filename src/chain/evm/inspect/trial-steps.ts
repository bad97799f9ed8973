import { type Hex, hexToBytes, toFunctionSelector } from 'viem'
import { uintAt } from '../../../dex/evm/abi.ts'
import { MAX_FINDING_LENGTH, type TrialStep, taxPpm, type UntriedReason } from '../../../domain/inspection.ts'
import { shownText } from '../../../domain/token-text.ts'
import type { CallOutcome } from '../rpc/state-rpc.ts'

/** Balances around a transfer of half of what was bought. */
export type Moved = {
  readonly heldRaw: bigint
  readonly leftRaw: bigint
  readonly friendBeforeRaw: bigint
  readonly friendAfterRaw: bigint
}

/** Errors of the trader itself, by selector. */
const UNDERPAID = toFunctionSelector('Underpaid(uint256,uint256)')
const EMPTY = toFunctionSelector('Empty()')
const PENNILESS = toFunctionSelector('Penniless()')
const ERROR_WITH_TEXT = '0x08c379a0'
const PANIC = '0x4e487b71'
const SELECTOR_LETTERS = 10
/** Half of a surrogate pair, left by a cut. */
const HALF_CHARACTER = /\p{Cs}$/u

export function readBuy(
  outcome: CallOutcome,
): UntriedReason | { readonly step: TrialStep; readonly receivedRaw: bigint } {
  const selector = outcome.data.slice(0, SELECTOR_LETTERS)
  if (!outcome.ok && selector === EMPTY) return 'no_liquidity'
  if (!outcome.ok && selector === PENNILESS) return 'no_funds'
  if (!outcome.ok) return { step: failed(outcome), receivedRaw: 0n }
  const [givenRaw, receivedRaw] = words(outcome.data, 2)
  return { step: step(outcome, givenRaw, receivedRaw, receivedRaw > 1n), receivedRaw }
}

export function readTransfer(outcome: CallOutcome, moved: Moved): TrialStep {
  if (!outcome.ok) return failed(outcome)
  const arrivedRaw = moved.friendAfterRaw - moved.friendBeforeRaw
  if (arrivedRaw < 0n)
    return {
      works: false,
      taxPpm: undefined,
      gas: outcome.gasUsed,
      reason: 'the balance of the recipient shrank',
    }
  return step(outcome, moved.heldRaw - moved.leftRaw, arrivedRaw, arrivedRaw > 0n)
}

/** `leftRaw` is the balance after the transfer, before the sale. */
export function readSell(outcome: CallOutcome, leftRaw: bigint): TrialStep {
  if (!outcome.ok) return failed(outcome)
  const [heldRaw, spentRaw, arrivedRaw, receivedRaw] = words(outcome.data, 4)
  if (heldRaw * 2n < leftRaw)
    return { works: false, taxPpm: undefined, gas: outcome.gasUsed, reason: 'the balance shrank by itself' }
  return step(outcome, spentRaw, arrivedRaw, receivedRaw > 0n)
}

function step(outcome: CallOutcome, sentRaw: bigint, arrivedRaw: bigint, works: boolean): TrialStep {
  return {
    works,
    taxPpm: taxPpm(sentRaw, arrivedRaw),
    gas: outcome.gasUsed,
    reason: works ? undefined : 'nothing arrived',
  }
}

function failed({ data, gasUsed }: CallOutcome): TrialStep {
  const isUnderpaid = data.startsWith(UNDERPAID)
  const [spentRaw, arrivedRaw] = words(isUnderpaid ? `0x${data.slice(SELECTOR_LETTERS)}` : '0x', 2)
  return {
    works: false,
    taxPpm: isUnderpaid ? taxPpm(spentRaw, arrivedRaw) : undefined,
    gas: gasUsed,
    reason: isUnderpaid ? 'the pool received too little' : revertReason(data),
  }
}

/** A revert string is untrusted text. */
export function revertReason(data: Hex): string {
  const selector = data.slice(0, SELECTOR_LETTERS)
  const rest = hexToBytes(`0x${data.slice(SELECTOR_LETTERS)}`)
  if (selector === PANIC) return `panic 0x${(uintAt(rest, 0) ?? 0n).toString(16)}`
  if (selector !== ERROR_WITH_TEXT) return data.length >= SELECTOR_LETTERS ? `error ${selector}` : 'reverted'
  // Word 0 is the offset of the string, always 32; word 1 is its length.
  const length = uintAt(rest, 1) ?? 0n
  const text = shownText(rest.subarray(64, 64 + Number(length < 1_024n ? length : 1_024n)))
  // The limit counts UTF-16 units, and characters outside the basic plane take two.
  return text === '' ? 'reverted' : text.slice(0, MAX_FINDING_LENGTH).replace(HALF_CHARACTER, '')
}

type Words<N extends number> = N extends 2 ? [bigint, bigint] : [bigint, bigint, bigint, bigint]

function words<N extends 2 | 4>(data: Hex, count: N): Words<N> {
  const bytes = hexToBytes(data)
  return Array.from({ length: count }, (_, place) => uintAt(bytes, place) ?? 0n) as Words<N>
}
