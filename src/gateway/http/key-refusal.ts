import { isApiKey } from '../../domain/api-key.ts'
import type { KeyRefusal } from '../access/keys/key-ring.ts'
import { RequestError } from './problem.ts'

/** The refusal of an invalid key, for both HTTP paths. */
export function keyRefused(refusal: KeyRefusal, given: unknown): RequestError {
  return refusal === 'unknown'
    ? new RequestError('unauthorized', `send a valid API key in the X-API-KEY header${slipOf(given)}`)
    : new RequestError('forbidden', 'the API key has expired or was revoked')
}

/** Points out a mistyped key, so that the client does not suspect a revoked one. The checksum is no secret. */
function slipOf(given: unknown): string {
  if (typeof given !== 'string' || given === '' || isApiKey(given)) return ''
  return '; the given text is not a key: it is misspelled or truncated'
}
