/** What of a pool's prices counts for others, by docs/data-rules.md, written out again. */
export class CountedPrice {
  value: bigint | undefined
  #asked: (bigint | undefined)[] = []
  /** Where the block before ended, if that does not count yet. */
  #standing: bigint | undefined

  ask(price: bigint | undefined): void {
    this.#asked.push(price)
  }

  /** Whether it has any effect. */
  endBlock(): boolean {
    const asked = this.#asked
    this.#asked = []
    const standing = this.#standing
    this.#standing = undefined
    if (asked.length === 0) {
      if (standing !== undefined) this.value = standing
      return standing !== undefined
    }
    const last = asked.at(-1)
    this.value = last === undefined ? undefined : middle([this.value, ...asked], last)
    if (this.value !== last) this.#standing = last
    return true
  }
}

function middle(prices: readonly (bigint | undefined)[], last: bigint): bigint {
  const sorted = prices.filter((price) => price !== undefined).sort((a, b) => (a < b ? -1 : 1))
  const upper = sorted[Math.floor(sorted.length / 2)] ?? last
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? last
  return last <= lower ? lower : upper
}
