import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Scenario } from '../e2e/scenario.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { repo } from './blocks.ts'

/** What the guide on nodes says a reader asks for, compared with what it does ask for. */

const BLOCKS = 20
const POLL_MS = 200

let stack: Stack | undefined
let pipeline: Pipeline | undefined
let proxy: Server | undefined

after(async () => {
  await pipeline?.stop()
  proxy?.close()
  await stack?.stop()
})

/** Forwards to a node, and counts requests by method. */
async function startCountingProxy(rpcUrl: string, counts: Map<string, number>): Promise<Server> {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    // Each request of a batch counts, as it does for those who sell them.
    for (const { method } of [JSON.parse(body) as { method: string } | { method: string }[]].flat())
      counts.set(method, (counts.get(method) ?? 0) + 1)
    const answer = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    response.setHeader('content-type', 'application/json').end(await answer.text())
  })
  await new Promise<void>((started) => server.listen(0, '127.0.0.1', started))
  return server
}

test('a block takes as many requests as the guide says', async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  const counts = new Map<string, number>()
  proxy = await startCountingProxy(stack.rpcUrl, counts)
  const rpcUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const scenario = await Scenario.deploy(stack.rpcUrl)
  pipeline = new Pipeline({ ...stack, rpcUrl }, 'load', { poll_ms: POLL_MS })
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
  const known = pipeline
  const reached = async (): Promise<void> => {
    const { number, time } = await scenario.market.head()
    await known.reaches(`/v2/pairs/${scenario.tokenPair}-local`, { number, time })
  }
  // Names, histories and inspections are asked for once.
  for (let block = 0; block < BLOCKS; block++) await scenario.tradeBlock()
  await waitFor('the token to be inspected', async () => {
    const { body } = await known.get(`/v2/contracts/${scenario.token}-local`)
    if ('risk_score' in (body as object)) return true
    await scenario.market.mine()
    return undefined
  })
  await reached()
  await sleep(2_000)

  const measure = async (mine: () => Promise<void>): Promise<{ perBlock: number; perPoll: number }> => {
    counts.clear()
    await sleep(POLL_MS * 20)
    const perPoll = total(counts) / 20
    counts.clear()
    const started = performance.now()
    for (let block = 0; block < BLOCKS; block++) {
      await mine()
      await reached()
    }
    const polls = (performance.now() - started) / POLL_MS
    console.log(Object.fromEntries(counts))
    return { perPoll, perBlock: (total(counts) - polls * perPoll) / BLOCKS }
  }
  const quiet = await measure(() => scenario.market.mine())
  const busy = await measure(async () => {
    await scenario.market.buyWithNative(scenario.token, 10n ** 15n)
    await scenario.market.sellForNative(scenario.token, 10n ** 9n)
    await scenario.market.mine()
  })
  console.log({ quiet, busy })
  const page = readFileSync(resolve(repo, 'docs/guides/own-node.md'), 'utf8')
  const documented = (what: string): number =>
    Number(new RegExp(`(\\d+) requests per ${what}`).exec(page)?.[1])
  for (const { perBlock, perPoll } of [quiet, busy]) {
    assert.ok(perBlock <= documented('block'), `${perBlock} per block`)
    assert.ok(perPoll <= documented('poll'), `${perPoll} per poll`)
  }
})

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}
