import { type ChainAddress, type ChainFamily, parseChainAddress } from '../../domain/ids.ts'
import { RequestError } from '../http/problem.ts'

/** Reads the id in a path, or in the parameter of this name, or refuses the request. */
export function parsePathId(
  id: string,
  kind: 'token' | 'pair',
  familyOf: (chain: string) => ChainFamily | undefined,
  parameter = `${kind}-id`,
): ChainAddress {
  const parsed = parseChainAddress(id, kind, familyOf)
  if (typeof parsed !== 'string') return parsed
  throw new RequestError(parsed, `malformed ${kind}-id`, [
    { pointer: `#/${parameter}`, detail: idProblemText(parsed, kind) },
  ])
}

export function idProblemText(problem: 'malformed_id' | 'unknown_chain', kind: 'token' | 'pair'): string {
  return problem === 'malformed_id'
    ? `must be <${kind}_address>-<chain>`
    : 'this gateway does not serve the chain; see /v2/chains'
}

export function unknownPathId(kind: 'token' | 'pair', parameter = `${kind}-id`): RequestError {
  return new RequestError(`unknown_${kind}`, `unknown ${kind}; check the address and chain`, [
    { pointer: `#/${parameter}`, detail: `unknown ${kind}` },
  ])
}
