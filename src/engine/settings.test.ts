import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  CHAIN,
  chainSettingsOf,
  market,
  publishScript,
  settingsOf,
  steps,
} from '../../test/support/arbitraries/market-arbitraries.ts'
import {
  calmMarket,
  ETH_POOL,
  ExampleMarket,
  eth,
  price,
  STABLE_POOL,
  swap,
  sync,
  TOKEN,
  TOKEN_ETH,
  tokens,
  UNPRICED,
  USDT,
  usd,
  value,
  WETH,
  world,
} from '../../test/support/builders/example-market.ts'
import { foldChangeSets } from '../../test/support/reference/change-tables.ts'
import { referenceTables } from '../../test/support/reference/reference-market.ts'
import { EngineRun } from '../../test/support/rigs/engine-run.ts'
import { FIRST_RULES, RULES_VERSION } from '../domain/chain-settings.ts'
import type { Envelope } from '../domain/envelope.ts'

const TOKEN_QUOTED = {
  quoteAssets: [...world.quoteAssets, { address: TOKEN, kind: 'major' as const }],
  rules: FIRST_RULES,
}
const DAY = 86_400

describe('settings in the log', () => {
  test('replace those of the engine, which need not know them', () => {
    fc.assert(
      fc.property(market, steps, (world, script) => {
        const { envelopes, canonical } = publishScript(world, script)
        const run = new EngineRun(settingsOf({ ...world, quoteAssets: [], minDepthUsd: 10n ** 30n }))
        run.apply({ kind: 'settings', chain: CHAIN, settings: chainSettingsOf(world) })
        for (const envelope of envelopes) run.apply(envelope)
        assert.deepEqual(foldChangeSets(run.sets), referenceTables(world, canonical))
      }),
      { numRuns: 100 },
    )
  })

  test('change nothing if they are repeated, between any messages', () => {
    fc.assert(
      fc.property(market, steps, fc.array(fc.nat(40), { maxLength: 6 }), (world, script, places) => {
        const { envelopes, canonical } = publishScript(world, script)
        const settings: Envelope = { kind: 'settings', chain: CHAIN, settings: chainSettingsOf(world) }
        const all: Envelope[] = [...envelopes]
        for (const place of places) all.splice(place % (all.length + 1), 0, settings)
        const run = new EngineRun(settingsOf(world))
        for (const envelope of all) run.apply(envelope)
        assert.deepEqual(foldChangeSets(run.sets), referenceTables(world, canonical))
      }),
      { numRuns: 100 },
    )
  })

  test('of newer rules are refused', () => {
    assert.throws(() => new ExampleMarket().settings({ rules: RULES_VERSION + 1 }), {
      code: 'message_unreadable',
      message: /need rules/,
    })
  })
})

describe('an exchange', () => {
  test('that is added is folded from the next block on', () => {
    const example = new ExampleMarket().settings({ dexes: [] }).block(12)
    example.settings({}).block(12, sync(ETH_POOL, usd(2_000_000n), eth(1_000n)))
    assert.equal(price(example.token(WETH).priceUsd), '2000')
  })

  test('that is removed leaves its pairs as they are, and its pools price nothing', () => {
    const example = calmMarket()
    const before = example.pair(TOKEN_ETH)
    example.settings({ dexes: [] }).block(12, sync(TOKEN_ETH, eth(1n), tokens(10_000n)))
    assert.deepEqual(example.pair(TOKEN_ETH), before)
    assert.equal(example.token(WETH).priceUsd, before.token0.priceUsd, 'published before')
    example.settings({}).block(12, sync(TOKEN_ETH, eth(100n), tokens(10_000n)))
    assert.equal(example.pair(TOKEN_ETH).token1.priceUsd, undefined, 'the price of ETH is unknown')
    example.block(12, sync(ETH_POOL, usd(3_000_000n), eth(1_000n)))
    example.block(12, sync(TOKEN_ETH, eth(100n), tokens(10_000n)))
    assert.equal(price(example.pair(TOKEN_ETH).token1.priceUsd), '30')
  })
})

describe('a quote asset', () => {
  /** A pair of two tokens, of which none is a quote asset. */
  const unpriced = (): ExampleMarket =>
    calmMarket()
      .settings({ rules: FIRST_RULES })
      .block(12, sync(UNPRICED, tokens(10n), eth(40n)))
  const traded = (example: ExampleMarket): ExampleMarket =>
    example.block(12, sync(UNPRICED, tokens(10n), eth(40n)), swap(UNPRICED, tokens(1n), 0n, 0n, eth(4n)))

  test('that is added prices its pairs from their next event on', () => {
    const example = unpriced()
    assert.equal(example.pair(UNPRICED).targetToken, undefined)
    traded(example.settings(TOKEN_QUOTED))
    const pair = example.pair(UNPRICED)
    assert.equal(pair.targetToken, pair.token1.token)
    assert.equal(price(pair.token1.priceUsd), '5')
    assert.equal(price(example.token(pair.token1.token).priceUsd), '5')
    assert.equal(example.lastTrade().side, 'buy')
  })

  test('that is added counts again after a fork, which does not undo it', () => {
    const example = traded(unpriced().settings(TOKEN_QUOTED)).undo()
    assert.equal(example.pair(UNPRICED).targetToken, undefined)
    traded(example)
    assert.equal(price(example.pair(UNPRICED).token1.priceUsd), '5')
    assert.deepEqual(example.pair(UNPRICED), traded(unpriced().settings(TOKEN_QUOTED)).pair(UNPRICED))
  })

  test('that is added begins its windows anew, with the trades of all its pairs', () => {
    const day = (example: ExampleMarket) => {
      const windows = example.tables.tokenWindows.get(TOKEN)?.lengths.at(-1)
      return [windows?.buys, windows?.sells, value(windows?.buyUsd)]
    }
    const example = unpriced().block(12, swap(TOKEN_ETH, eth(1n), 0n, 0n, tokens(100n)))
    assert.deepEqual(day(example), [1, 0, '2000'])
    example.settings(TOKEN_QUOTED).block(12)
    assert.deepEqual(day(example), [0, 0, '0'])
    example.block(12, swap(TOKEN_ETH, eth(1n), 0n, 0n, tokens(100n)))
    traded(example)
    assert.deepEqual(day(example), [1, 1, '2000'])
    const ofPair = example.tables.pairWindows.get(world.pools[TOKEN_ETH]?.address ?? '')
    assert.equal(ofPair?.lengths.at(-1)?.buys, 2)
    example.block(DAY + 60)
    assert.deepEqual(day(example), [0, 0, '0'])
    example.settings({}).block(12, swap(TOKEN_ETH, eth(1n), 0n, 0n, tokens(100n)))
    example.block(DAY + 60).block(DAY)
    assert.equal(
      example.tables.pairWindows.get(world.pools[TOKEN_ETH]?.address ?? '')?.lengths.at(-1)?.buys,
      0,
    )
  })

  test('that is removed prices nothing any more, and has no price without a pair that prices it', () => {
    const example = calmMarket().block(12, sync(STABLE_POOL, usd(1_000n), usd(990n)))
    const [usdc, ...others] = world.quoteAssets
    assert.equal(price(example.token(usdc?.address ?? '').priceUsd), '1')
    example.settings({ quoteAssets: others }).block(12)
    assert.equal(example.token(usdc?.address ?? '').priceUsd, undefined)
    example.block(12, sync(TOKEN_ETH, eth(100n), tokens(10_000n)))
    assert.equal(example.pair(TOKEN_ETH).token1.priceUsd, undefined)
    assert.ok(example.token(USDT))
  })

  test('that is removed loses the TVL of its pairs, and loses it once', () => {
    const example = calmMarket()
      .settings(TOKEN_QUOTED)
      .block(12, sync(UNPRICED, tokens(10n), eth(40n)), swap(UNPRICED, tokens(1n), 0n, 0n, eth(4n)))
    const pair = example.pair(UNPRICED)
    const [inPair, without] = [pair.tvlUsd ?? 0n, (example.token(TOKEN).tvlUsd ?? 0n) - (pair.tvlUsd ?? 0n)]
    assert.ok(inPair > 0n && without > 0n)
    example.settings({})
    for (const _ of [1, 2, 3]) {
      // Without a Sync event, the pair is changed and not priced again.
      example.block(12, swap(UNPRICED, tokens(1n), 0n, 0n, eth(4n)))
      assert.equal(example.token(TOKEN).tvlUsd, without)
    }
    example.settings(TOKEN_QUOTED).block(12, sync(UNPRICED, tokens(10n), eth(40n)))
    assert.equal(example.token(TOKEN).tvlUsd, without + inPair)
  })
})
