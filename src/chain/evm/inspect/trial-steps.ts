import { bytesToHex, type Hex, hexToBytes, toFunctionSelector } from 'viem'
import { smallUintAt, uintAt } from '../../../dex/evm/abi.ts'
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

/** A purchase that was made. `usedRaw` of the quote tokens bought `givenRaw`. */
export type Purchase = {
  readonly step: TrialStep
  readonly givenRaw: bigint
  readonly receivedRaw: bigint
  readonly usedRaw: bigint
}

/** Errors of the trader itself, by selector. */
const UNDERPAID = toFunctionSelector('Underpaid(uint256,uint256)')
const EMPTY = toFunctionSelector('Empty()')
const PENNILESS = toFunctionSelector('Penniless()')
const ERROR_WITH_TEXT = '0x08c379a0'
const PANIC = '0x4e487b71'
/** WrappedError(address target, bytes4 selector, bytes reason, bytes details): ERC-7751, by Uniswap V4. */
const WRAPPED = '0x90bfb865'
const WRAPPED_REASON = 2
const SELECTOR_LETTERS = 10
/** A pool that pays less than a tenth of the price takes nearly all of it. */
const MIN_FAIR_PART = 10n
/** Half of a surrogate pair, left by a cut. */
const HALF_CHARACTER = /\p{Cs}$/u

export function readBuy(outcome: CallOutcome): UntriedReason | Purchase {
  const selector = outcome.data.slice(0, SELECTOR_LETTERS)
  if (!outcome.ok && selector === EMPTY) return 'no_liquidity'
  if (!outcome.ok && selector === PENNILESS) return 'no_funds'
  if (!outcome.ok) return { step: failed(outcome), givenRaw: 0n, receivedRaw: 0n, usedRaw: 0n }
  const [givenRaw, receivedRaw, usedRaw, isPoolAtFault] = words(outcome.data, 4)
  // The pool's own code prevented the purchase, which says nothing about the token.
  if (isPoolAtFault !== 0n) return 'no_pair'
  return { step: step(outcome, givenRaw, receivedRaw, receivedRaw > 1n), givenRaw, receivedRaw, usedRaw }
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

/**
 * `leftRaw` is the balance after the transfer, before the sale. Undefined if the pool and not the token is at fault. Hooks
 * can also pay far less than the purchase cost, so `bought` is given for pools that have them.
 */
export function readSell(outcome: CallOutcome, leftRaw: bigint, bought?: Purchase): TrialStep | undefined {
  if (!outcome.ok) return failed(outcome)
  const [heldRaw, spentRaw, arrivedRaw, receivedRaw, isPoolAtFault] = words(outcome.data, 5)
  if (heldRaw * 2n < leftRaw)
    return { works: false, taxPpm: undefined, gas: outcome.gasUsed, reason: 'the balance shrank by itself' }
  if (isPoolAtFault !== 0n) return undefined
  if (bought !== undefined) {
    const fairRaw = (bought.usedRaw * arrivedRaw) / (bought.givenRaw || 1n)
    if (receivedRaw * MIN_FAIR_PART < fairRaw) return undefined
  }
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

/** A revert string is untrusted text. Unwraps an error once, because a hostile one could be nested without end. */
export function revertReason(data: Hex, isInner = false): string {
  const selector = data.slice(0, SELECTOR_LETTERS)
  const rest = hexToBytes(`0x${data.slice(SELECTOR_LETTERS)}`)
  if (selector === PANIC) return `panic 0x${(uintAt(rest, 0) ?? 0n).toString(16)}`
  const inner = selector === WRAPPED && !isInner ? bytesAt(rest, WRAPPED_REASON) : undefined
  if (inner !== undefined) return revertReason(inner, true)
  if (selector !== ERROR_WITH_TEXT) return data.length >= SELECTOR_LETTERS ? `error ${selector}` : 'reverted'
  // Word 0 is the offset of the string, always 32; word 1 is its length.
  const length = uintAt(rest, 1) ?? 0n
  const text = shownText(rest.subarray(64, 64 + Number(length < 1_024n ? length : 1_024n)))
  // The limit counts UTF-16 units, and characters outside the basic plane take two.
  return text === '' ? 'reverted' : text.slice(0, MAX_FINDING_LENGTH).replace(HALF_CHARACTER, '')
}

/** The byte string whose offset is at `index`; undefined if any of it is missing. */
function bytesAt(data: Uint8Array, index: number): Hex | undefined {
  const offset = smallUintAt(data, index)
  const length = offset === undefined || offset % 32 !== 0 ? undefined : smallUintAt(data, offset / 32)
  if (offset === undefined || length === undefined || offset + 32 + length > data.length) return undefined
  return bytesToHex(data.subarray(offset + 32, offset + 32 + length))
}

type Words = { 2: [bigint, bigint]; 4: [...Words[2], ...Words[2]]; 5: [...Words[4], bigint] }

function words<N extends keyof Words>(data: Hex, count: N): Words[N] {
  const bytes = hexToBytes(data)
  return Array.from({ length: count }, (_, place) => uintAt(bytes, place) ?? 0n) as Words[N]
}
