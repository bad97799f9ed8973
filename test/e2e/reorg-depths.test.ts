import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestClient, encodeFunctionData, type Hex, http, toHex } from 'viem'
import { foundry } from 'viem/chains'
import { uniswapV2Router } from '../../dev/market/artifacts.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Random } from '../fuzz/random.ts'
import { canonicalView } from '../support/reference/canonical-log.ts'
import type { CanonicalView } from '../support/reference/canonical-view.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { assertSameAsNode } from './node-chain.ts'
import { Scenario } from './scenario.ts'

/** anvil calls final what is two epochs below its head: no fork is deeper, and none of these is less deep. */
const FINAL_BELOW_HEAD = 64
const DEPTHS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 63, 64]

let stack: Stack
let scenario: Scenario
let reader: Pipeline
let forks = 0

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  await trade(FINAL_BELOW_HEAD + 6)
  reader = new Pipeline(stack, 'depths')
  await reader.start('reader')
  await expectSame(reader)
})

after(async () => {
  await reader?.stop()
  await stack?.stop()
})

/**
 * Replaces the newest blocks by as many others. The first of them holds a swap like no other: without it, anvil
 * would mine the very blocks again that the fork before this one has mined.
 */
async function fork(depth: number): Promise<void> {
  const { market, token } = scenario
  const from = (await market.accounts())[1] as Hex
  const data = encodeFunctionData({
    abi: uniswapV2Router.abi,
    functionName: 'swapExactETHForTokens',
    args: [0n, [market.weth, token], from, 2n ** 64n],
  })
  const swap = { from, to: market.router, data, value: toHex(1_000_000 + forks++), gas: toHex(3_000_000) }
  await client().request({ method: 'anvil_reorg', params: [depth, [[swap, 0]]] } as never)
}

function client() {
  return createTestClient({ chain: foundry, mode: 'anvil', transport: http(stack.rpcUrl) })
}

async function trade(blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block++) await scenario.tradeBlock()
}

/** Waits until the log has the node's head, and compares all of it. */
async function expectSame({ name }: Pipeline): Promise<CanonicalView> {
  const head = await scenario.market.head()
  const finalAt = Math.max(0, head.number - FINAL_BELOW_HEAD)
  const view = await waitFor(`the log to reach block ${head.number}`, async () => {
    const seen = await canonicalView(stack, name)
    return seen.tip?.hash === head.hash && (seen.final?.number ?? 0) >= finalAt ? seen : undefined
  })
  assert.equal(view.final?.number ?? 0, finalAt, 'nothing is called final that may still be undone')
  const { stablePair, tokenPair } = scenario
  const { events } = await assertSameAsNode(view, stack.rpcUrl, [stablePair, tokenPair])
  assert.ok(events > 0)
  return view
}

test('a fork of every depth, down to the final block', async () => {
  const random = new Random(7)
  const more = Array.from({ length: 4 }, () => random.between(1, FINAL_BELOW_HEAD))
  for (const depth of [...DEPTHS, ...more]) {
    const before = await expectSame(reader)
    await fork(depth)
    const { undos } = await expectSame(reader)
    // More than one, if the reader looks while anvil is still at it.
    const ancestors = undos.slice(before.undos.length).map(({ number }) => number)
    assert.equal(Math.min(...ancestors), before.blocks.length - 1 - depth)
    // What is replaced next time is not all empty.
    await trade(random.between(1, 6))
  }
})

test('forks inside one another, seen one by one and only when all is over', async () => {
  for (const isSeen of [true, false]) {
    for (const depth of [10, 4, 20, 2, 33, 40]) {
      await fork(depth)
      await trade(2)
      if (isSeen) await expectSame(reader)
    }
    await expectSame(reader)
  }
})

test('a chain that first becomes shorter, then longer on another branch', async () => {
  for (const depth of [1, 6, 30]) {
    const id = await client().snapshot()
    await trade(depth)
    await expectSame(reader)
    await client().revert({ id })
    await scenario.market.mineMany(depth - 1)
    await trade(3)
    await expectSame(reader)
  }
})

test('a fork while the reader is down, and one right after it starts', async () => {
  for (const depth of [1, 9, 48, 64]) {
    await reader.role('reader').kill('SIGKILL')
    await fork(depth)
    await trade(1)
    reader.spawn('reader')
    await reader.role('reader').logged('Reader is leader')
    await fork(3)
    await expectSame(reader)
  }
})

test('forks at the head while a reader catches up with it', async () => {
  const random = new Random(11)
  await scenario.market.mineMany(400)
  const latecomer = new Pipeline(stack, 'latecomer', { read_ahead_blocks: 16 })
  try {
    latecomer.spawn('reader')
    await latecomer.role('reader').logged('Reader is leader')
    let forksOnTheWay = 0
    for (let isThere = false; !isThere; ) {
      await fork(random.between(1, 40))
      await scenario.market.mineMany(random.below(3))
      const head = await scenario.market.head()
      const { tip } = await canonicalView(stack, latecomer.name)
      isThere = tip !== undefined && tip.number >= head.number - 1
      if (tip !== undefined && !isThere) forksOnTheWay++
    }
    assert.ok(forksOnTheWay > 2, `${forksOnTheWay} forks while it was on its way`)
    await trade(2)
    await expectSame(latecomer)
    await expectSame(reader)
  } finally {
    await latecomer.stop()
  }
})
