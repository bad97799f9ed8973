import type { TurnBudget } from '../../../lib/turn-budget.ts'

/** A request that takes longer, for example one that waits for ClickHouse, no longer delays the next one of its key. */
const PATIENCE_MS = 100

/**
 * A fair queue: the subscribes of a key run one after another, each when its turn comes, however many connections they
 * come from. Otherwise ten connections of one key delay every other client by ten subscribes at a time.
 */
export class FairQueue {
  readonly #turns: Pick<TurnBudget, 'add'>
  /** Keys with a running subscribe, and the others of the key that wait. */
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(turns: Pick<TurnBudget, 'add'>) {
    this.#turns = turns
  }

  async run<T>(keyId: string, work: () => Promise<T>): Promise<T> {
    const waiting = this.#waiting.get(keyId)
    if (waiting === undefined) this.#waiting.set(keyId, [])
    else await new Promise<void>((resolve) => waiting.push(resolve))
    let hasPassed = false
    const pass = (): void => {
      if (hasPassed) return
      hasPassed = true
      const next = this.#waiting.get(keyId)?.shift()
      if (next === undefined) this.#waiting.delete(keyId)
      else this.#turns.add(next)
    }
    const patience = setTimeout(pass, PATIENCE_MS)
    try {
      return await work()
    } finally {
      clearTimeout(patience)
      pass()
    }
  }
}
