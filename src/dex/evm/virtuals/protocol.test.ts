import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { words } from '../../../../test/support/builders/abi-words.ts'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { padded, rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import { virtuals, virtualsLaunchpad } from './protocol.ts'

const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
const SWAP = '0x298c349c742327269dc8de6ad66687767310c948ea309df826f5bd103e19d207'
const MINT = '0xcc9c58b575eabd3f6a1ee653e91fcea3ff546867ffc3782a3bbca1f9b6dbb8df'
const GRADUATED = '0x381d54fa425631e6266af114239150fae1d5db67bb65b4fa9ecc65013107e07e'
const DRAINED = '0x6780d7960d1ee98bd98b0fe1eae47483ed1f37ec80e9cd2b69d812ba64f19b99'

const FACTORIES = ['0x158d7ccaa23dc3c8861c3323ed546e3d25e74309', '0x488db0978b34c6fd901760b9024b565c1117c7c8']
const [OLD_FACTORY = '', FACTORY = ''] = FACTORIES
const BONDING = '0x1a540088125d00dd3990f9da45ca0859af4d3b01'
const PAIR = '0x3e11e685a056048c2dfa1c0dc1e1d0f233dba84a'
const TOKEN = '0x1984edf491d3399fbc09e6d0856e01ff3721f952'
const VIRTUAL = '0x0b3e328455c4059eeb9e3f84b5543f74e24e7e1b'
const SUPPLY = 450_000_000n * 10n ** 18n

const created = rawLog(FACTORY, [PAIR_CREATED, padded(TOKEN), padded(VIRTUAL)], words(PAIR, 7n))
const minted = rawLog(PAIR, [MINT], words(SUPPLY, 14_000n * 10n ** 18n))
/** Base 0xd2fb25c209863a20972e506a2b3537c7b34092d63f318aabc36850876bf692ed, log 0xd4f. */
const bought = rawLog(PAIR, [SWAP], words(0n, 0x7268a1a7feeb2b0cbb2n, 0x29378f43a6e90000n, 0n))
/** Base 0xdee3faf754203ab4fe88f29cd83eeb3e52be58749e7eaf790fbfeae0b6e55fc6, log 0xd. */
const sold = rawLog(PAIR, [SWAP], words(0x69e10de76676d0897f68n, 0n, 0n, 0x2615ec44e6b4c99b6n))
const graduated = rawLog(BONDING, [GRADUATED, padded(TOKEN)], words(TOKEN))
const drained = rawLog(BONDING, [DRAINED, padded(TOKEN), padded(BONDING)], words(1n, 2n))

function read(log: RawLog) {
  const topic = log.topics[0] ?? ''
  return (
    virtuals.announcements[topic] ??
    virtuals.events[topic] ??
    virtualsLaunchpad.tokenEvents?.[topic]
  )?.(log)
}

describe('events of a curve', () => {
  test('the factory announces it: the sold token comes first, whatever its address', () => {
    const pricing = { kind: 'trades' }
    assert.deepEqual(read(created), { type: 'poolCreated', pool: PAIR, tokens: [TOKEN, VIRTUAL], pricing })
  })

  test('it begins with the tokens for sale; the other reserve is virtual', () => {
    const amounts = [
      { token: 0, amount: SUPPLY },
      { token: 1, amount: 0n },
    ]
    assert.deepEqual(read(minted), { type: 'liquidityAdded', pool: PAIR, provider: undefined, amounts })
  })

  test('a purchase and a sale', () => {
    const nobody = { sender: undefined, recipient: undefined, price: undefined }
    const trade = { type: 'swapped', pool: PAIR, token0: 0, token1: 1, ...nobody }
    assert.deepEqual(read(bought), {
      ...trade,
      ...{ delta0: -33767493061878284864434n, delta1: 2970000000000000000n },
    })
    assert.deepEqual(read(sold), {
      ...trade,
      ...{ delta0: 500000000000000000622440n, delta1: -43909749257995590070n },
    })
  })

  test('altered events are refused', () => {
    for (const log of [created, minted, bought, sold]) {
      for (const altered of spoiled(log)) assert.equal(read(altered), undefined)
      assert.equal(read({ ...log, data: Buffer.concat([log.data, Buffer.alloc(32)]) }), undefined, 'longer')
      assert.equal(read({ ...log, topics: [...log.topics, padded(TOKEN)] }), undefined, 'a topic more')
    }
    assert.equal(read(withWord(created, 0, 1n << 200n)), undefined, 'the pair is no address')
  })
})

describe('events of the launchpad', () => {
  test('a token graduates as itself or, in the first version, as another token', () => {
    assert.deepEqual(read(graduated), { type: 'tokenGraduated', token: TOKEN })
    const other = { ...graduated, data: Buffer.from(words(VIRTUAL).slice(2), 'hex') }
    assert.deepEqual(read(other), { type: 'tokenGraduated', token: TOKEN, successor: VIRTUAL })
  })

  test('a curve is drained', () => {
    assert.deepEqual(read(drained), { type: 'curveDrained', token: TOKEN })
  })

  test('altered events are refused', () => {
    for (const log of [graduated, drained]) {
      for (const altered of spoiled(log)) assert.equal(read(altered), undefined)
      assert.equal(read({ ...log, data: Buffer.concat([log.data, Buffer.alloc(32)]) }), undefined, 'longer')
      assert.equal(read({ ...log, topics: [...log.topics, padded(TOKEN)] }), undefined, 'a topic more')
    }
  })
})

const balanceOf = `0x70a08231${padded(PAIR).slice(2)}`

describe('identification of a curve', () => {
  const deployments = FACTORIES.map((factory) => ({ amm: 'virtuals', protocol: 'virtuals', factory }))
  const getPair = `0xe6a43905${padded(TOKEN).slice(2)}${padded(VIRTUAL).slice(2)}`
  const pair = { '0x0fc63d10': words(TOKEN), '0x5f64b55b': words(VIRTUAL) }
  const tokens = { [TOKEN]: { [balanceOf]: words(9n) }, [VIRTUAL]: { [balanceOf]: words(4n) } }

  test('one of the factories confirms it; it holds its balances before the block', () => {
    const { found, rounds } = lead(virtuals.identify(PAIR, deployments), {
      ...{ [PAIR]: pair, ...tokens, [FACTORY]: { [getPair]: words(PAIR) } },
    })
    assert.deepEqual(found, {
      ...{ factory: FACTORY, tokens: [TOKEN, VIRTUAL], pricing: { kind: 'trades' } },
      reservesBefore: [9n, 4n],
    })
    assert.deepEqual(
      rounds.map((calls) => calls.map(({ before }) => before ?? false)),
      [
        [false, false],
        [true, true, false, false],
      ],
    )
    const without = lead(virtuals.identify(PAIR, deployments), {
      ...{ [PAIR]: pair, [OLD_FACTORY]: { [getPair]: words(PAIR) } },
    })
    assert.deepEqual([without.found?.factory, without.found?.reservesBefore], [OLD_FACTORY, undefined])
  })

  test('an impostor is refused', () => {
    assert.equal(lead(virtuals.identify(PAIR, deployments), { [PAIR]: pair, ...tokens }).found, undefined)
    const ofOther = { [PAIR]: pair, [FACTORY]: { [getPair]: words(TOKEN) } }
    assert.equal(lead(virtuals.identify(PAIR, deployments), ofOther).found, undefined)
    const same = { [PAIR]: { ...pair, '0x5f64b55b': words(TOKEN) } }
    assert.equal(lead(virtuals.identify(PAIR, deployments), same).found, undefined)
    assert.equal(lead(virtuals.identify(PAIR, deployments), {}).found, undefined)
  })
})

describe('the state of a curve', () => {
  const pool = {
    address: PAIR,
    factory: FACTORY,
    tokens: [TOKEN, VIRTUAL],
    pricing: { kind: 'trades' },
  } as const
  const stateOf = (virtual: string | undefined, ...balances: readonly (bigint | undefined)[]) => {
    const inquiry = virtuals.readState?.(
      { ...pool, tickSpacing: undefined, goalRaw: undefined },
      { amm: 'virtuals', protocol: 'virtuals', factory: FACTORY },
    )
    const step = inquiry?.next([])
    assert.deepEqual(step?.value, [
      { to: PAIR, data: '0x0902f1ac' },
      { to: TOKEN, data: balanceOf },
      { to: VIRTUAL, data: balanceOf },
    ])
    const answers = [
      virtual,
      ...balances.map((balance) => (balance === undefined ? undefined : words(balance))),
    ]
    return inquiry?.next(answers.map((answer) => (answer ? Buffer.from(answer.slice(2), 'hex') : undefined)))
      .value
  }

  test('is priced by its virtual reserves, and holds its balances', () => {
    assert.deepEqual(stateOf(words(400n, 15n), 400n, 1n), {
      ...{ reserves: [400n, 1n], price: { kind: 'exchange', raw0: 400n, raw1: 15n } },
    })
  })

  test('has no price without tokens, and no reserves if a token does not answer', () => {
    assert.deepEqual(stateOf(words(400n, 15n), 0n, 0n), { reserves: [0n, 0n], price: undefined })
    assert.deepEqual(stateOf(words(400n, 15n), undefined, 1n), { reserves: undefined, price: undefined })
    assert.equal(stateOf(undefined, 400n, 1n), undefined)
  })
})
