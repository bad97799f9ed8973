import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Trade } from '../../src/domain/change.ts'
import type { Envelope, Fact } from '../../src/domain/envelope.ts'
import type { EngineSettings } from '../../src/engine/settings.ts'
import { RecordedEnvelopes } from '../support/recorded/recorded-envelopes.ts'
import {
  hasRecordings,
  type RecordedBlock,
  recordedBlocks,
} from '../support/recorded/recorded-transactions.ts'
import { worldOf } from '../support/recorded/recorded-worlds.ts'
import { EngineRun } from '../support/rigs/engine-run.ts'

/** Prices need a block to count, and a route of three pairs needs three: so many blocks with the same logs go before. */
const BLOCKS_BEFORE = 4
/** Balances of concentrated pools are not recorded. They have to exceed the floor, and what the blocks take out. */
const ASSUMED_RESERVE = 10n ** 32n
/** Decimals of most tokens are not recorded. A value in dollars does not depend on those of a token on the way. */
const ASSUMED_DECIMALS = 18

type Share = { swaps: number; valued: number; readonly without: Map<string, number> }

/** How many swaps of each recorded block have a value if nothing but the block is known. */
function sharesAlone(hasRoutes: boolean): Share {
  const share: Share = { swaps: 0, valued: 0, without: new Map() }
  for (const block of recordedBlocks()) {
    const { settings, deployments } = worldOf(block)
    const { before, recorded } = new RecordedEnvelopes(deployments).of(settings.chain, block)
    const run = new EngineRun({ ...settings, hasRoutes })
    run.apply(before)
    count(share, tradesOf(run, recorded), () => 'nothing but the block is known')
  }
  return share
}

/** How many have one if pools of earlier recorded blocks are known, and those of the block have been for some blocks. */
function sharesInOrder(hasRoutes: boolean): Share {
  const share: Share = { swaps: 0, valued: 0, without: new Map() }
  const byChain = Map.groupBy(
    recordedBlocks().toSorted((a, b) => a.number - b.number),
    ({ chainId }) => chainId,
  )
  for (const blocks of byChain.values()) foldInOrder(blocks, hasRoutes, share)
  return share
}

function foldInOrder(blocks: readonly RecordedBlock[], hasRoutes: boolean, share: Share): void {
  const [first] = blocks
  assert.ok(first)
  const { settings, deployments } = worldOf(first)
  const envelopes = new RecordedEnvelopes(deployments)
  const run = new EngineRun({ ...settings, hasRoutes })
  const known: Fact[] = []
  let parentHash = `0x${'0'.repeat(64)}`
  let folded = 0
  for (const block of blocks) {
    const { before, recorded } = envelopes.of(settings.chain, block)
    const facts = before.facts.map(withAssumptions)
    known.push(...facts)
    for (let place = 0; place <= BLOCKS_BEFORE; place++) {
      const number = recorded.number + folded++
      const hash = `0x${number.toString(16).padStart(64, '0')}`
      const links = { number, hash, parentHash, facts: place === 0 ? facts : [] }
      const trades = tradesOf(run, { ...recorded, ...links })
      if (place === BLOCKS_BEFORE) count(share, trades, (trade) => reasonOf(trade, settings, known))
      parentHash = hash
    }
  }
}

function withAssumptions(fact: Fact): Fact {
  if (fact.type === 'token') return { ...fact, decimals: fact.decimals ?? ASSUMED_DECIMALS }
  if (fact.type !== 'pool' || fact.pricing.kind !== 'sqrtPrice') return fact
  return { ...fact, reservesBefore: [ASSUMED_RESERVE, ASSUMED_RESERVE] }
}

function tradesOf(run: EngineRun, envelope: Envelope): Trade[] {
  return run.apply(envelope).changes.flatMap((change) => (change.type === 'trade' ? [change.trade] : []))
}

function count(share: Share, trades: readonly Trade[], reason: (trade: Trade) => string): void {
  for (const trade of trades) {
    share.swaps++
    if (trade.valueUsd !== undefined) share.valued++
    else share.without.set(reason(trade), (share.without.get(reason(trade)) ?? 0) + 1)
  }
}

const NO_STABLECOIN = 'no recorded pool of the chain has a stablecoin'
const NO_OTHER_POOL = 'neither token is in another pool that was recorded so far'
const ONLY_BY_ROUTE = 'only another pool of one of its tokens leads to a quote asset'

function reasonOf(
  { pair, sold, bought }: Trade,
  { quoteAssets }: EngineSettings,
  known: readonly Fact[],
): string {
  const tokens = [sold.token, bought.token]
  const others = known.filter((fact) => fact.type === 'pool' && fact.address !== pair)
  const isIn = (address: string): boolean =>
    others.some((fact) => fact.type === 'pool' && fact.tokens.includes(address))
  const stables = quoteAssets.filter(({ kind }) => kind === 'stable')
  if (!stables.some(({ address }) => isIn(address))) return NO_STABLECOIN
  return tokens.some(isIn) ? ONLY_BY_ROUTE : NO_OTHER_POOL
}

function line(what: string, { swaps, valued, without }: Share): string {
  const reasons = Array.from(without, ([reason, number]) => `\n    ${number} without: ${reason}`).join('')
  return `${what}: ${valued} of ${swaps} swaps have a dollar value, ${((100 * valued) / swaps).toFixed(2)} %${reasons}`
}

test('swaps of real blocks have a dollar value, also those without a quote asset', {
  skip: !hasRecordings,
}, () => {
  const [alone, aloneRouted] = [false, true].map(sharesAlone) as [Share, Share]
  const [inOrder, routed] = [false, true].map(sharesInOrder) as [Share, Share]
  console.log(line('each block alone, before routes', alone))
  console.log(line('each block alone, with routes', aloneRouted))
  console.log(line('blocks in order, before routes', inOrder))
  console.log(line('blocks in order, with routes', routed))
  const recorded = routed.swaps - (routed.without.get(NO_STABLECOIN) ?? 0)
  console.log(`where a stablecoin is recorded: ${((100 * routed.valued) / recorded).toFixed(2)} %`)
  assert.ok(routed.swaps === 731 && alone.valued === 597 && inOrder.valued === 714, 'by the first rules')
  assert.ok(aloneRouted.valued >= 598, `${aloneRouted.valued} of single blocks`)
  assert.ok(routed.valued >= 722, `${routed.valued} of blocks in order`)
  assert.ok(routed.valued * 100 >= recorded * 99, 'at least 99 % where a stablecoin is recorded')
  for (const reason of routed.without.keys())
    assert.ok([NO_STABLECOIN, NO_OTHER_POOL].includes(reason), reason)
})
