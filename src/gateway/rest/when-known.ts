import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ChainAddress } from '../../domain/ids.ts'
import { RequestError } from '../http/problem.ts'
import type { LookUps } from '../market/look-ups.ts'

/** A look-up enters with a block: by then the next one is there on most chains. */
const RETRY_SECONDS = 2

/**
 * Answers a request for one id. If the id is unknown, the reader looks it up, and the request waits a moment for that;
 * after that it is refused as unknown, with the time after which it is worth asking again.
 */
export function whenKnown<T>(
  lookUps: LookUps,
  { grant }: Pick<FastifyRequest, 'grant'>,
  reply: Pick<FastifyReply, 'header'>,
  ref: ChainAddress,
  answer: () => T | Promise<T>,
): T | Promise<T> {
  const first = answer()
  if (!(first instanceof Promise)) return first
  return first.catch(async (error: unknown) => {
    if (!isUnknown(error)) throw error
    const state = await lookUps.request(ref, grant?.keyId)
    if (state === 'none') throw error
    const found = state === 'pending' ? await lookUps.until(ref, () => ifKnown(answer)) : undefined
    if (found !== undefined) return found.is
    reply.header('retry-after', RETRY_SECONDS)
    throw error
  })
}

async function ifKnown<T>(answer: () => T | Promise<T>): Promise<{ readonly is: T } | undefined> {
  try {
    return { is: await answer() }
  } catch (error) {
    if (isUnknown(error)) return undefined
    throw error
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof RequestError && (error.code === 'unknown_token' || error.code === 'unknown_pair')
}
