import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { toEventSelector } from 'viem'
import { padded } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import { uniswapV2 } from './protocol.ts'

const PAIR_CREATED = toEventSelector('PairCreated(address,address,address,uint256)')
const SYNC = toEventSelector('Sync(uint112,uint112)')
const SWAP = toEventSelector('Swap(address,uint256,uint256,uint256,uint256,address)')
const MINT = toEventSelector('Mint(address,uint256,uint256)')
const BURN = toEventSelector('Burn(address,uint256,uint256,address)')
const TOPICS = [PAIR_CREATED, SYNC, SWAP, MINT, BURN]

function log(address: string, topics: readonly string[], ...words: string[]): RawLog {
  return { index: 0, address, topics, data: Buffer.from(words.join(''), 'hex') }
}

function read(log: RawLog) {
  const topic = log.topics[0] ?? ''
  return (uniswapV2.events[topic] ?? uniswapV2.announcements[topic])?.(log)
}

describe('recorded logs', () => {
  test('Ethereum 0x64791913f8cb013690967e7385ab31b274650161054de5fd3275498a7bedde33: one side in, the other out', () => {
    const pool = '0xcb65d42112834a5c3411e7deb98dc8b335487ed5'
    const sync = log(
      pool,
      [SYNC],
      '000000000000000000000000000000000000000000002603afadf48ef2cb2f5b',
      '00000000000000000000000000000000000000000000000f2fe423a4750cfddb',
    )
    const swap = log(
      pool,
      [
        SWAP,
        padded('0x7a250d5630b4cf539739df2c5dacb4c659f2488d'),
        padded('0x71e10c259adb82685b3718a8419064b79b83c691'),
      ],
      '0000000000000000000000000000000000000000000000000000000000000000',
      '000000000000000000000000000000000000000000000000087727c4a0fd0000',
      '0000000000000000000000000000000000000000000000152c15001354bc8cb1',
      '0000000000000000000000000000000000000000000000000000000000000000',
    )
    assert.deepEqual(read(sync), {
      type: 'reservesSet',
      pool,
      reserve0: 0x2603afadf48ef2cb2f5bn,
      reserve1: 0xf2fe423a4750cfddbn,
    })
    assert.deepEqual(read(swap), {
      type: 'swapped',
      pool,
      sender: '0x7a250d5630b4cf539739df2c5dacb4c659f2488d',
      recipient: '0x71e10c259adb82685b3718a8419064b79b83c691',
      token0: 0,
      token1: 1,
      delta0: -390_558_070_743_106_358_449n,
      delta1: 610_000_000_000_000_000n,
      price: undefined,
    })
  })

  test('Ethereum 0x52a4d8ae3204580ff334337d7d1f65e56ff5eca61fe5b539a51ffc67348c27b7: inputs on both sides, net for token 1', () => {
    const swap = log(
      '0x781151b6145bcf9dd0d415398618250f33d824d3',
      [
        SWAP,
        padded('0x11111112542d85b3ef69ae05771c2dccff4faa26'),
        padded('0x7dd79301dd08f69e00d24bfa5fa5a8bca16f360d'),
      ],
      '00000000000000000000000000000000000000000000000014d1120d7b160000',
      '0000000000000000000000000000000000000000000000000005609296bf2361',
      '0000000000000000000000000000000000000000000000000000000000000000',
      '0000000000000000000000000000000000000000000000001927fd479a2769db',
    )
    assert.deepEqual(read(swap), {
      type: 'swapped',
      pool: '0x781151b6145bcf9dd0d415398618250f33d824d3',
      sender: '0x11111112542d85b3ef69ae05771c2dccff4faa26',
      recipient: '0x7dd79301dd08f69e00d24bfa5fa5a8bca16f360d',
      token0: 0,
      token1: 1,
      delta0: 1_500_000_000_000_000_000n,
      delta1: 1_513_557_594_153_825n - 1_812_695_859_010_693_595n,
      price: undefined,
    })
  })

  test('Ethereum 0x064c98c974bc54950b246a5523a597b77b18734c5e646423309143da2edb6129: inputs on both sides, net for token 0', () => {
    const swap = log(
      '0x5013b8c94ff2e95e8b36e3c064274b20987403f8',
      [
        SWAP,
        padded('0xef1c6e67703c7bd7107eed8303fbe6ec2554bf6b'),
        padded('0x4e3a95ef07b4c669355d5b366e63b3fda3d8f782'),
      ],
      '0000000000000000000000000000000000000000000000001f61a120ef91a791',
      '000000000000000000000000000000000000000000000000002386f26fc10000',
      '0000000000000000000000000000000000000000000001142ad155842683d926',
      '0000000000000000000000000000000000000000000000000000000000000000',
    )
    const event = read(swap)
    assert.ok(event?.type === 'swapped')
    assert.equal(event.delta0, 2_261_265_650_747_025_297n - 5_094_386_705_589_631_965_478n)
    assert.equal(event.delta1, 10_000_000_000_000_000n)
  })

  test('Polygon 0x7f8e11dae4291f0e5829af1d1fd023c9aa32e41f1546ca16765eb15aa1672bd1: a pair is created', () => {
    const created = log(
      '0x5757371414417b8c6caad45baef941abc7d3ab32',
      [
        PAIR_CREATED,
        padded('0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'),
        padded('0x8893ca7df4c27c8001599688dea31b514d169e59'),
      ],
      '0000000000000000000000005c72ecd763be11e8e202490bac14b12402e77716',
      '00000000000000000000000000000000000000000000000000000000000140d4',
    )
    assert.deepEqual(read(created), {
      type: 'poolCreated',
      pool: '0x5c72ecd763be11e8e202490bac14b12402e77716',
      tokens: ['0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', '0x8893ca7df4c27c8001599688dea31b514d169e59'],
      pricing: { kind: 'reserves' },
    })
  })

  test('Ethereum 0xbc99e10c1e48969f4a580229abebc97f7a358b7ba8365dca1f829f9c387bec51: liquidity is added', () => {
    const pool = '0xceff51756c56ceffca006cd410b03ffc46dd3a58'
    const mint = log(
      pool,
      [MINT, padded('0xd9e1ce17f2641f24ae83637ab66a2cca9c378b9f')],
      '00000000000000000000000000000000000000000000000000000000000ac989',
      '00000000000000000000000000000000000000000000000001623508d5a4b39a',
    )
    assert.deepEqual(read(mint), {
      type: 'liquidityAdded',
      pool,
      provider: '0xd9e1ce17f2641f24ae83637ab66a2cca9c378b9f',
      amounts: [
        { token: 0, amount: 706_953n },
        { token: 1, amount: 99_700_453_815_923_610n },
      ],
    })
  })

  test('Ethereum 0x4720a52fc768591cb3997da3a2eab76c54b69176f3c3f8d9a817c2d60dd449ac: liquidity is removed, matching the transfers', () => {
    const pool = '0x06da0fd433c1a5d7a4faa01111c044910a184553'
    const router = '0xd9e1ce17f2641f24ae83637ab66a2cca9c378b9f'
    const burn = log(
      pool,
      [BURN, padded(router), padded(router)],
      '0000000000000000000000000000000000000000000000000f92d9abf9009bf4',
      '0000000000000000000000000000000000000000000000000000000053f7aa5c',
    )
    assert.deepEqual(read(burn), {
      type: 'liquidityRemoved',
      pool,
      provider: router,
      amounts: [
        { token: 0, amount: 1_122_198_589_808_876_532n },
        { token: 1, amount: 1_408_739_932n },
      ],
      isPaidOut: true,
    })
  })
})

describe('hostile logs', () => {
  const address = padded('0x7a250d5630b4cf539739df2c5dacb4c659f2488d')

  test('data truncated anywhere is refused', () => {
    for (const [topics, size] of [
      [[SYNC], 64],
      [[SWAP, address, address], 128],
      [[PAIR_CREATED, address, address], 32],
      [[MINT, address], 64],
      [[BURN, address, address], 64],
    ] as const) {
      const data = Buffer.alloc(size)
      assert.notEqual(read({ index: 0, address, topics, data }), undefined)
      for (let cut = 0; cut < size; cut++) {
        assert.equal(read({ index: 0, address, topics, data: data.subarray(0, cut) }), undefined)
      }
    }
  })

  test('a missing or malformed indexed address is refused', () => {
    const data = Buffer.alloc(128)
    for (const topic of [SWAP, PAIR_CREATED]) {
      for (const topics of [[topic], [topic, address], [topic, address, `0x${'f'.repeat(64)}`]]) {
        assert.equal(read({ index: 0, address, topics, data }), undefined)
      }
    }
  })

  test("random bytes never throw, and amounts stay within the pool's types", () => {
    const hex = (size: number) =>
      fc
        .uint8Array({ minLength: size, maxLength: size })
        .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
    const topic = fc.oneof(hex(32), hex(20).map(padded), fc.constantFrom(...TOPICS, '', '0x', '0xzz'))
    const data = fc.oneof(
      fc.uint8Array({ maxLength: 200, size: 'max' }),
      fc
        .constantFrom(0, 32, 64, 128, 160)
        .chain((size) => fc.uint8Array({ minLength: size, maxLength: size })),
    )
    const topics = fc
      .tuple(fc.oneof(fc.constantFrom(...TOPICS), topic), fc.array(topic, { maxLength: 4 }))
      .map(([first, rest]) => [first, ...rest])
    const limit = 2n ** 256n
    let decoded = 0
    fc.assert(
      fc.property(fc.oneof(topics, fc.constant([])), data, (someTopics, someData) => {
        const event = read({ index: 0, address, topics: someTopics, data: someData })
        if (event === undefined) return
        decoded += 1
        switch (event.type) {
          case 'poolCreated':
            for (const id of [event.pool, ...event.tokens]) assert.match(id, /^0x[0-9a-f]{40}$/)
            break
          case 'reservesSet':
            for (const amount of [event.reserve0, event.reserve1]) assert.ok(amount >= 0n && amount < limit)
            break
          case 'swapped':
            for (const id of [event.sender, event.recipient]) assert.match(id ?? '', /^0x[0-9a-f]{40}$/)
            for (const amount of [event.delta0, event.delta1]) assert.ok(amount > -limit && amount < limit)
            break
          case 'liquidityAdded':
          case 'liquidityRemoved':
            for (const { amount } of event.amounts) assert.ok(amount >= 0n && amount < limit)
            break
          default:
            assert.fail(`no event of this protocol: ${event.type}`)
        }
      }),
      { numRuns: 2_000 },
    )
    assert.ok(decoded > 50, `only ${decoded} of the random logs were events`)
  })
})
