import { RequestError } from '../problem.ts'
import type { KeyRefusal } from './key-ring.ts'

/** How a key that is not good is told to HTTP clients, whichever way they came in. */
export function keyRefused(refusal: KeyRefusal): RequestError {
  return refusal === 'unknown'
    ? new RequestError('unauthorized', 'send a valid API key in the X-API-KEY header')
    : new RequestError('forbidden', 'the API key has expired or was revoked')
}
