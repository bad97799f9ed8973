import { movesOf } from '../../../dex/evm/token-moves.ts'
import type { BalanceFact, BlockRef, RawTransaction } from '../../../domain/envelope.ts'
import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import type { Asker } from '../../facts/asker.ts'
import { askBalances, isSettled } from './non-circulating.ts'

const MAX_TOKENS_PER_BLOCK = 8
/** In settled blocks, a token that was sampled this often is sampled in one of eight sampled blocks. */
const MANY_SAMPLES = 16
const MAX_TOKENS_REMEMBERED = 100_000

/**
 * Samples whether a token's transfers add up to its balances: in one block of four, for the last wallet that received
 * or sent the token. A backfill asks busy tokens less often, or they would take most of the node's time.
 */
export class BalanceSamples {
  readonly #isWrappedNative: (token: string) => boolean
  /** How often each token was sampled by this process. */
  readonly #samples = new Map<string, number>()

  constructor(isWrappedNative: (token: string) => boolean) {
    this.#isWrappedNative = isWrappedNative
  }

  /** Changes nothing: `learn` does. */
  async ask(
    asker: Asker,
    transactions: readonly RawTransaction[],
    block: BlockRef,
    head: number,
  ): Promise<BalanceFact[]> {
    if (!isDrawn(block.hash)) return []
    const sampled = new Map<string, string>()
    const isOfAll = !isSettled(block, head) || isDrawnForAll(block.hash)
    for (const transaction of transactions) {
      for (const { token, from, to } of movesOf(transaction, this.#isWrappedNative)) {
        if (!isOfAll && (this.#samples.get(token) ?? 0) >= MANY_SAMPLES) continue
        const holder = isOfGivers(block.hash) ? from : to
        if (holder !== ZERO_ADDRESS && (sampled.has(token) || sampled.size < MAX_TOKENS_PER_BLOCK))
          sampled.set(token, holder)
      }
    }
    // Exact answers only: one wrong balance would mark the token as unreliable permanently.
    const amounts = await askBalances(asker, [...sampled], block, head)
    return [...sampled].flatMap(([address, holder], index): BalanceFact[] => {
      const amountRaw = amounts[index]
      return amountRaw === undefined ? [] : [{ type: 'balance', address, holder, amountRaw }]
    })
  }

  learn(facts: readonly BalanceFact[]): void {
    for (const { address } of facts) {
      if (this.#samples.size >= MAX_TOKENS_REMEMBERED) this.#samples.clear()
      this.#samples.set(address, (this.#samples.get(address) ?? 0) + 1)
    }
  }
}

/** One block in four; every other one of those samples senders. */
function isDrawn(hash: string): boolean {
  return digitOf(hash, -1) % 4 === 0
}

function isOfGivers(hash: string): boolean {
  return digitOf(hash, -1) % 8 === 0
}

/** Another digit of the hash, so that both senders and recipients are sampled. */
function isDrawnForAll(hash: string): boolean {
  return digitOf(hash, -2) % 8 === 0
}

function digitOf(hash: string, at: number): number {
  return Number.parseInt(hash.at(at) ?? '', 16)
}
