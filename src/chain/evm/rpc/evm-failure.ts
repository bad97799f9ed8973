import { RpcFailure } from '../../rpc/rpc-failure.ts'

/** JSON-RPC's code for a revert; geth and anvil both use it. */
const EXECUTION_REVERTED = 3
/** Codes under which nodes also report other failures of the called contract; only the text distinguishes them. */
const EXECUTION_FAILED = new Set([-32_000, -32_015])
const CONTRACT_FAULT = /revert|opcode|out of gas|stack|jump/i
/** Codes of `eth_simulateV1` for blocks that cannot be: what is asked is at fault, not the node. */
const SIMULATION_REFUSED = { from: -38_099, to: -38_000 }
const INVALID_PARAMETERS = -32_602
const OVERRIDES_REFUSED = /override|too many arguments/i
/**
 * Nodes and providers have no common code or word for too many logs, too many blocks to look for them in, or too
 * long a search; `evm-failure.test.ts` lists their messages.
 */
const TOO_MANY_LOGS: readonly RegExp[] = [
  /\branges?\b/i,
  /too many (?:blocks|logs|results)/i,
  /(?:more than|at most|limited to) [\d,.]+ (?:blocks|logs|results)/i,
  /number of requested blocks/i,
  /blocks distance/i,
  /max results/i,
  /response (?:size|too)/i,
  /exceeds limit of/i,
  /query must be smaller/i,
  /query timeout/i,
]
/** Ranges that are refused for another reason than their size. */
const INVALID_RANGE = /invalid block range/i
/** The code of EIP-4444 for blocks whose logs a node no longer has, and the words of nodes and providers. */
const PRUNED = 4_444
const PRUNED_TEXT =
  /\bpruned\b|\bhistor(?:y|ical)\b.*\b(?:unavailable|not available|expired)\b|\b(?:requires?|needs?) an? archive\b|\barchive\b.*\bnot (?:available|supported|enabled)\b/i
const RATE_LIMITED = new Set([429, -32_005, -32_029])
const RATE_LIMITED_TEXT = /rate.?limit|too many requests|(?:request|compute|capacity|quota)\S* .*exceeded/i
/** JSON-RPC's own, Ethereum's (EIP-1474) and Besu's for a method that is switched off. */
const UNSUPPORTED = new Set([-32_601, -32_004, -32_604])
/** geth's code and words for a batch whose answers add up to more than it sends. */
const RESPONSE_TOO_LARGE = -32_003
const RESPONSE_TOO_LARGE_TEXT = /response (?:is )?too (?:large|big)|batch (?:response )?size/i
const UNSUPPORTED_TEXT =
  /unsupported method|\bmethod\b.*\b(?:unsupported|does not exist|not (?:found|supported|available|enabled|allowed|whitelisted))/i
const UNKNOWN_BLOCK =
  /(?:header|block|hash)\b.*\bnot (?:found|currently canonical)|unknown block|BlockOutOfRange|beyond current head|missing trie node|state .*not available/i

/** The meaning of an error of an EVM node; nodes agree on few codes, so the text has to help. */
export function toEvmFailure(method: string, code: number, text: string): RpcFailure {
  const message = `${method}: error ${code}: ${text}`
  if (method === 'eth_call') {
    if (code === EXECUTION_REVERTED) return new RpcFailure('reverted', message)
    if (EXECUTION_FAILED.has(code) && CONTRACT_FAULT.test(text)) return new RpcFailure('reverted', message)
  }
  if (method === 'eth_simulateV1') {
    const isRefused = code >= SIMULATION_REFUSED.from && code <= SIMULATION_REFUSED.to
    if (isRefused || code === EXECUTION_REVERTED) return new RpcFailure('reverted', message)
    if (EXECUTION_FAILED.has(code) && CONTRACT_FAULT.test(text)) return new RpcFailure('reverted', message)
    // An early version of the method, with other parameters, is as good as none.
    if (code === INVALID_PARAMETERS && !UNKNOWN_BLOCK.test(text))
      return new RpcFailure('unsupported', message)
  }
  // It calls, but does not pretend.
  if (method === 'eth_call' && code === INVALID_PARAMETERS && OVERRIDES_REFUSED.test(text))
    return new RpcFailure('reverted', message)
  if (code === RESPONSE_TOO_LARGE && RESPONSE_TOO_LARGE_TEXT.test(text))
    return new RpcFailure('too_large', message)
  if (method === 'eth_getLogs' && (code === PRUNED || PRUNED_TEXT.test(text)))
    return new RpcFailure('pruned', message)
  if (method === 'eth_getLogs' && isTooManyLogs(text)) return new RpcFailure('too_many_logs', message)
  if (RATE_LIMITED.has(code) || RATE_LIMITED_TEXT.test(text)) return new RpcFailure('rate_limited', message)
  if (UNSUPPORTED.has(code) || UNSUPPORTED_TEXT.test(text)) return new RpcFailure('unsupported', message)
  return new RpcFailure(UNKNOWN_BLOCK.test(text) ? 'unknown_block' : 'failed', message)
}

function isTooManyLogs(text: string): boolean {
  if (INVALID_RANGE.test(text) || UNKNOWN_BLOCK.test(text)) return false
  return TOO_MANY_LOGS.some((words) => words.test(text))
}
