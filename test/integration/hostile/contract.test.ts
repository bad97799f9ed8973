import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hex } from 'viem'
import { compile } from '../../../dev/market/artifacts.ts'
import type { TradeTrial } from '../../../src/domain/inspection.ts'
import { FaultRig } from '../../faults/fault-rig.ts'
import { TestedReader } from '../../faults/tested-reader.ts'
import { waitFor } from '../../support/rigs/wait-for.ts'

/** Contracts whose answers are made to end the process that inspects them. */

const SOURCE = new URL('../../support/tokens/MisreportingTokens.sol', import.meta.url)

let rig: FaultRig
let reader: TestedReader

before(async () => {
  rig = await FaultRig.start()
  reader = await TestedReader.start(rig, { name: 'hostile_contracts', nodes: 1 })
  await reader.reach((await rig.scenario.market.head()).number)
})

after(async () => {
  await reader?.stop()
  await rig?.stop()
})

async function inPool(name: string): Promise<Hex> {
  const { market } = rig.scenario
  const token = await market.deploy(compile(name, SOURCE), [])
  await market.approve(token, market.router)
  await market.addLiquidityNative(token, 10n ** 24n, 100n * 10n ** 18n)
  await market.mine()
  return token
}

/** The chain goes on until the reader has inspected the token. */
async function inspected(token: Hex): Promise<TradeTrial> {
  return waitFor(
    `an inspection of ${token}`,
    async () => {
      await reader.reach(await rig.trade(1))
      for (const fact of await reader.facts()) {
        if (fact.type !== 'inspection' || fact.address !== token.toLowerCase()) continue
        const { trial } = fact.inspection
        if (typeof trial === 'object') return trial
      }
      return undefined
    },
    120_000,
  )
}

test('a transfer that seems to shrink the balance of its recipient fails, with an unknown tax', async () => {
  const { buy, transfer } = await inspected(await inPool('ShrinkingRecipientToken'))
  assert.deepEqual([buy.works, buy.taxPpm], [true, 0])
  assert.deepEqual(
    [transfer?.works, transfer?.taxPpm, transfer?.reason],
    [false, undefined, 'the balance of the recipient shrank'],
  )
})

test('a reason of surrogate pairs is truncated, and the reader continues', async () => {
  const { transfer } = await inspected(await inPool('AstralReasonToken'))
  assert.equal(transfer?.works, false)
  assert.match(transfer?.reason ?? '', /^(\u{1f4a3}){60}$/u)
})

test('no block was dropped, and the log equals the chain', async () => {
  await reader.reach(await rig.trade(3))
  assert.equal(await reader.metric('chaintape_reader_facts_dropped_total'), 0)
  await reader.expectTrueLog()
})
