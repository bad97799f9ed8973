import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { packed, words } from '../../../../test/support/builders/abi-words.ts'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import { traderJoeLb } from './protocol.ts'

const PAIR_CREATED = '0x2c8d104b27c6b7f4492017a6f5cf3803043688934ebcaa6a03540beeaf976aff'
const SWAP = '0xad7d6f97abf51ce18e17a38f4d70e975be9c0708474987bb3e26ad21bd93ca70'
const DEPOSITED = '0x87f1f9dcf5e8089a3e00811b6a008d8f30293a3da878cb1fe8c90ca376402f8a'
const WITHDRAWN = '0xa32e146844d6144a22e94c586715a1317d58a8aa3581ec33d040113ddcb24350'
const COMPOSITION_FEES = '0x3f0b46725027bb418b2005f4683538eccdbcdf1de2b8649a29dbd9c507d16ff4'
const FLASH_LOAN = '0xd126bd9d94daca8e55ffd8283fac05394aec8326c6b1639e1e8a445fbe8bbc7d'
const COLLECTED = '0x3f41a5ddc53701cc7db577ade4f1fca9838a8ec0b5ea50b9f0f5d17bc4554e32'

const FACTORY = '0x8e42f2f4101563bf679975178e880fd87d3efd4e'
const PAIR = '0xd387c40a72703b38a5181573724bcaf2ce6038a5'
const WETH = '0x82af49447d8a07e3bd95bd0d56f35241523fbab1'
const USDT = '0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9'
const ROUTER = '0x95e2769aca43a1d4febcfa153022259fc1e49548'
const PROVIDER = '0x9a852a967b26bff2d025df04cc103a22b4593fe2'
const TOPICS = [padded(ROUTER), padded(PROVIDER)]

const swapped = rawLog(
  PAIR,
  [SWAP, padded(ROUTER), padded(ROUTER)],
  words(
    '0x00000000000000000000000000000000000000000000000000000000007fcb47',
    '0x00000000000000000000000007c6913100000000000000000000000000000000',
    '0x000000000000000000000000000000000000000000000000011aac981ef1a7e9',
    '0x0000000000000000000000000000000000000000000000000000000000000286',
    '0x0000000000000000000000000002fc6500000000000000000000000000000000',
    '0x0000000000000000000000000000000000000000000000000000000000000000',
  ),
)
const created = rawLog(FACTORY, [PAIR_CREATED, padded(WETH), padded(USDT), words(15n)], words(PAIR, 3n))
const moved = words(...[64n, 160n], ...[2n, 8_388_600n, 8_388_601n], ...[2n, packed(0n, 50n), packed(7n, 3n)])
const deposited = rawLog(PAIR, [DEPOSITED, ...TOPICS], moved)
const withdrawn = rawLog(PAIR, [WITHDRAWN, ...TOPICS], moved)
const composed = rawLog(PAIR, [COMPOSITION_FEES, padded(ROUTER)], words(1n, packed(9n, 0n), packed(2n, 0n)))
const lent = rawLog(
  PAIR,
  [FLASH_LOAN, ...TOPICS],
  words(1n, packed(900n, 500n), packed(9n, 5n), packed(2n, 1n)),
)
const collected = rawLog(PAIR, [COLLECTED, padded(PROVIDER)], words(packed(11n, 12n)))

function read(log: RawLog) {
  return traderJoeLb.events[log.topics[0] ?? '']?.(log)
}

function announced(log: RawLog) {
  return traderJoeLb.announcements[log.topics[0] ?? '']?.(log)
}

function amounts(amount0: bigint, amount1: bigint) {
  return [
    { token: 0, amount: amount0 },
    { token: 1, amount: amount1 },
  ]
}

describe('events of a pair', () => {
  test('Arbitrum 0x1756eca9ad24e025cec0f9963c93a7a98f85d8603cd4b16bd0accdf3c20d3ff8: USDT in, WETH out', () => {
    // Transfers of the same transaction: 0x7c69131 of USDT to the pair, 0x11aac981ef1a7e9 of WETH from it.
    assert.deepEqual(read(swapped), {
      type: 'swapped',
      pool: PAIR,
      sender: ROUTER,
      recipient: ROUTER,
      token0: 0,
      token1: 1,
      delta0: -0x11aac981ef1a7e9n,
      delta1: 0x7c69131n,
      price: { kind: 'bin', id: 8_375_111 },
      feePpm: 1_500,
    })
  })

  test("a swap includes the protocol's share of the fee", () => {
    const data = words(8_388_608n, packed(980n, 0n), packed(0n, 970n), 0n, packed(30n, 0n), packed(20n, 0n))
    const event = read(rawLog(PAIR, [SWAP, ...TOPICS], data))
    assert.ok(event?.type === 'swapped')
    assert.deepEqual([event.delta0, event.delta1, event.feePpm], [1_000n, -970n, 30_000])
  })

  test('liquidity moves into and out of many bins in one event', () => {
    assert.deepEqual(read(deposited), {
      type: 'liquidityAdded',
      pool: PAIR,
      provider: PROVIDER,
      amounts: amounts(7n, 53n),
    })
    assert.deepEqual(read(withdrawn), {
      type: 'liquidityRemoved',
      pool: PAIR,
      provider: PROVIDER,
      amounts: amounts(7n, 53n),
      isPaidOut: true,
    })
    const many = Array.from({ length: 150 }, (_, at) => packed(BigInt(at), 1n))
    const ids = many.map((_, at) => BigInt(at))
    const data = words(64n, 64n + 32n * 151n, 150n, ...ids, 150n, ...many)
    const event = read(rawLog(PAIR, [DEPOSITED, ...TOPICS], data))
    assert.ok(event?.type === 'liquidityAdded')
    assert.deepEqual(event.amounts, amounts((149n * 150n) / 2n, 150n))
  })

  test('uncollected fees count as reserves', () => {
    assert.deepEqual(read(composed), { type: 'donated', pool: PAIR, amounts: amounts(2n, 0n) })
    assert.deepEqual(read(lent), { type: 'donated', pool: PAIR, amounts: amounts(9n, 5n) })
    assert.deepEqual(read(collected), {
      type: 'feesCollected',
      pool: PAIR,
      provider: undefined,
      amounts: amounts(11n, 12n),
    })
    assert.equal(read(withWord(composed, 2, 0n)), undefined, 'nothing stays')
  })

  test('counted reserves equal those that the contract records', () => {
    const bins = { x: 0n, y: 0n }
    const protocol = { x: 0n, y: 0n }
    // As in LBPair: amounts that enter the bins, and protocol fees set aside.
    bins.x += 7n
    bins.y += 53n
    protocol.x += 2n
    bins.y += 0x7c69131n
    bins.x -= 0x11aac981ef1a7e9n
    bins.x += 9n - 2n
    bins.y += 5n - 1n
    protocol.x += 2n
    protocol.y += 1n
    protocol.x -= 11n
    protocol.y -= 12n
    const held = [composed, deposited, swapped, lent, collected].map(changeOf)
    assert.deepEqual(sum(held), [bins.x + protocol.x, bins.y + protocol.y])
  })

  function changeOf(log: RawLog): [bigint, bigint] {
    const event = read(log)
    if (event?.type === 'swapped') return [event.delta0, event.delta1]
    assert.ok(event !== undefined && 'amounts' in event)
    const [x, y] = event.amounts.map(({ amount }) => amount) as [bigint, bigint]
    return event.type === 'feesCollected' ? [-x, -y] : [x, y]
  }

  function sum(changes: readonly [bigint, bigint][]): [bigint, bigint] {
    return changes.reduce(([x, y], [dx, dy]) => [x + dx, y + dy])
  }
})

test('a factory announces a pair', () => {
  assert.deepEqual(announced(created), {
    type: 'poolCreated',
    pool: PAIR,
    tokens: [WETH, USDT],
    pricing: { kind: 'bins', binStep: 15 },
  })
  for (const binStep of [0n, 0x10000n, 1n << 255n]) {
    assert.equal(announced({ ...created, topics: created.topics.with(3, words(binStep)) }), undefined)
  }
})

test('damaged logs are refused', () => {
  for (const log of [swapped, deposited, withdrawn, composed, lent, collected]) {
    assert.notEqual(read(log), undefined)
    for (const bad of spoiled(log)) assert.equal(read(bad), undefined)
  }
  // The last word, a serial number, is ignored.
  for (const bad of spoiled(created)) {
    if (bad.data.length < 32) assert.equal(announced(bad), undefined)
  }
  assert.equal(announced(withWord(created, 0, 1n << 160n)), undefined)
  assert.equal(read(withWord(swapped, 0, 1n << 24n)), undefined)
  assert.equal(read(withWord(deposited, 1, 1n)), undefined)
  assert.equal(read(withWord(deposited, 1, 1n << 200n)), undefined)
  assert.equal(read(withWord(deposited, 5, 0xffff_ffffn)), undefined)
})

describe('an older pair', () => {
  const deployments = [{ amm: 'trader_joe', protocol: 'trader-joe-lb', factory: FACTORY }]
  const lookUp = `0x704037bd${words(WETH, USDT, 15n).slice(2)}`
  const claims = {
    '0x88cc58e4': words(FACTORY),
    '0x05e8746d': words(WETH),
    '0xda10610c': words(USDT),
    '0x17f11ecc': words(15n),
    '0x0902f1ac': words(1_000n, 2_000n),
    '0xd8dfcea0': words(10n, 20n),
  }
  const registered = { [lookUp]: words(15n, PAIR, 1n, 0n) }
  const found = {
    factory: FACTORY,
    tokens: [WETH, USDT],
    pricing: { kind: 'bins', binStep: 15 },
    reservesBefore: [1_010n, 2_020n],
  }

  test('is identified with its recorded reserves if its factory confirms it', () => {
    const inquiry = lead(traderJoeLb.identify(PAIR, deployments), { [PAIR]: claims, [FACTORY]: registered })
    assert.deepEqual(inquiry.found, found)
    assert.deepEqual(inquiry.rounds[1], [
      { to: FACTORY, data: lookUp },
      { to: PAIR, data: '0x0902f1ac', before: true },
      { to: PAIR, data: '0xd8dfcea0', before: true },
    ])
  })

  test('is identified without reserves if the node has pruned the state', () => {
    const { '0xd8dfcea0': _, ...forgotten } = claims
    const contracts = { [PAIR]: forgotten, [FACTORY]: registered }
    const inquiry = lead(traderJoeLb.identify(PAIR, deployments), contracts)
    assert.deepEqual(inquiry.found, { ...found, reservesBefore: undefined })
  })

  test('is refused if its factory returns another pair or none, or is not listed', () => {
    for (const contracts of [
      { [PAIR]: claims, [FACTORY]: { [lookUp]: words(15n, ROUTER, 1n, 0n) } },
      { [PAIR]: claims, [FACTORY]: { [lookUp]: words(0n, 0n, 0n, 0n) } },
      { [PAIR]: claims },
      { [PAIR]: { ...claims, '0x88cc58e4': words(ROUTER) }, [FACTORY]: registered },
      { [PAIR]: { ...claims, '0x17f11ecc': words(0n) }, [FACTORY]: registered },
      { [PAIR]: { ...claims, '0x05e8746d': '0x' }, [FACTORY]: registered },
      {},
    ]) {
      assert.equal(lead(traderJoeLb.identify(PAIR, deployments), contracts).found, undefined)
    }
  })
})
