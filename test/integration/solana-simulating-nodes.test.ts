import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { KeyPairSigner } from '@solana/kit'
import { rpcError } from '../support/rigs/solana-ledger.ts'
import { SplWorld } from '../support/rigs/spl-world.ts'

/** Simulations of a node that lacks the methods, fails or lies. */

describe('a node', () => {
  type Simulated = { value: { err: unknown; logs: unknown; accounts: { data: [string, string] }[] | null } }
  const simulated = (change: (answer: Simulated) => unknown) => (method: string, answer: unknown) =>
    method === 'simulateTransaction' ? change(answer as Simulated) : answer
  const failing = (instruction: number, code: number) =>
    simulated(({ value, ...rest }) => {
      return { ...rest, value: { ...value, err: { InstructionError: [instruction, { Custom: code }] } } }
    })

  test('without these methods leaves the transfers unknown, and the findings are reported', async () => {
    const world = await SplWorld.open({})
    for (const without of ['simulateTransaction', 'getTokenLargestAccounts']) {
      world.node.falsify = (method, answer) => {
        if (method === without) throw rpcError(-32_601, 'Method not found')
        return answer
      }
      const { holderTransfers, trial, findings } = await world.inspect()
      assert.deepEqual([holderTransfers, trial], [undefined, 'no_pair'])
      assert.equal(findings.blacklist.length, 1)
    }
  })

  test('that contradicts itself is not believed', async () => {
    const world = await SplWorld.open({})
    const lies: [string, (method: string, answer: unknown) => unknown][] = [
      ['a failure without a cause', failing(2, 17)],
      [
        'another amount',
        simulated((answer) => {
          const [account] = answer.value.accounts ?? assert.fail('no accounts')
          const data = Buffer.from(account?.data[0] ?? '', 'base64')
          data.writeBigUInt64LE(data.readBigUInt64LE(64) - 1n, 64)
          const shown = { ...account, data: [data.toString('base64'), 'base64'] }
          return { ...answer, value: { ...answer.value, accounts: [shown] } }
        }),
      ],
      ['no recipient', simulated((answer) => ({ ...answer, value: { ...answer.value, accounts: [null] } }))],
      ['no accounts', simulated((answer) => ({ ...answer, value: { ...answer.value, accounts: null } }))],
      ['no result', simulated((answer) => ({ ...answer, value: { logs: [] } }))],
      ['nothing', simulated(() => null)],
      ['an old slot', simulated((answer) => ({ ...answer, context: { slot: -1 } }))],
    ]
    for (const [name, falsify] of lies) {
      world.node.falsify = falsify
      assert.equal(await world.transfers(), undefined, name)
    }
    const [, ben] = world.holders as [KeyPairSigner, KeyPairSigner]
    world.node.falsify = (_, answer) => answer
    const honest: unknown[] = []
    world.node.falsify = simulated((answer) => honest.push(answer) && answer)
    await world.transfers()
    await world.freeze(ben)
    world.node.falsify = simulated(() => honest[0])
    assert.equal(await world.transfers(), undefined, 'a frozen account that transfers')
  })

  test('whose state has moved on, or that fails for reasons of its own, says nothing of the token', async () => {
    const world = await SplWorld.open({})
    world.node.falsify = failing(1, 1)
    assert.equal(await world.transfers(), undefined, 'all holders have sold')
    world.node.falsify = failing(0, 1)
    assert.equal(await world.transfers(), undefined, 'the payer has no lamports')
    world.node.falsify = simulated((answer) => ({
      ...answer,
      value: { ...answer.value, err: 'BlockhashNotFound' },
    }))
    assert.equal(await world.transfers(), undefined)
  })

  test('reasons are cleaned and cut', async () => {
    const world = await SplWorld.open({})
    await world.freeze(...world.holders)
    const logs = [`Program log: Error: \u202e${'x'.repeat(500)}`, 7, 'Program log: Instruction: Transfer']
    world.node.falsify = simulated((answer) => ({ ...answer, value: { ...answer.value, logs } }))
    assert.equal((await world.transfers())?.failure?.reason, 'x'.repeat(64))
    world.node.falsify = simulated((answer) => ({ ...answer, value: { ...answer.value, logs: 'none' } }))
    assert.equal((await world.transfers())?.failure?.reason, 'error 17')
  })
})
