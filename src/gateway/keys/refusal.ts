import { isApiKey } from '../../domain/api-key.ts'
import { RequestError } from '../problem.ts'
import type { KeyRefusal } from './key-ring.ts'

/** How a key that is not good is told to HTTP clients, whichever way they came in. */
export function keyRefused(refusal: KeyRefusal, given: unknown): RequestError {
  return refusal === 'unknown'
    ? new RequestError('unauthorized', `send a valid API key in the X-API-KEY header${slipOf(given)}`)
    : new RequestError('forbidden', 'the API key has expired or was revoked')
}

/** Whoever lost a letter on the way need not look for a key that was revoked. The checksum is no secret. */
function slipOf(given: unknown): string {
  if (typeof given !== 'string' || given === '' || isApiKey(given)) return ''
  return '; the given text is not a key: it is misspelled or truncated'
}
