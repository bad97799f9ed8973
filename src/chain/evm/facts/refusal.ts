import { RpcFailure, type RpcFailureKind } from '../../rpc/rpc-failure.ts'

/** The node works, but does not return these logs; asking it again changes nothing. */
const REFUSALS: ReadonlySet<RpcFailureKind> = new Set(['pruned', 'unsupported', 'refused', 'too_many_logs'])

/** Whether all nodes refused. One that is only in trouble may still serve the logs. */
export class Refusal {
  #refused = 0
  #isOpen = false

  get isFinal(): boolean {
    return this.#refused > 0 && !this.#isOpen
  }

  async watch<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof RpcFailure && REFUSALS.has(error.kind)) this.#refused++
      else this.#isOpen = true
      throw error
    }
  }
}
