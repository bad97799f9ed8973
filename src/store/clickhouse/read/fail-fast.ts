import { ChaintapeError, QueryTimeout } from '../../../domain/errors.ts'
import type { Ask } from './ask.ts'

/**
 * Circuit breaker: a small query that runs every second is the health check. While it gets no response, other queries fail at once
 * instead of waiting for their timeouts. A large query that times out does not open it. Without `onAway` no query is refused.
 */
export function failFast(ask: Ask, onAway?: (isAway: boolean, reason: unknown) => void) {
  let isAway = false
  const set = (now: boolean, reason?: unknown): void => {
    if (onAway === undefined || isAway === now) return
    isAway = now
    onAway(now, reason)
  }
  const refuseOrAsk: Ask = async (file, question) => {
    if (isAway) throw new ChaintapeError('store_unavailable', 'ClickHouse unavailable')
    return ask(file, question)
  }
  return {
    ask: refuseOrAsk,
    /** Runs the health check. */
    checked: async <T>(query: () => Promise<T>): Promise<T> => {
      try {
        const answer = await query()
        set(false)
        return answer
      } catch (error) {
        const isUnavailable = error instanceof ChaintapeError && error.code === 'store_unavailable'
        set(isUnavailable && !(error instanceof QueryTimeout), error)
        throw error
      }
    },
  }
}
