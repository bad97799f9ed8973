import { type ChainId, formatChainId, parseChainId } from '../../../domain/ids.ts'
import { type ProblemItem, RequestError } from '../../problem.ts'
import type { ChainInfo, RestContext } from '../context.ts'
import { idProblemText } from '../path-id.ts'

/** The tokens a body names, each once; or what is wrong with each of those that cannot be read. */
export function parseTokenIds(ids: readonly string[], familyOf: RestContext['familyOf']): ChainId[] {
  const refs = new Map<string, ChainId>()
  const problems: (ProblemItem & { readonly code: 'malformed_id' | 'unknown_chain' })[] = []
  for (const [index, id] of ids.entries()) {
    const parsed = parseChainId(id, 'token', familyOf)
    if (typeof parsed === 'string') {
      const pointer = `#/token_ids/${index}`
      problems.push({ code: parsed, pointer, detail: idProblemText(parsed, 'token') })
    } else refs.set(formatChainId(parsed.address, parsed.chain), parsed)
  }
  const [first] = problems
  if (first === undefined) return [...refs.values()]
  const items = problems.map(({ pointer, detail }) => ({ pointer, detail }))
  throw new RequestError(first.code, 'some token_ids cannot be read', items)
}

/** The chains that an answer about these tokens speaks of: about none, it speaks of all. */
export function chainsOf(refs: readonly Pick<ChainId, 'chain'>[], all: readonly ChainInfo[]): string[] {
  return [...new Set((refs.length === 0 ? all : refs).map(({ chain }) => chain))]
}
