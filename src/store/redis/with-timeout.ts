import { setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../../domain/errors.ts'
import { guardRedis } from './connect.ts'

/**
 * Runs a command with a client waiting; fails with `store_unavailable` on timeout, when the command may or may not have
 * run.
 */
export async function withTimeout<T>(command: () => Promise<T>, timeoutMs: number): Promise<T> {
  const overdue = new AbortController()
  const late = sleep(timeoutMs, undefined, { signal: overdue.signal }).then(() => {
    throw new ChaintapeError('store_unavailable', 'Redis timed out')
  })
  const answer = guardRedis(command)
  try {
    return await Promise.race([answer, late])
  } finally {
    overdue.abort()
    late.catch(() => undefined)
    answer.catch(() => undefined)
  }
}
