import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import type { FaultyProxy } from '../support/rigs/faulty-proxy.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { FaultRig } from './fault-rig.ts'
import { TestedReader } from './tested-reader.ts'

const FORK_DEPTH = 12
/** Deeper than the fork will be, however long the tests go on trading. */
const FAR = 400
const WRONG = 'RPC endpoint returned invalid data'
const HALTED = 'Chain halted'

let rig: FaultRig
let other: Stack

before(async () => {
  rig = await FaultRig.start()
  const head = await rig.trade(20)
  // A node that left the chain some blocks ago, and has come further since than the others will while this runs.
  const left = ['--fork-url', rig.stack.rpcUrl, '--fork-block-number', `${head - FORK_DEPTH}`]
  other = await startStack({ services: ['anvil'], anvil: ['--no-mining', ...left] })
  await rig.ask('anvil_mine', ['0x320'], other.rpcUrl)
})

after(async () => {
  await other?.stop()
  await rig?.stop()
})

type Setup = { readonly name: string; readonly nodes: number; readonly finalityDepth: number }

/** A reader that has read the true chain; its nodes then go astray. */
async function withReader(
  { name, nodes, finalityDepth }: Setup,
  run: (reader: TestedReader) => Promise<void>,
): Promise<void> {
  const reader = await TestedReader.start(rig, { name, nodes, chain: { finality_depth: finalityDepth } })
  try {
    await reader.reach((await rig.scenario.market.head()).number)
    await run(reader)
  } finally {
    await reader.stop()
  }
}

const goAstray = (proxies: readonly FaultyProxy[]): void => {
  for (const proxy of proxies) proxy.fault = { kind: 'elsewhere', nodeUrl: other.rpcUrl }
}

// One after the other: what one of them trades would change the others' forks.
describe('a node on another branch', () => {
  for (const finalityDepth of [5, FAR]) {
    const what = finalityDepth < FORK_DEPTH ? 'below what is final' : 'that is deep'
    test(`${what} is denied by the other node, named, and left`, () =>
      withReader({ name: `denied_${finalityDepth}`, nodes: 2, finalityDepth }, async (reader) => {
        const culprit = await reader.favourite()
        goAstray([culprit])
        await reader.named(culprit, 'invalid', WRONG)
        await reader.reach(await rig.trade(3))
        await reader.expectTrueLog()
        assert.equal(await reader.metric('chaintape_reader_envelopes_total', { kind: 'undo' }), 0)
        assert.deepEqual(reader.lines(HALTED), [])
        culprit.fault = { kind: 'none' }
        await reader.reach(await rig.trade(1))
        assert.equal((await reader.page('/readyz')).status, 200)
      }))
  }

  for (const nodes of [1, 2]) {
    const reporters = nodes === 1 ? 'from the only node' : 'from two nodes that agree'
    test(`below the final block, ${reporters}, halts the chain; the process stays up and reports it`, () =>
      withReader({ name: `halted_${nodes}`, nodes, finalityDepth: 5 }, async (reader) => {
        const tip = await reader.tip()
        goAstray(reader.proxies)
        const [line] = await waitFor('the halt', () => {
          const lines = reader.lines(HALTED)
          return lines.length > 0 ? lines : undefined
        })
        assert.equal(line?.['code'], 'fork_below_final')
        const labels = { chain: 'local', code: 'fork_below_final' }
        assert.equal(await reader.metric('chaintape_chain_fault', labels), 1)
        const readiness = await reader.page('/readyz')
        assert.equal(readiness.status, 503)
        assert.match(readiness.text, /^local: fork_below_final: /)
        assert.equal((await reader.page('/healthz')).status, 200)
        for (const proxy of reader.proxies) proxy.fault = { kind: 'none' }
        await rig.trade(1)
        await new Promise((resolve) => setTimeout(resolve, 500))
        assert.equal(await reader.tip(), tip, 'only an operator can end this')
        assert.equal(reader.lines(HALTED).length, 1)
        await reader.expectTrueLog()
      }))
  }

  test('that is deep is followed when it is the only one there is', () =>
    withReader({ name: 'followed', nodes: 1, finalityDepth: FAR }, async (reader) => {
      const tip = await reader.tip()
      goAstray(reader.proxies)
      await reader.reach(tip + 20)
      assert.equal(await reader.metric('chaintape_reader_envelopes_total', { kind: 'undo' }), 1)
    }))
})
