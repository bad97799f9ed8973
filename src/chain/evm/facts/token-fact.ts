import { smallUintAt, uintAt } from '../../../dex/evm/abi.ts'
import type { Answer, Call } from '../../../dex/protocol.ts'
import type { TokenFact } from '../../../domain/envelope.ts'
import type { Asker } from '../../facts/asker.ts'

const NAME = '0x06fdde03'
const SYMBOL = '0x95d89b41'
const DECIMALS = '0x313ce567'
const TOTAL_SUPPLY = '0x18160ddd'
const WORD = 32
const MAX_UINT8 = 255

export const QUESTIONS_PER_TOKEN = 4

export function tokenQuestions(token: string): Call[] {
  return [NAME, SYMBOL, DECIMALS, TOTAL_SUPPLY].map((data) => ({ to: token, data }))
}

export function toTokenFact(address: string, answers: readonly Answer[]): TokenFact {
  const [name, symbol, decimals, supply] = answers
  const claimed = smallUintAt(decimals, 0)
  return {
    type: 'token',
    address,
    nameRaw: textBytes(name),
    symbolRaw: textBytes(symbol),
    decimals: claimed === undefined || claimed > MAX_UINT8 ? undefined : claimed,
    supplyRaw: uintAt(supply, 0),
  }
}

/** A contract that does not report decimals and a supply is no token. */
export async function tokensAmong(
  asker: Pick<Asker, 'askExactly'>,
  contracts: readonly string[],
  blockHash: string,
): Promise<string[]> {
  const calls = contracts.flatMap((to) => [
    { to, data: DECIMALS },
    { to, data: TOTAL_SUPPLY },
  ])
  const answers = await asker.askExactly(calls, blockHash)
  return contracts.filter((_, at) => {
    const decimals = smallUintAt(answers[2 * at], 0)
    return decimals !== undefined && decimals <= MAX_UINT8 && uintAt(answers[2 * at + 1], 0) !== undefined
  })
}

/** The text in an answer: a `string`, or a `bytes32` of older tokens; otherwise empty. */
function textBytes(answer: Answer): Uint8Array {
  if (answer === undefined) return new Uint8Array()
  if (answer.length === WORD) {
    const end = answer.indexOf(0)
    return end === -1 ? answer : answer.subarray(0, end)
  }
  const offset = smallUintAt(answer, 0)
  if (offset === undefined || offset % WORD !== 0) return new Uint8Array()
  const length = smallUintAt(answer, offset / WORD)
  if (length === undefined) return new Uint8Array()
  const start = offset + WORD
  // A hostile token may claim any length, and the answer was truncated at a limit.
  return answer.subarray(start, Math.min(start + length, answer.length))
}
