import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChaintapeError } from '../../../domain/errors.ts'
import { RpcFailure, type RpcFailureKind } from '../../rpc/rpc-failure.ts'
import { bindState, type EvmState, type SimulatedBlock } from './state-rpc.ts'

const CALL = { from: '0x01', to: '0x02', input: '0x', gas: '0x5208' } as const
const BLOCK: SimulatedBlock = { blockOverrides: { number: '0x1', time: '0x2' }, calls: [CALL] }

/** A node that gives this answer to everything. */
function answering(answer: unknown): EvmState {
  const request = async () => answer
  return bindState({ label: '', request, missedBlock() {}, sawHead() {}, unproved() {} })
}

function failing(kind: RpcFailureKind): EvmState {
  const request = async () => {
    throw new RpcFailure(kind, kind)
  }
  return bindState({ label: '', request, missedBlock() {}, sawHead() {}, unproved() {} })
}

const questions: readonly ((state: EvmState) => Promise<unknown>)[] = [
  (state) => state.code('0x01', '0x02'),
  (state) => state.storage('0x01', '0x00', '0x02'),
  (state) => state.callPretending(CALL, {}, '0x02'),
  (state) => state.simulate([BLOCK], '0x02'),
]

test('good answers', async () => {
  assert.equal(await answering('0x6001').code('0x01', '0x02'), '0x6001')
  assert.equal(await answering(`0x${'0'.repeat(63)}7`).storage('0x01', '0x00', '0x02'), 7n)
  const outcome = { status: '0x1', returnData: '0xab', gasUsed: '0x10', logs: [] }
  const reverted = { status: '0x0', returnData: '0x', gasUsed: '0x20', error: { code: 3, data: '0xcd' } }
  const plain = { status: '0x0', returnData: '0xef', gasUsed: '0x30', error: { code: -3200 } }
  const three = { ...BLOCK, calls: [CALL, CALL, CALL] }
  assert.deepEqual(await answering([{ calls: [outcome, reverted, plain] }]).simulate([three], '0x02'), [
    [
      { ok: true, data: '0xab', gasUsed: 16 },
      { ok: false, data: '0xcd', gasUsed: 32 },
      { ok: false, data: '0xef', gasUsed: 48 },
    ],
  ])
})

test('anything else is the node’s fault', async () => {
  const outcome = { status: '0x1', returnData: '0xab', gasUsed: '0x10' }
  const wrong: unknown[] = [
    null,
    7,
    {},
    [],
    '0xzz',
    `0x${'00'.repeat(4 * 2 ** 20)}`,
    [{ calls: [] }],
    [{ calls: [outcome, outcome] }],
    [{ calls: [outcome] }, { calls: [] }],
    [{ calls: [{ ...outcome, status: '0x2' }] }],
    [{ calls: [{ ...outcome, gasUsed: '0xffffffffffffffff' }] }],
    [{ calls: [{ ...outcome, returnData: 7 }] }],
    [{ calls: [null] }],
  ]
  for (const answer of wrong) {
    for (const ask of questions)
      await assert.rejects(
        ask(answering(answer)),
        { code: 'node_answer_invalid' },
        JSON.stringify(answer)?.slice(0, 99),
      )
  }
})

test('bytes come in whole', async () => {
  await assert.rejects(answering('0x123').code('0x01', '0x02'), { code: 'node_answer_invalid' })
})

test('any answer is an answer or the node’s fault', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.constantFrom(...questions), async (answer, ask) => {
      await ask(answering(answer)).catch((error: unknown) => {
        assert.ok(error instanceof ChaintapeError && error.code === 'node_answer_invalid', String(error))
      })
    }),
    { numRuns: 500 },
  )
})

test('a reverted request has no result; other failures are thrown', async () => {
  for (const ask of questions.slice(2)) {
    assert.equal(await ask(failing('reverted')), undefined)
    await assert.rejects(ask(failing('unsupported')), RpcFailure)
    await assert.rejects(ask(failing('unknown_block')), RpcFailure)
  }
})
