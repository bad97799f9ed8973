import { type ChainAddress, formatChainAddress, parseChainAddress } from '../../../domain/ids.ts'
import { type ProblemItem, RequestError } from '../../http/problem.ts'
import type { ChainInfo, RestContext } from '../context.ts'
import { idProblemText } from '../path-id.ts'

/** The tokens a body names, each once, without those of chains that are not served; throws if an id is malformed. */
export function parseTokenIds(ids: readonly string[], familyOf: RestContext['familyOf']): ChainAddress[] {
  const refs = new Map<string, ChainAddress>()
  const problems: ProblemItem[] = []
  for (const [index, id] of ids.entries()) {
    const parsed = parseChainAddress(id, 'token', familyOf)
    if (parsed === 'unknown_chain') continue
    if (parsed === 'malformed_id') {
      problems.push({ pointer: `#/token_ids/${index}`, detail: idProblemText(parsed, 'token') })
    } else refs.set(formatChainAddress(parsed.address, parsed.chain), parsed)
  }
  if (problems.length === 0) return [...refs.values()]
  throw new RequestError('malformed_id', 'some token_ids are malformed; see errors', problems)
}

/** The chains that an answer about these tokens speaks of: about none, it speaks of all. */
export function chainsOf(refs: readonly Pick<ChainAddress, 'chain'>[], all: readonly ChainInfo[]): string[] {
  return [...new Set((refs.length === 0 ? all : refs).map(({ chain }) => chain))]
}
