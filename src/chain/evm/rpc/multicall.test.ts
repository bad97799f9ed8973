import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeAbiParameters, type Hex, parseAbiParameters } from 'viem'
import { ChaintapeError } from '../../../domain/errors.ts'
import { Multicall } from './multicall.ts'
import { MULTICALL_CODE } from './multicall-code.ts'
import type { EvmRpc } from './rpc.ts'

const LIMITS = { gas: 1_000_000, answerBytes: 64 }

/** Answers each call with the number in its data; what the calls together may be is up to the test. */
function nodeThat(
  answer: (data: readonly Hex[], block: string) => Hex | undefined,
): EvmRpc & { asked: number[] } {
  const asked: number[] = []
  return {
    asked,
    runCode: async (code: Hex, block: string) => {
      const args = `0x${code.slice(MULTICALL_CODE.length)}` as Hex
      const [, , , data] = decodeAbiParameters(
        parseAbiParameters('uint256, uint256, address[], bytes[]'),
        args,
      )
      asked.push(data.length)
      return answer(data, block)
    },
    blockByTag: async () => null,
  } as unknown as EvmRpc & { asked: number[] }
}

const echo = (data: readonly Hex[]): Hex =>
  `0x${data.map((bytes) => ((bytes.length - 2) / 2 + 1).toString(16).padStart(64, '0') + bytes.slice(2)).join('')}`
const call = (number: number) => ({
  to: `0x${'11'.repeat(20)}`,
  data: `0x${number.toString(16).padStart(8, '0')}`,
})
const calls = (count: number) => Array.from({ length: count }, (_, number) => call(number))
const numbers = (answers: readonly (Uint8Array | undefined)[]) =>
  answers.map((answer) => (answer === undefined ? undefined : Buffer.from(answer).readUInt32BE(0)))

describe('many questions', () => {
  test('are asked in few requests and answered in order', async () => {
    const rpc = nodeThat(echo)
    const asker = new Multicall(rpc, LIMITS)
    assert.deepEqual(numbers(await asker.ask(calls(150), '0x0a')), [...Array(150).keys()])
    assert.ok(rpc.asked.length <= 4, `${rpc.asked}`)
    assert.deepEqual(await asker.ask([], '0x0a'), [])
  })

  test('that are too much together are asked apart; only the one that is too much alone stays open', async () => {
    const rpc = nodeThat((data) => (data.includes('0x00000007') ? undefined : echo(data)))
    const answers = numbers(await new Multicall(rpc, LIMITS).ask(calls(20), '0x0a'))
    assert.deepEqual(
      answers,
      [...Array(20).keys()].map((number) => (number === 7 ? undefined : number)),
    )
  })

  test('a failed call and an empty answer are no answer', async () => {
    const rpc = nodeThat(() => `0x${'0'.repeat(64)}${'1'.padStart(64, '0')}${'2'.padStart(64, '0')}ab`)
    const answers = await new Multicall(rpc, LIMITS).ask(calls(3), '0x0a')
    assert.deepEqual(answers, [undefined, undefined, Buffer.from([0xab])])
  })

  test('an answer of another length is invalid', async () => {
    for (const answer of ['0x', '0x00', `0x${'5'.padStart(64, '0')}ab`, `0x${'0'.repeat(64)}00`] as const) {
      const asker = new Multicall(
        nodeThat(() => answer),
        LIMITS,
      )
      await assert.rejects(asker.ask(calls(1), '0x0a'), { code: 'node_answer_invalid' })
    }
  })
})

describe('a state that no node has any more', () => {
  const forgetful = () =>
    nodeThat((data, block) => {
      if (block !== 'latest') throw new ChaintapeError('node_unavailable', 'missing trie node')
      return echo(data)
    })

  test("is replaced by today's for what does not change", async () => {
    assert.deepEqual(numbers(await new Multicall(forgetful(), LIMITS).ask(calls(1), '0x0a')), [0])
  })

  test('answers nothing where it has to be that state', async () => {
    assert.deepEqual(await new Multicall(forgetful(), LIMITS).askExactly(calls(2), '0x0a'), [
      undefined,
      undefined,
    ])
  })
})
