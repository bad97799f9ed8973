import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { RpcOutcome } from '../../src/chain/rpc/endpoint-reports.ts'
import type { Fault, FaultyProxy } from '../support/rigs/faulty-proxy.ts'
import { FaultRig } from './fault-rig.ts'
import { TestedReader } from './tested-reader.ts'

type Row = {
  readonly name: string
  readonly fault: Fault
  /** How the endpoint at fault is named: in the metrics, and by which line of the log. */
  readonly outcome: RpcOutcome
  readonly line: string
}

const DOWN = 'RPC endpoint unreachable'
const UNPROVED = 'RPC endpoint has no eth_getBlockReceipts; logs verified by bloom filter only'
const WRONG = 'RPC endpoint returned invalid data'
const ROWS: readonly Row[] = [
  { name: 'hang', fault: { kind: 'hang' }, outcome: 'timeout', line: DOWN },
  {
    name: 'limit_http',
    fault: { kind: 'limit', perSecond: 4, by: 'http' },
    outcome: 'rate_limited',
    line: 'RPC endpoint rate limited',
  },
  { name: 'truncated', fault: { kind: 'truncated' }, outcome: 'failed', line: DOWN },
  { name: 'reset', fault: { kind: 'reset' }, outcome: 'failed', line: DOWN },
  { name: 'no_logs', fault: { kind: 'no_logs' }, outcome: 'invalid', line: WRONG },
  { name: 'invented', fault: { kind: 'invented' }, outcome: 'invalid', line: WRONG },
  { name: 'wrong_receipt', fault: { kind: 'lie' }, outcome: 'invalid', line: WRONG },
]

const BEHIND: Row = {
  name: 'behind',
  fault: { kind: 'lag', blocks: 20 },
  outcome: 'lagging',
  line: 'RPC endpoint lagging',
}

let rig: FaultRig

before(async () => {
  rig = await FaultRig.start()
})

after(() => rig?.stop())

// Alone: while all the others trade, twenty blocks are less than the time between two looks at a node.
withSecondNode(BEHIND)

/** Each takes long because of what it waits for, not because of what it does. */
describe('one fault', { concurrency: 3 }, () => {
  // A single node's latest block cannot be checked.
  const alone = ROWS.filter(({ fault }) => fault.kind !== 'invented')
  for (const { name, fault, outcome, line } of alone) {
    test(`${name}, alone: nothing wrong is read, and when it is over reading goes on by itself`, () =>
      withReader(`one_${name}`, 1, async (reader) => {
        const [culprit] = reader.proxies as [FaultyProxy]
        await reader.reach(await rig.trade(1))
        culprit.fault = fault
        const head = await rig.trade(3)
        await reader.named(culprit, outcome, line)
        await reader.expectTrueLog()
        if (fault.kind !== 'limit') assert.ok((await reader.tip()) < head, 'nothing can be read like this')
        culprit.fault = { kind: 'none' }
        await reader.reach(head)
        await reader.expectTrueLog()
      }))
  }

  for (const row of ROWS) withSecondNode(row)

  test('no receipts, alone: logs are taken by the bloom filter, and that is said once', () =>
    withReader('one_no_receipts', 1, async (reader) => {
      const [culprit] = reader.proxies as [FaultyProxy]
      culprit.fault = { kind: 'no_receipts' }
      await reader.reach(await rig.trade(3))
      await reader.named(culprit, 'unsupported', 'RPC endpoint lacks a method')
      await reader.named(culprit, 'unproved', UNPROVED)
      const tip = await reader.tip()
      assert.ok((await reader.count(culprit, 'unproved')) > tip, 'every block, genesis too')
      const asked = await reader.count(culprit, 'unsupported')
      await reader.reach(await rig.trade(3))
      assert.equal(await reader.count(culprit, 'unsupported'), asked, 'not asked again')
      for (const line of [UNPROVED, 'RPC endpoint lacks a method']) assert.equal(reader.lines(line).length, 1)
      await reader.expectTrueLog()
      culprit.fault = { kind: 'no_receipts', hides: 'logs' }
      const head = await rig.trade(3)
      await reader.named(culprit, 'invalid', WRONG)
      assert.ok((await reader.tip()) < head)
      await reader.expectTrueLog()
      culprit.fault = { kind: 'no_receipts' }
      await reader.reach(head)
      await reader.expectTrueLog()
    }))

  test('no receipts, with a second node that has them: that one proves every block', () =>
    withReader('two_no_receipts', 2, async (reader) => {
      await reader.reach(await rig.trade(1))
      const culprit = await reader.favourite()
      const healthy = reader.proxies.find((proxy) => proxy !== culprit) as FaultyProxy
      culprit.fault = { kind: 'no_receipts', hides: 'logs' }
      await reader.reach(await rig.trade(5))
      await reader.named(culprit, 'unsupported', 'RPC endpoint lacks a method')
      assert.equal(reader.lines(UNPROVED).length, 0)
      await reader.expectTrueLog()
      // Better by logs alone than not at all.
      culprit.fault = { kind: 'no_receipts' }
      healthy.fault = { kind: 'reset' }
      await reader.reach(await rig.trade(3))
      await reader.named(culprit, 'unproved', UNPROVED)
      await reader.expectTrueLog()
    }))
})

function withSecondNode({ name, fault, outcome, line }: Row): void {
  test(`${name}, with a healthy second node: reading continues, and the faulty node is reported`, () =>
    withReader(`two_${name}`, 2, async (reader) => {
      await reader.reach(await rig.trade(1))
      const culprit = await reader.favourite()
      culprit.fault = fault
      await reader.reach(await rig.trade(5))
      await reader.named(culprit, outcome, line)
      await reader.expectTrueLog()
      culprit.fault = { kind: 'none' }
      await reader.reach(await rig.trade(2))
      await reader.expectTrueLog()
    }))
}

async function withReader(
  name: string,
  nodes: number,
  run: (reader: TestedReader) => Promise<void>,
): Promise<void> {
  const reader = await TestedReader.start(rig, { name, nodes })
  try {
    await run(reader)
  } finally {
    await reader.stop()
  }
}
