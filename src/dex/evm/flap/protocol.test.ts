import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hashOf, words } from '../../../../test/support/builders/abi-words.ts'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { Call } from '../../protocol.ts'
import { flap } from './protocol.ts'

const TOKEN_CREATED = '0x504e7f360b2e5fe33cbaaae4c593bc55305328341bf79009e43e0e3b7f699603'
const TOKEN_BOUGHT = '0xa800a2038683844fac66747f771bfdfae862eb28b16bcfa387afa9fbacce8ff7'
const TOKEN_SOLD = '0x03a4693e592f5e75dc7c136acb39b146d2b4966c0e509c34f362dee02b3b861a'
const PROGRESS_CHANGED = '0x4c35e20d1e9bce377c7d9ec1572d934e46d62961f4da8af5beb8002d5906742d'
const LAUNCHED_TO_DEX = '0x6e4f47630b8745b8cacbd44f42a8a33e7eea7cc08ef22fc7630f4f385784ff7d'

const PORTAL = '0xe2ce6ab80874fa9fa2aae65d277dd6b8e65c9de0'
const TOKEN = `0x${'7'.repeat(40)}`
const ACCOUNT = '0xfd6a82b417e0ced80d5086830a37f6374e27ec4a'
const POOL = '0x16b9a82891338f9ba80e2d6970fdda79d1eb0dae'
const USDT = '0x55d398326f99059ff775485246999027b3197955'
const CURVE = hashOf(PORTAL, TOKEN)
const WAD = 10n ** 18n
const THRESHOLD = 800_000_000n * WAD

const text = (letters: string) => [
  BigInt(letters.length),
  `0x${Buffer.from(letters).toString('hex').padEnd(64, '0')}`,
]
const created = rawLog(
  PORTAL,
  [TOKEN_CREATED],
  words(
    1_750_000_000n,
    ACCOUNT,
    5n,
    TOKEN,
    224n,
    288n,
    352n,
    ...text('Butterfly'),
    ...text('FLY'),
    ...text('ipfs'),
  ),
)
const bought = rawLog(PORTAL, [TOKEN_BOUGHT], words(1n, TOKEN, ACCOUNT, 3n * WAD, 1_000n, 10n, 7n))
const sold = rawLog(PORTAL, [TOKEN_SOLD], words(1n, TOKEN, ACCOUNT, 3n * WAD, 980n, 10n, 7n))
const progressed = rawLog(PORTAL, [PROGRESS_CHANGED], words(TOKEN, 123_456_789_000_000_000n))
const launched = rawLog(PORTAL, [LAUNCHED_TO_DEX], words(TOKEN, POOL, 200_000_000n * WAD, 16n * WAD))

function read(log: RawLog) {
  return flap.events[log.topics[0] ?? '']?.(log)
}

describe('events of the portal', () => {
  test('a curve opens, progresses and closes', () => {
    assert.deepEqual(read(created), { type: 'curveOpened', pool: CURVE })
    assert.deepEqual(read(progressed), { type: 'curveProgressed', pool: CURVE, progressPpm: 123_456 })
    assert.deepEqual(read(launched), { type: 'curveClosed', pool: CURVE })
  })

  test('launches are found by the events that open and close curves', () => {
    const launchIn = (log: RawLog) => flap.launchEvents?.[log.topics[0] ?? '']?.(log)
    assert.deepEqual(launchIn(created), { token: TOKEN, is: 'created' })
    assert.deepEqual(launchIn(launched), { token: TOKEN, is: 'graduated' })
    for (const log of [bought, sold, progressed]) assert.equal(launchIn(log), undefined)
    for (const log of [created, launched])
      for (const altered of spoiled(log)) assert.equal(launchIn(altered), undefined)
  })

  test("the curve's amounts exclude the fee that a buyer pays and a seller does not receive", () => {
    const common = { type: 'swapped', pool: CURVE, sender: undefined, recipient: ACCOUNT, price: undefined }
    assert.deepEqual(read(bought), { ...common, token0: 0, token1: 1, delta0: -3n * WAD, delta1: 990n })
    assert.deepEqual(read(sold), { ...common, token0: 0, token1: 1, delta0: 3n * WAD, delta1: -990n })
  })

  test('altered events are refused', () => {
    for (const log of [created, bought, sold, progressed, launched]) {
      for (const altered of spoiled(log)) assert.equal(read(altered), undefined)
    }
    assert.equal(read(withWord(bought, 5, 1_001n)), undefined, 'a fee above what was spent')
    assert.equal(read(withWord(progressed, 1, WAD + 1n)), undefined, 'more than all')
    assert.equal(read(withWord(bought, 2, 1n << 200n)), undefined, 'the buyer is no address')
    assert.equal(read(withWord(launched, 1, 1n << 200n)), undefined, 'the pool is no address')
  })
})

describe('identification of a curve', () => {
  const V7 = `0xf99abb9e${padded(TOKEN).slice(2)}`
  const V3 = `0x0a7bb193${padded(TOKEN).slice(2)}`
  const deployments = [{ amm: 'flap', protocol: 'flap', factory: PORTAL }]
  const found = { factory: PORTAL, tokens: [TOKEN, USDT], pricing: { kind: 'trades' } }
  const v7 = (supply: bigint, reserve: bigint) =>
    words(1n, reserve, supply, 1n, 2n, 3n, 4n, 5n, THRESHOLD, USDT, 0n, 0n, 0n, 0n, 0n, 0n, 0n)
  const v3 = (supply: bigint, reserve: bigint) => words(1n, reserve, supply, 1n, 2n, 3n, THRESHOLD, USDT, 0n)

  test('a new curve holds its whole supply for sale', () => {
    const { found: pool, rounds } = lead(flap.identify(CURVE, deployments, created), {
      [PORTAL]: { [V7]: v7(5n * WAD, 99n) },
    })
    assert.deepEqual(pool, { ...found, reservesBefore: [THRESHOLD, 0n] })
    assert.equal(rounds.length, 1)
    assert.deepEqual(
      rounds[0]?.map(({ before }: Call) => before ?? false),
      [false, false, false, true, true, true],
    )
  })

  test('an older curve holds its reserves before the block, read through the version that the portal supports', () => {
    for (const answers of [{ [V7]: v7(5n * WAD, 99n) }, { [V3]: v3(5n * WAD, 99n) }]) {
      const { found: pool } = lead(flap.identify(CURVE, deployments, bought), { [PORTAL]: answers })
      assert.deepEqual(pool, { ...found, reservesBefore: [THRESHOLD - 5n * WAD, 99n] })
    }
    const over = lead(flap.identify(CURVE, deployments, bought), {
      [PORTAL]: { [V7]: v7(THRESHOLD + 1n, 99n) },
    })
    assert.deepEqual(over.found?.reservesBefore, [0n, 99n])
  })

  test('a curve unknown to the portal is refused', () => {
    assert.equal(lead(flap.identify(CURVE, deployments, bought), {}).found, undefined)
    const zeros = words(...Array.from({ length: 17 }, () => 0n))
    assert.equal(
      lead(flap.identify(CURVE, deployments, bought), { [PORTAL]: { [V7]: zeros } }).found,
      undefined,
    )
    const answers = { [PORTAL]: { [V7]: v7(1n, 1n) } }
    assert.equal(lead(flap.identify(hashOf(USDT, TOKEN), deployments, bought), answers).found, undefined)
    const impostor = { ...bought, address: USDT }
    assert.equal(lead(flap.identify(hashOf(USDT, TOKEN), deployments, impostor), answers).found, undefined)
  })
})

test('how to trade with a curve follows from its state', () => {
  const call = `0x5c4bc504${padded(TOKEN).slice(2)}`
  const deployment = { amm: 'flap', protocol: 'flap', factory: PORTAL }
  const read = (status: bigint, price: bigint) => {
    const inquiry = flap.readCurve?.(TOKEN, deployment)
    assert.ok(inquiry)
    const state = words(status, 0n, 0n, price, 0n, 0n, 0n, 0n, THRESHOLD, USDT, 0n, 0n)
    return lead(inquiry, { [PORTAL]: { [call]: state } }).found
  }
  // 800 million tokens cost 24 at this price, and a thousandth of that is paid.
  const amount = 24n * 10n ** 15n
  assert.deepEqual(read(1n, 3n * 10n ** 10n), {
    ...{ platform: PORTAL, amount },
    purchase: `0xef7ec2e7${words(32n, USDT, TOKEN, amount, 0n, 160n, 0n).slice(2)}`,
    sale: [`0xef7ec2e7${words(32n, TOKEN, USDT).slice(2)}`, words(0n, 160n, 0n)],
  })
  assert.equal(read(4n, 3n * 10n ** 10n), undefined, 'it has left the curve')
  assert.equal(read(1n, 2n ** 256n - 1n), undefined, 'an impossible price')
})
