import { type ChainFamily, type ChainId, parseChainId } from '../../domain/ids.ts'
import { RequestError } from '../problem.ts'

/** Reads the id in a path, or in the parameter of this name, or refuses the request. */
export function parsePathId(
  id: string,
  kind: 'token' | 'pair',
  familyOf: (chain: string) => ChainFamily | undefined,
  parameter = `${kind}-id`,
): ChainId {
  const parsed = parseChainId(id, kind, familyOf)
  if (typeof parsed !== 'string') return parsed
  throw new RequestError(parsed, `the ${kind}-id cannot be read`, [
    { pointer: `#/${parameter}`, detail: idProblemText(parsed, kind) },
  ])
}

export function idProblemText(problem: 'malformed_id' | 'unknown_chain', kind: 'token' | 'pair'): string {
  return problem === 'malformed_id' ? `must be <${kind}_address>-<chain>` : 'names a chain that is not served'
}

export function unknownPathId(kind: 'token' | 'pair', parameter = `${kind}-id`): RequestError {
  return new RequestError(`unknown_${kind}`, `there is no such ${kind}`, [
    { pointer: `#/${parameter}`, detail: `is not a known ${kind}` },
  ])
}
