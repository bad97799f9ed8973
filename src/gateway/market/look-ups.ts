import type { ChangeSet } from '../../domain/change.ts'
import type { ChainAddress } from '../../domain/ids.ts'
import { RecentlyUsed } from '../../domain/recently-used.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Logs } from '../../log/connect.ts'
import type { LatestValues } from '../../log/latest-values.ts'
import {
  decodeLookUpAnswer,
  isLookUpId,
  LOOK_UP_TOPIC,
  type LookUpAnswer,
} from '../../wire/look-up-question.ts'

export type LookUpsParts = {
  readonly logs: Pick<Logs, 'request'>
  readonly work: Pick<LatestValues, 'put'>
  /** New look-ups that a key may cause in a minute. */
  readonly perMinute: number
  readonly logger: Logger
  /** Milliseconds. */
  readonly now: () => number
}

/**
 * `none`: there is nothing behind the id. `pending`: the reader looks it up, or will if it is asked for again. The key
 * may have used up its look-ups, or the reader did not answer.
 */
export type LookUpState = 'none' | 'pending' | 'unavailable'

/** Look-ups of ids that no trade has mentioned since the log began. */
export type LookUps = {
  /** Asks the reader for an unknown id, and does not wait for its block. */
  request(ref: ChainAddress, keyId: string | undefined): Promise<LookUpState>
  /** Asks for the id in the background. Returns whether a reader has said that it may become known. */
  note(ref: ChainAddress, keyId: string | undefined): boolean
  /** Waits for the change set that brings the id, and reads then; undefined if the time is over. */
  until<T>(ref: ChainAddress, read: () => Promise<T | undefined>): Promise<T | undefined>
  /** To be called once reads answer as of this set. */
  apply(set: Pick<ChangeSet, 'chain' | 'changes'>): void
}

/** How long a request waits for a look-up. */
export const LOOK_UP_WAIT_MS = 2_000
/** Further requests are refused at once, with the time after which to repeat them. */
const MAX_WAITING = 128
const ANSWER_MS = 1_000
/** For so long an answer of the reader is not asked for again. */
const KNOWN_MS: Readonly<Record<LookUpAnswer, number>> = { none: 60_000, pending: 5_000 }
const MAX_KNOWN = 100_000
const MAX_KEYS = 10_000
const MINUTE_MS = 60_000

export function createLookUps({ logs, work, perMinute, logger, now }: LookUpsParts): LookUps {
  const known = new RecentlyUsed<{ readonly at: number; readonly answer: LookUpAnswer }>(MAX_KNOWN)
  const budgets = new RecentlyUsed<{ readonly since: number; spent: number }>(MAX_KEYS)
  /** By id, for the requests that wait for it. */
  const arrivals = new Map<string, PromiseWithResolvers<void> & { waiters: number }>()
  let waiting = 0

  const mayAsk = (keyId: string): boolean => {
    let budget = budgets.get(keyId)
    if (budget === undefined || now() - budget.since >= MINUTE_MS) {
      budget = { since: now(), spent: 0 }
      budgets.set(keyId, budget)
      budgets.evict()
    }
    if (budget.spent >= perMinute) return false
    budget.spent++
    return true
  }

  const ask = async (chain: string, address: string): Promise<LookUpState> => {
    try {
      const answer = decodeLookUpAnswer(await logs.request(`${LOOK_UP_TOPIC}.${chain}`, address, ANSWER_MS))
      known.set(`${chain}/${address}`, { at: now(), answer })
      known.evict()
      // To all readers of the chain: only the leader appends, and another one may have answered.
      if (answer === 'pending') await work.put(`${chain}.lookup.${address}`, new Uint8Array())
      return answer
    } catch (error) {
      logger.warn({ err: error, chain, id: address }, 'Look-up request failed')
      return 'unavailable'
    }
  }

  const answered = ({ chain, address }: ChainAddress): LookUpAnswer | undefined => {
    if (!isLookUpId(address)) return 'none'
    const before = known.get(`${chain}/${address}`)
    return before !== undefined && now() - before.at < KNOWN_MS[before.answer] ? before.answer : undefined
  }
  const request: LookUps['request'] = async (ref, keyId = '') =>
    answered(ref) ?? (mayAsk(keyId) ? ask(ref.chain, ref.address) : 'unavailable')

  return {
    request,
    note: (ref, keyId) => {
      // Never rejects.
      if (answered(ref) === undefined) void request(ref, keyId)
      return known.get(`${ref.chain}/${ref.address}`)?.answer === 'pending'
    },
    until: async ({ chain, address }, read) => {
      if (waiting >= MAX_WAITING) return undefined
      waiting++
      const key = `${chain}/${address}`
      const arrival = arrivals.get(key) ?? { ...Promise.withResolvers<void>(), waiters: 0 }
      arrivals.set(key, arrival)
      arrival.waiters++
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, LOOK_UP_WAIT_MS)
      try {
        await Promise.race([arrival.promise, promise])
        // After the time is over as well: it may have come between the first read and the wait.
        return await read()
      } finally {
        clearTimeout(timer)
        waiting--
        arrival.waiters--
        if (arrival.waiters === 0 && arrivals.get(key) === arrival) arrivals.delete(key)
      }
    },
    apply: ({ chain, changes }) => {
      if (arrivals.size === 0) return
      for (const change of changes) {
        const id = change.type === 'token' ? change.token : change.type === 'pair' ? change.pair : undefined
        const key = id && `${chain}/${id.address}`
        if (key === undefined) continue
        arrivals.get(key)?.resolve()
        arrivals.delete(key)
      }
    },
  }
}
