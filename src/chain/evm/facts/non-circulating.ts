import { uintAt } from '../../../dex/evm/abi.ts'
import type { BlockRef, NonCirculatingFact } from '../../../domain/envelope.ts'
import { DEAD_ADDRESSES, ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import type { Asker } from '../../facts/asker.ts'

const BALANCE_OF = '0x70a08231'
const MAX_LATE_TOKENS = 8
/** A node that has pruned the state of one block has pruned its neighbors too. */
const PAUSE_BLOCKS = 64
const MAX_REFUSED_REMEMBERED = 100_000

/** Distance from the head beyond which a node no longer confuses the state after a block with that of a newer one. */
const SETTLED_BLOCKS = 64

/**
 * Balances of tokens in the state after exactly this block. Near the head they are requested twice, because a node that
 * is about to add a block may answer with the state after it. Undefined if the two answers differ, or there is none.
 */
export async function askBalances(
  asker: Pick<Asker, 'askExactly'>,
  questions: readonly (readonly [token: string, holder: string])[],
  block: BlockRef,
  head: number,
): Promise<(bigint | undefined)[]> {
  if (questions.length === 0) return []
  const calls = questions.map(([to, holder]) => ({
    to,
    data: `${BALANCE_OF}${'0'.repeat(24)}${holder.slice(2)}`,
  }))
  const answers = await asker.askExactly(calls, block.hash)
  const again = isSettled(block, head) ? answers : await asker.askExactly(calls, block.hash)
  return calls.map((_, index) => {
    const amountRaw = uintAt(answers[index], 0)
    return amountRaw === uintAt(again[index], 0) ? amountRaw : undefined
  })
}

export function isSettled(block: BlockRef, head: number): boolean {
  return head - block.number >= SETTLED_BLOCKS
}

/** The results for one block's tokens, in order; undefined for those that failed. */
export type NonCirculatingAnswers = {
  readonly tokens: readonly string[]
  readonly facts: readonly (NonCirculatingFact | undefined)[]
  /** No balance was answered at all. */
  readonly isSilent: boolean
}

/** Reads the balances of burn addresses and lockers, so that burned and locked amounts need no transfer history. */
export class NonCirculatingBalances {
  readonly #holders: readonly string[]
  /** Tokens that did not answer while others did: asked once per process. */
  readonly #refused = new Set<string>()
  #pausedUntil = 0

  constructor(lockers: readonly string[]) {
    this.#holders = [...new Set([ZERO_ADDRESS, ...DEAD_ADDRESSES, ...lockers])]
  }

  /**
   * `met` are new in this block; `late` ones are older, and a few are asked per block. Changes nothing: `learn` does.
   */
  async ask(
    asker: Pick<Asker, 'askExactly'>,
    met: readonly string[],
    late: Iterable<string>,
    block: BlockRef,
    head: number,
  ): Promise<NonCirculatingAnswers> {
    const isPaused = block.number < this.#pausedUntil
    const waiting = isPaused ? [] : [...late].filter((token) => !this.#refused.has(token))
    const tokens = [...new Set([...met, ...waiting.slice(0, MAX_LATE_TOKENS)])]
    const questions = tokens.flatMap((token) => this.#holders.map((holder) => [token, holder] as const))
    const amounts = await askBalances(asker, questions, block, head)
    return {
      tokens,
      facts: tokens.map((token, place) => this.#fact(token, place, amounts)),
      isSilent: amounts.every((amount) => amount === undefined),
    }
  }

  /** Records the tokens that did not respond in this block. */
  learn({ tokens, facts, isSilent }: NonCirculatingAnswers, block: BlockRef): void {
    if (tokens.length === 0) return
    if (isSilent) this.#pausedUntil = block.number + PAUSE_BLOCKS
    else for (const [place, token] of tokens.entries()) if (facts[place] === undefined) this.#refuse(token)
  }

  #fact(
    address: string,
    place: number,
    amounts: readonly (bigint | undefined)[],
  ): NonCirculatingFact | undefined {
    const balances: { holder: string; amountRaw: bigint }[] = []
    for (const [index, holder] of this.#holders.entries()) {
      const answer = amounts[place * this.#holders.length + index]
      // Some tokens revert for the zero address, which then holds nothing.
      const amountRaw = holder === ZERO_ADDRESS ? (answer ?? 0n) : answer
      if (amountRaw === undefined) return undefined
      balances.push({ holder, amountRaw })
    }
    return { type: 'nonCirculating', address, balances }
  }

  #refuse(token: string): void {
    if (this.#refused.size >= MAX_REFUSED_REMEMBERED) this.#refused.clear()
    this.#refused.add(token)
  }
}
