import { encodeAbiParameters, type Hex, parseAbiParameters } from 'viem'
import type { Answer } from '../../../dex/protocol.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Asker, Calls } from '../../facts/asker.ts'
import { MULTICALL_CODE } from './multicall-code.ts'
import type { EvmRpc } from './rpc.ts'

/** Limits per contract: a hostile one can burn any gas it is given and return any length. */
export type CallLimits = { readonly gas: number; readonly answerBytes: number }

const PARAMETERS = parseAbiParameters('uint256, uint256, address[], bytes[]')
const MAX_AT_ONCE = 64
const WORD = 32

/** Asks contracts many questions in few requests. An answer is undefined when the call failed or was not answered. */
export class Multicall implements Asker {
  readonly #rpc: EvmRpc
  readonly #limits: CallLimits

  constructor(rpc: EvmRpc, limits: CallLimits) {
    this.#rpc = rpc
    this.#limits = limits
  }

  /** In the state after this block; if no node has it any more, in today's. */
  async ask(calls: Calls, blockHash: string): Promise<Answer[]> {
    try {
      return await this.#askAt(calls, blockHash)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      // If the nodes are all down instead, this fails too.
      return await this.#askAt(calls, 'latest')
    }
  }

  /** In the state after this block and no other: where no node has it any more, nothing is answered. */
  async askExactly(calls: Calls, blockHash: string): Promise<Answer[]> {
    try {
      return await this.#askAt(calls, blockHash)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      // Down nodes are no reason to do without an answer; that they have forgotten the state is.
      await this.#rpc.blockByTag('latest')
      return calls.map(() => undefined)
    }
  }

  async #askAt(calls: Calls, block: string): Promise<Answer[]> {
    if (calls.length === 0) return []
    if (calls.length > MAX_AT_ONCE) return this.#askHalves(calls, block)
    const { gas, answerBytes } = this.#limits
    const targets = calls.map(({ to }) => to as Hex)
    const data = calls.map((call) => call.data as Hex)
    const args = encodeAbiParameters(PARAMETERS, [BigInt(gas), BigInt(answerBytes), targets, data])
    const answer = await this.#rpc.runCode(`${MULTICALL_CODE}${args.slice(2)}` as Hex, block)
    if (answer !== undefined) return readAnswers(answer, calls.length)
    // All of them together were too much; one alone that is too much is not answered.
    return calls.length === 1 ? [undefined] : this.#askHalves(calls, block)
  }

  async #askHalves(calls: Calls, block: string): Promise<Answer[]> {
    const middle = Math.ceil(calls.length / 2)
    const first = await this.#askAt(calls.slice(0, middle), block)
    return [...first, ...(await this.#askAt(calls.slice(middle), block))]
  }
}

function readAnswers(answer: Hex, count: number): Answer[] {
  const bytes = Buffer.from(answer.slice(2), 'hex')
  const answers: Answer[] = []
  let at = 0
  while (answers.length < count && at + WORD <= bytes.length) {
    const length = bytes.readUInt32BE(at + WORD - 4) - 1
    at += WORD
    // An address without a contract returns nothing at all.
    answers.push(length > 0 ? bytes.subarray(at, at + length) : undefined)
    at += Math.max(0, length)
  }
  if (answers.length !== count || at !== bytes.length)
    throw new ChaintapeError('node_answer_invalid', 'eth_call: result of the wrong length')
  return answers
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ChaintapeError && error.code === 'node_unavailable'
}
