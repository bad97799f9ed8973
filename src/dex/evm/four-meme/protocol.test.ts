import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hashOf, words } from '../../../../test/support/builders/abi-words.ts'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { Protocol } from '../../protocol.ts'
import { DexRegistry } from '../../registry.ts'
import { fourMeme, fourMemeV1 } from './protocol.ts'

const TOKEN_CREATE = '0x396d5e902b675b032348d3d2e9517ee8f0c4a926603fbc075d3d282ff00cad20'
const TOKEN_PURCHASE = '0x7db52723a3b2cdd6164364b3b766e65e540d7be48ffa89582956d8eaebe62942'
const TOKEN_SALE = '0x0a5575b3648bae2210cee56bf33254cc1ddfbc7bf637c0af2ac18b14fb1bae19'
const LIQUIDITY_ADDED = '0xc18aa71171b358b706fe3dd345299685ba21a5316c66ffa9e319268b033c44b0'
const TRADE_STOP = '0x8f9ab4bd7eff0d085f91575d50cd83f97aa5258e24ded7630d4fd6739e857132'
const V1_TRADES = [
  ['buys', 4, '0x623b3804fa71d67900d064613da8f94b9617215ee90799290593e1745087ad18'],
  ['sells', 4, '0x3aa3f154f6bf5e3490d1a7205aa8d1412e76d26f9d186830de86fb9309224040'],
  ['buys', 5, '0x00fe0e12b43090c1fc19a34aefa5cc138a4eeafc60ab800f855c730b3fb9480e'],
  ['sells', 5, '0x80d4e495cda89b31af98c8e977ff11f417bafcee26902a17a15be51830c47533'],
] as const

const MANAGER = '0x5c952063c7fc8610ffdb798152d69f0b9550762b'
const MANAGER_V1 = '0xec4549cadce5da21df6e6422d448034b5233bfbc'
const TOKEN = '0x2f0a0f50c71a605704fb729d5fd448789284ffff'
const ACCOUNT = '0xfd6a82b417e0ced80d5086830a37f6374e27ec4a'
const NATIVE = '0x0000000000000000000000000000000000000000'
const USDT = '0x55d398326f99059ff775485246999027b3197955'
const CURVE = hashOf(MANAGER, TOKEN)
const CURVE_V1 = hashOf(MANAGER_V1, TOKEN)
const TOKEN_INFOS = `0xe684626b${padded(TOKEN).slice(2)}`

/** BSC 0x5c0196eda275b5df822578fee5c7bff84ffdbae2c349cbd1c79efc420af89edc, with another name. */
const created = rawLog(
  MANAGER,
  [TOKEN_CREATE],
  words(
    ...[ACCOUNT, TOKEN, 0x61c9fd6n, 0x100n, 0x140n, 0x33b2e3c9fd0803ce8000000n, 0n, 0n],
    ...[9n, `0x${Buffer.from('A').toString('hex').repeat(9)}${'00'.repeat(23)}`],
    ...[9n, `0x${Buffer.from('A').toString('hex').repeat(9)}${'00'.repeat(23)}`],
  ),
)
const trade = [TOKEN, ACCOUNT, 6_000_000_000n, 5n * 10n ** 24n, 31n * 10n ** 15n, 31n * 10n ** 13n] as const
const purchase = rawLog(MANAGER, [TOKEN_PURCHASE], words(...trade, 795n * 10n ** 24n, 31n * 10n ** 15n))
const sale = rawLog(MANAGER, [TOKEN_SALE], words(...trade, 800n * 10n ** 24n, 0n))
const stopped = rawLog(MANAGER, [TRADE_STOP], words(TOKEN))
const liquidityAdded = rawLog(
  MANAGER,
  [LIQUIDITY_ADDED],
  words(TOKEN, 2n * 10n ** 26n, NATIVE, 24n * 10n ** 18n),
)

function read(log: RawLog, { events }: Protocol = fourMeme) {
  return events[log.topics[0] ?? '']?.(log)
}

describe('four.meme since 2024', () => {
  test('TokenCreate opens a curve, but does not report its quote asset', () => {
    assert.deepEqual(read(created), { type: 'curveOpened', pool: CURVE })
    assert.deepEqual(Object.keys(fourMeme.announcements), [])
  })

  test('a purchase excludes the fee, and reports the remaining tokens and the raised funds', () => {
    assert.deepEqual(read(purchase), {
      type: 'swapped',
      pool: CURVE,
      sender: undefined,
      recipient: ACCOUNT,
      token0: 0,
      token1: 1,
      delta0: -5n * 10n ** 24n,
      delta1: 31n * 10n ** 15n,
      price: undefined,
      reserves: [795n * 10n ** 24n, 31n * 10n ** 15n],
    })
  })

  test('a sale is the reverse of a purchase', () => {
    const event = read(sale)
    assert.ok(event?.type === 'swapped')
    assert.deepEqual([event.delta0, event.delta1], [5n * 10n ** 24n, -31n * 10n ** 15n])
    assert.deepEqual(event.reserves, [800n * 10n ** 24n, 0n])
  })

  test('a curve closes when trading stops and when its funds move to a pool', () => {
    for (const log of [stopped, liquidityAdded]) {
      assert.deepEqual(read(log), { type: 'curveClosed', pool: CURVE })
    }
  })

  test('its launches are found by the events that open and close curves', () => {
    const launchIn = (log: RawLog) => fourMeme.launchEvents?.[log.topics[0] ?? '']?.(log)
    assert.deepEqual(launchIn(created), { token: TOKEN, is: 'created' })
    for (const log of [stopped, liquidityAdded])
      assert.deepEqual(launchIn(log), { token: TOKEN, is: 'graduated' })
    for (const log of [purchase, sale]) assert.equal(launchIn(log), undefined)
    for (const log of [created, stopped, liquidityAdded])
      for (const altered of spoiled(log)) assert.equal(launchIn(altered), undefined)
    const registry = new DexRegistry([{ amm: 'fourmeme', protocol: 'four_meme', factory: MANAGER }])
    assert.deepEqual(registry.launchIn(created, 1), { token: TOKEN, is: 'created' })
    for (const impostor of [TOKEN, USDT, MANAGER_V1])
      assert.equal(registry.launchIn({ ...created, address: impostor }, 1), undefined)
  })

  test('the same event from another contract belongs to another curve', () => {
    assert.notEqual(read({ ...purchase, address: MANAGER_V1 })?.pool, CURVE)
  })

  test('altered events are refused', () => {
    for (const log of [created, purchase, sale, stopped, liquidityAdded]) {
      for (const altered of spoiled(log)) assert.equal(read(altered), undefined)
      const place = log === created ? 1 : 0
      assert.equal(read(withWord(log, place, 1n << 200n)), undefined, 'the token is no address')
      const longer = Buffer.concat([log.data, Buffer.alloc(32)])
      if (log !== created) assert.equal(read({ ...log, data: longer }), undefined, 'too long')
    }
    assert.equal(read(withWord(created, 3, 2n ** 32n - 32n)), undefined, 'the name is nowhere')
    assert.equal(read(withWord(created, 10, 33n)), undefined, 'the symbol is longer than there is')
  })
})

describe('identification of a curve', () => {
  const deployments = [{ amm: 'fourmeme', protocol: 'four_meme', factory: MANAGER }]
  const infos = (base: string, quote: string, goal: bigint) =>
    words(base, quote, 0n, 10n ** 27n, 8n * 10n ** 26n, goal, 0n, 8n * 10n ** 26n, 0n, 0n, 0n, 0n, 0n)
  const identify = (answer: string | undefined, pool: string = CURVE, log: RawLog | undefined = purchase) =>
    lead(fourMeme.identify(pool, deployments, log), answer ? { [MANAGER]: { [TOKEN_INFOS]: answer } } : {})

  test('reads its quote asset and its goal', () => {
    for (const log of [created, purchase, sale, stopped, liquidityAdded]) {
      const { found, rounds } = identify(infos(TOKEN, USDT, 12_000n * 10n ** 18n), CURVE, log)
      assert.deepEqual(found, {
        factory: MANAGER,
        tokens: [TOKEN, USDT],
        pricing: { kind: 'trades' },
        reservesBefore: undefined,
        goalRaw: 12_000n * 10n ** 18n,
      })
      assert.equal(rounds.length, 1)
    }
    assert.deepEqual(identify(infos(TOKEN, NATIVE, 1n)).found?.tokens, [TOKEN, NATIVE])
    assert.ok(!('goalRaw' in (identify(infos(TOKEN, NATIVE, 0n)).found ?? {})), 'no goal is no goal')
  })

  test('fails if the manager does not know the token or the id does not match', () => {
    assert.equal(identify(undefined).found, undefined)
    assert.equal(identify(infos(NATIVE, NATIVE, 0n)).found, undefined)
    assert.equal(identify(infos(TOKEN, TOKEN, 1n)).found, undefined)
    assert.equal(identify(infos(TOKEN, USDT, 1n).slice(0, 66)).found, undefined)
    assert.equal(identify(infos(TOKEN, USDT, 1n), hashOf(MANAGER, USDT)).found, undefined)
    const impostor = { ...purchase, address: USDT }
    assert.equal(identify(infos(TOKEN, USDT, 1n), hashOf(USDT, TOKEN), impostor).found, undefined)
    assert.equal(
      lead(fourMeme.identify(CURVE, deployments), {}).found,
      undefined,
      'a hash alone says nothing',
    )
  })
})

describe('four.meme before September 2024', () => {
  test('sells its tokens for the native coin', () => {
    const log = { ...created, address: MANAGER_V1 }
    const tokens = [TOKEN, NATIVE]
    assert.deepEqual(fourMemeV1.announcements[TOKEN_CREATE]?.(log), {
      ...{ type: 'poolCreated', pool: CURVE_V1, tokens, pricing: { kind: 'trades' } },
    })
    const deployments = [{ amm: 'fourmeme', protocol: 'four_meme_v1', factory: MANAGER_V1 }]
    const stop = { ...stopped, address: MANAGER_V1 }
    assert.deepEqual(lead(fourMemeV1.identify(CURVE_V1, deployments, stop), {}).found, {
      ...{ factory: MANAGER_V1, tokens, pricing: { kind: 'trades' }, reservesBefore: undefined },
    })
    assert.equal(lead(fourMemeV1.identify(CURVE, deployments, stopped), {}).found, undefined)
  })

  for (const [kind, parameters, topic] of V1_TRADES) {
    test(`an event of ${parameters} parameters ${kind}`, () => {
      const values = [TOKEN, ACCOUNT, 7n * 10n ** 24n, 3n * 10n ** 16n, 3n * 10n ** 14n].slice(0, parameters)
      const log = rawLog(MANAGER_V1, [topic], words(...values))
      const sign = kind === 'buys' ? 1n : -1n
      const event = read(log, fourMemeV1)
      assert.ok(event?.type === 'swapped' && event.pool === CURVE_V1 && event.reserves === undefined)
      assert.deepEqual([event.delta0, event.delta1], [-sign * 7n * 10n ** 24n, sign * 3n * 10n ** 16n])
      for (const altered of spoiled(log)) assert.equal(read(altered, fourMemeV1), undefined)
    })
  }
})

test('how to trade with a curve follows from its goal', () => {
  const deployment = { amm: 'fourmeme', protocol: 'four_meme', factory: MANAGER }
  const read = (base: string, status: bigint) => {
    const inquiry = fourMeme.readCurve?.(TOKEN, deployment)
    assert.ok(inquiry)
    const info = words(base, NATIVE, 0n, 0n, 0n, 24n * 10n ** 18n + 7_000n, 0n, 0n, 0n, 0n, 0n, 0n, status)
    return lead(inquiry, { [MANAGER]: { [TOKEN_INFOS]: info } }).found
  }
  const amount = 24n * 10n ** 15n
  assert.deepEqual(read(TOKEN, 0n), {
    ...{ platform: MANAGER, amount: amount + 7n },
    // Whole gwei, and a tenth is left for fees.
    purchase: `0x87f27655${words(TOKEN, (amount * 9n) / 10n, 0n).slice(2)}`,
    sale: [`0xf464e7db${padded(TOKEN).slice(2)}`, '0x'],
  })
  assert.equal(read(TOKEN, 3n), undefined, 'it has left the curve')
  assert.equal(read(USDT, 0n), undefined, 'another token')
})
