import { setTimeout as sleep } from 'node:timers/promises'

/** While the nodes of a cluster elect a leader, requests are lost: each is repeated before the client would give it up. */
const RESPONSE_MS = 2_000

/** A request that is not responded to in time fails; its response is ignored. */
export async function inTime<T>(request: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = sleep(RESPONSE_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`no response within ${RESPONSE_MS} ms`)
  })
  // The race reports it, unless it is over.
  late.catch(() => undefined)
  try {
    return await Promise.race([request, late])
  } finally {
    over.abort()
  }
}
