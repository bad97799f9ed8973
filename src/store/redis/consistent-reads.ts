import type { ChainableCommander } from 'ioredis'
import { ChaintapeError } from '../../domain/errors.ts'
import { guardRedis, type ScriptedRedis } from './connect.ts'
import type { Keys } from './keys.ts'
import { storedSeq } from './stored-value.ts'

/**
 * Reads of documents that fail rather than return outdated ones. Redis may lose its data at any time and is then
 * refilled, oldest first; a reader that relies on a head seen before must not take an older document, or none, for
 * the latest. So each read checks the head in the same step: it must not be below the highest one seen.
 */
export type ConsistentReads = {
  /** Records that a chain's head was seen at this version. */
  saw(chain: string, seq: number): void
  /** The values of these keys, all documents of these chains. */
  values(chains: readonly string[], names: readonly string[]): Promise<(Buffer | null)[]>
  /** The results of these commands, all about one chain. */
  answers(chain: string, ask: (commands: ChainableCommander) => ChainableCommander): Promise<unknown[]>
}

/** Redis answers, but has lost data. */
export class RedisDataLost extends ChaintapeError {
  constructor(chain: string) {
    super('store_unavailable', `Redis has lost data of chain ${chain} and is not whole yet`)
  }
}

export function createConsistentReads(redis: ScriptedRedis, keys: Keys): ConsistentReads {
  const seen = new Map<string, number>()

  const mustBeComplete = (chain: string, head: Buffer | null | undefined): void => {
    const expected = seen.get(chain)
    if (expected === undefined || (head != null && storedSeq(head) >= expected)) return
    throw new RedisDataLost(chain)
  }

  return {
    saw: (chain, seq) => {
      seen.set(chain, Math.max(seq, seen.get(chain) ?? 0))
    },
    values: async (chains, names) => {
      if (names.length === 0) return []
      const unique = [...new Set(chains)]
      const heads = unique.map((chain) => keys.head(chain))
      const values = await guardRedis(() => redis.mgetBuffer(...names, ...heads))
      for (const [index, chain] of unique.entries()) mustBeComplete(chain, values[names.length + index])
      return values.slice(0, names.length)
    },
    answers: async (chain, ask) =>
      guardRedis(async () => {
        const outcomes = (await ask(redis.multi()).getBuffer(keys.head(chain)).exec()) ?? []
        const answers = outcomes.map(([error, answer]) => {
          if (error !== null) throw error
          return answer
        })
        mustBeComplete(chain, answers.pop() as Buffer | null | undefined)
        return answers
      }),
  }
}
