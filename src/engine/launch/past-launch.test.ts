import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CURVE,
  ether,
  four,
  LaunchMarket,
  MANAGER,
  MANAGER_V1,
  MEME,
  MEME_POOL,
  millions,
  PORTAL,
  pool,
  tokenFact,
} from '../../../test/support/builders/launch-market.ts'
import type { Token } from '../../domain/change.ts'
import type { LaunchFact } from '../../domain/envelope.ts'

const CREATED = 1_650_000_000
const GRADUATED = 1_660_000_000

function launch(changes: Partial<LaunchFact> = {}): LaunchFact {
  const times = { createdAt: CREATED, graduatedAt: GRADUATED }
  return { type: 'launch', address: MEME, factory: MANAGER, block: 7, ...times, ...changes }
}

const graduated = { name: 'fourmeme', createdAt: CREATED, progressPpm: 1_000_000, graduatedAt: GRADUATED }

describe('a launch from before the log began', () => {
  test('is known with the token, and undone with it', () => {
    const market = new LaunchMarket(CURVE)
    market.facts(tokenFact(MEME), launch())
    assert.deepEqual(market.token.platform, graduated)
    market.undo()
    assert.equal(market.tables.tokens.get(MEME), undefined)
    market.facts(tokenFact(MEME), launch())
    assert.deepEqual(market.token.platform, graduated)
  })

  test('may come later than the token', () => {
    const market = new LaunchMarket(CURVE)
    market.block(pool.create(), pool.sync(ether(3_500n), millions(200n)))
    assert.equal(market.token.platform, undefined)
    market.facts(launch())
    assert.deepEqual(market.token.platform, graduated)
    assert.equal(market.token.mainPair, MEME_POOL)
    market.undo()
    assert.equal(market.token.platform, undefined)
  })

  test('without a graduation leaves the token on its curve, and the log reports the rest', () => {
    const market = new LaunchMarket(CURVE)
    market.facts(tokenFact(MEME), launch({ graduatedAt: undefined }))
    const open = { name: 'fourmeme', createdAt: CREATED, progressPpm: undefined, graduatedAt: undefined }
    assert.deepEqual(market.token.platform, open)
    market.block(four.buy(millions(400n), ether(12_000n), millions(400n), ether(12_000n)))
    assert.deepEqual(market.token.platform, { ...open, progressPpm: 600_000 })
    const { time } = market.block(four.stop()).head
    assert.deepEqual(market.token.platform, { ...open, progressPpm: 1_000_000, graduatedAt: time })
    market.facts(launch())
    const after: Token = market.token
    assert.equal(after.platform?.graduatedAt, time, 'what the log has shown stays')
  })

  test('adds the creation time to a curve that the log knows already', () => {
    const market = new LaunchMarket(CURVE)
    market.block(four.buy(millions(400n), ether(12_000n), millions(400n), ether(12_000n)))
    const before = market.token.platform
    assert.deepEqual([before?.name, before?.createdAt], ['fourmeme', undefined])
    market.facts(launch({ graduatedAt: undefined }))
    assert.deepEqual(market.token.platform, { ...before, createdAt: CREATED })
  })

  test('of a second platform changes nothing: a token launches once', () => {
    const market = new LaunchMarket(CURVE)
    market.facts(tokenFact(MEME), launch(), launch({ factory: PORTAL }))
    assert.deepEqual(market.token.platform, graduated)
    market.facts(launch({ factory: PORTAL, createdAt: 1 }))
    assert.deepEqual(market.token.platform, graduated)
  })

  test('of an older contract of the same platform has its name', () => {
    const market = new LaunchMarket(CURVE)
    market.facts(tokenFact(MEME), launch({ factory: MANAGER_V1 }))
    assert.equal(market.token.platform?.name, 'fourmeme')
  })

  test('is ignored if no platform is behind it, the token is unknown, or its times are of the future', () => {
    const market = new LaunchMarket(CURVE)
    const before = market.run.sets.length
    market.facts(launch())
    assert.equal(
      market.run.sets[before]?.changes.some(({ type }) => type === 'token'),
      false,
    )
    market.facts(tokenFact(MEME), launch({ factory: MEME }), launch({ factory: MEME_POOL }))
    for (const time of [1_900_000_000, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      market.facts(launch({ createdAt: time }))
      market.facts(launch({ graduatedAt: time }))
    }
    assert.equal(market.token.platform, undefined)
  })
})
