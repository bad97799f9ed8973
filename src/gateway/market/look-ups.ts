import { setTimeout as sleep } from 'node:timers/promises'
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
  /** Repeats `read` until it finds something, or the time is over. */
  until<T>(read: () => Promise<T | undefined>): Promise<T | undefined>
}

/** How long a request waits for a look-up. */
export const LOOK_UP_WAIT_MS = 2_000
const POLL_MS = 100
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
    until: async (read) => {
      if (waiting >= MAX_WAITING) return undefined
      waiting++
      try {
        const deadline = now() + LOOK_UP_WAIT_MS
        while (now() < deadline) {
          await sleep(Math.min(POLL_MS, deadline - now()))
          const found = await read()
          if (found !== undefined) return found
        }
        return undefined
      } finally {
        waiting--
      }
    },
  }
}
