import type { Answer, Call } from '../../dex/protocol.ts'

export type Calls = readonly Omit<Call, 'before'>[]

/** Calls contracts, or reads accounts, many at a time. An answer is undefined if there is none. */
export type Asker = {
  /** In the state after this block, or after a later one if no node has that state any more. */
  ask(calls: Calls, blockHash: string): Promise<Answer[]>
  /** In the state after exactly this block. */
  askExactly(calls: Calls, blockHash: string): Promise<Answer[]>
}
