import type { Hex } from 'viem'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { EndpointSession } from '../../rpc/endpoint-pool.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'

/** State override of an account. */
export type StateOverride = {
  readonly code?: Hex
  readonly balance?: Hex
  readonly stateDiff?: Readonly<Record<Hex, Hex>>
}
export type StateOverrides = Readonly<Record<string, StateOverride>>

export type SimulatedCall = { readonly from: Hex; readonly to: Hex; readonly input: Hex; readonly gas: Hex }

export type SimulatedBlock = {
  readonly blockOverrides: { readonly number: Hex; readonly time: Hex }
  readonly stateOverrides?: StateOverrides
  readonly calls: readonly SimulatedCall[]
}

/** When it failed, `data` is what it reverted with. */
export type CallOutcome = { readonly ok: boolean; readonly data: Hex; readonly gasUsed: number }

/** Questions about the state after a block. */
export type EvmState = {
  code(address: string, blockHash: string): Promise<Hex>
  storage(address: string, slot: Hex, blockHash: string): Promise<bigint>
  /** A call in a state that is pretended; undefined when it reverts, or the node does not pretend. */
  callPretending(call: SimulatedCall, overrides: StateOverrides, blockHash: string): Promise<Hex | undefined>
  /** Blocks that might come next, each after the one before. Undefined when the node refuses to simulate these. */
  simulate(
    blocks: readonly SimulatedBlock[],
    blockHash: string,
  ): Promise<readonly (readonly CallOutcome[])[] | undefined>
}

const DATA = /^0x[0-9a-f]*$/
const WORD = /^0x[0-9a-f]{1,64}$/
const QUANTITY = /^0x[0-9a-f]{1,12}$/
/** Far more than the gas of any call pays for. */
const MAX_ANSWER_LETTERS = 8 * 1024 * 1024

export function bindState(session: EndpointSession): EvmState {
  return {
    code: async (address, blockHash) =>
      data('eth_getCode', await session.request('eth_getCode', [address, { blockHash }])),
    storage: async (address, slot, blockHash) => {
      const answer = await session.request('eth_getStorageAt', [address, slot, { blockHash }])
      if (typeof answer !== 'string' || !WORD.test(answer)) throw invalid('eth_getStorageAt')
      return BigInt(answer)
    },
    callPretending: (call, overrides, blockHash) =>
      unlessReverted(async () =>
        data('eth_call', await session.request('eth_call', [call, { blockHash }, overrides])),
      ),
    simulate: (blocks, blockHash) =>
      unlessReverted(async () => {
        const options = { blockStateCalls: blocks, validation: false }
        return readBlocks(blocks, await session.request('eth_simulateV1', [options, { blockHash }]))
      }),
  }
}

async function unlessReverted<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof RpcFailure && error.kind === 'reverted') return undefined
    throw error
  }
}

function data(method: string, answer: unknown): Hex {
  if (typeof answer !== 'string' || answer.length > MAX_ANSWER_LETTERS) throw invalid(method)
  if (answer.length % 2 !== 0 || !DATA.test(answer)) throw invalid(method)
  return answer as Hex
}

function readBlocks(asked: readonly SimulatedBlock[], answer: unknown): CallOutcome[][] {
  if (!Array.isArray(answer) || answer.length !== asked.length) throw invalid('eth_simulateV1')
  return asked.map(({ calls }, index) => {
    const { calls: outcomes } = Object(answer[index]) as { calls?: unknown }
    if (!Array.isArray(outcomes) || outcomes.length !== calls.length) throw invalid('eth_simulateV1')
    return outcomes.map(readOutcome)
  })
}

function readOutcome(answer: unknown): CallOutcome {
  const { status, returnData, gasUsed, error } = Object(answer) as Record<string, unknown>
  if (status !== '0x1' && status !== '0x0') throw invalid('eth_simulateV1')
  if (typeof gasUsed !== 'string' || !QUANTITY.test(gasUsed)) throw invalid('eth_simulateV1')
  const ok = status === '0x1'
  // Some nodes put what a call reverted with into its error.
  const thrown = ok ? undefined : (Object(error) as { data?: unknown }).data
  const returned = thrown ?? returnData ?? '0x'
  return { ok, data: data('eth_simulateV1', returned), gasUsed: Number(gasUsed) }
}

function invalid(method: string): ChaintapeError {
  return new ChaintapeError('node_answer_invalid', `${method}: malformed result`)
}
