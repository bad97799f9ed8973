import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import {
  closeStreams,
  families,
  type ReaderFamily,
  readBlocks,
} from '../../test/support/rigs/reader-families.ts'
import { START } from '../../test/support/rigs/reader-setup.ts'
import { OLD_AFTER_SECONDS } from '../domain/envelope.ts'

for (const family of ['evm', 'solana', 'yellowstone'] as const)
  describe(family, () => followsTheChain(family))
after(closeStreams)

function followsTheChain(family: ReaderFamily): void {
  const setupOf = families[family]
  const read = (blocks: number) => readBlocks(family, blocks)

  describe('following a chain', () => {
    test('every block, once and in order', async () => {
      const setup = await read(5)
      setup.chain.mine(3)
      await setup.catchUp(3)
      assert.deepEqual(
        setup.kinds(),
        Array.from({ length: 8 }, (_, at) => `block ${START + at}`),
      )
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
    })

    test('blocks count as announced once the head was reached', async () => {
      const setup = setupOf()
      setup.chain.mine(5)
      const start = Date.now()
      let looks = 0
      await setup.read((tip) => {
        if (tip?.hash !== setup.chain.tip.hash) return false
        if (looks++ === 1) setup.chain.mine(3)
        return looks >= 3 && tip.hash === setup.chain.tip.hash
      })
      assert.equal(setup.announced.length, 8)
      assert.deepEqual(setup.announced.slice(0, 5), Array(5).fill(undefined))
      for (const at of setup.announced.slice(5))
        assert.ok(at !== undefined && at >= start && at <= Date.now(), `${at}`)
    })

    test('a chain that has not come to the first wanted block yet is waited for', async () => {
      const setup = setupOf()
      setup.chain.reportLower(5)
      let looks = 0
      await setup.read(() => looks++ === 2)
      assert.deepEqual(setup.log, [])
    })

    test('blocks more than 25 hours before the head are old', async () => {
      const setup = setupOf()
      setup.chain.mine(1)
      setup.chain.skipSeconds(OLD_AFTER_SECONDS - 3)
      setup.chain.mine(6)
      await setup.catchUp()
      const ages = setup.log.flatMap((envelope) =>
        envelope.kind === 'block' ? [envelope.isOld ?? false] : [],
      )
      assert.deepEqual(ages, [true, false, false, false, false, false, false])
    })

    test('on a long way the head is looked at again', async () => {
      const setup = setupOf(998)
      setup.chain.mine(8)
      let hasPassed = false
      setup.askAhead = async ({ number }) => {
        if (number !== 1_000 || hasPassed) return
        hasPassed = true
        setup.chain.skipSeconds(2 * OLD_AFTER_SECONDS)
        setup.chain.mine(1)
        await setup.synced()
      }
      await setup.catchUp()
      const old = setup.log.flatMap((envelope) =>
        envelope.kind === 'block' && envelope.isOld ? [envelope.number] : [],
      )
      assert.deepEqual(old, [1_001, 1_002, 1_003, 1_004, 1_005])
    })

    test('an unavailable node is asked again', async () => {
      const setup = await read(3)
      setup.chain.mine(3)
      for (const at of [1, 2, 3, 5, 8]) setup.chain.failAt(at)
      await setup.catchUp()
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
    })

    test('questions that fail ahead of a block leave no gap', async () => {
      const setup = setupOf()
      let asked = 0
      setup.askAhead = async () => {
        asked++
        throw new Error('no answer')
      }
      setup.chain.mine(5)
      await setup.catchUp()
      assert.equal(asked, 5)
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
    })
  })

  describe('facts that are found in the background', () => {
    test('are dropped where they cannot be encoded, and the block goes on without', async () => {
      const setup = setupOf()
      const good = { type: 'balance', address: '0x0a', holder: '0x0b', amountRaw: 1n } as const
      const bad = [
        { ...good, amountRaw: -1n },
        { ...good, amountRaw: 2n ** 2_040n },
        { type: 'inspectionFailure', address: '0x0a', block: 1.2e62 } as const,
      ]
      setup.background = [{ take: () => [...bad, good], readOn: () => undefined, forget: () => undefined }]
      setup.chain.mine(2)
      await setup.catchUp()
      assert.deepEqual(
        setup.log.map((envelope) => envelope.kind === 'block' && envelope.facts),
        [[good], [good]],
      )
      assert.deepEqual(setup.dropped.slice(0, 3), bad)
      assert.equal(setup.dropped.length, 6)
    })

    test('are added to the next block; their source sees every block, and forks before the next one', async () => {
      const setup = setupOf()
      const seen: string[] = []
      const fact = { type: 'balance', address: '0x0a', holder: '0x0b', amountRaw: 1n } as const
      const background = (name: string) => ({
        take: () => {
          seen.push(`${name} take`)
          return [{ ...fact, holder: name }]
        },
        readOn: ({ number }: { number: number }) => seen.push(`${name} ${number}`),
        forget: () => seen.push(`${name} forget`),
      })
      setup.background = [background('a'), background('b')]
      setup.chain.mine(2)
      await setup.catchUp()
      setup.chain.fork(1, 1)
      await setup.catchUp()
      const block = (number: number) => ['a take', 'b take', `a ${number}`, `b ${number}`]
      assert.deepEqual(seen, [
        ...block(START),
        ...block(START + 1),
        ...['a forget', 'b forget'],
        ...block(START + 1),
      ])
      for (const envelope of setup.log) {
        if (envelope.kind !== 'block') continue
        assert.deepEqual(envelope.facts, [
          { ...fact, holder: 'a' },
          { ...fact, holder: 'b' },
        ])
      }
    })
  })

  test("whatever the node does, the log's canonical view becomes the node's chain", async () => {
    const change = fc.oneof(
      fc.record({ do: fc.constant('mine' as const), count: fc.integer({ min: 1, max: 6 }) }),
      fc.record({
        do: fc.constant('fork' as const),
        depth: fc.integer({ min: 1, max: 12 }),
        count: fc.nat(14),
      }),
      fc.record({ do: fc.constant('final' as const), lag: fc.nat(10) }),
      fc.record({ do: fc.constant('lower' as const), by: fc.nat(5) }),
      fc.record({ do: fc.constant('fail' as const) }),
    )
    const script = fc.array(fc.record({ wait: fc.nat(12), change }), { maxLength: 25, size: 'max' })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0, 1, START), fc.nat(10), script, async (first, blocks, changes) => {
        const setup = setupOf(first)
        const { chain } = setup
        chain.mine(blocks)
        let call = 0
        for (const { wait, change: what } of changes) {
          call += wait + 1
          chain.at(call, () => {
            if (what.do === 'mine') chain.mine(what.count)
            if (what.do === 'fork') chain.fork(Math.min(what.depth, chain.undoable()), what.count)
            if (what.do === 'final') chain.finalise(chain.tip.number - what.lag)
            if (what.do === 'lower') chain.reportLower(what.by)
            if (what.do === 'fail') chain.failNow()
          })
        }
        chain.at(call + 1, () => {
          chain.reportLower(0)
          // Longer than any branch before it, as the chain that wins is.
          chain.mine(30)
        })
        await setup.read((tip) => chain.calls > call + 1 && tip?.hash === chain.tip.hash)
        assert.deepEqual(setup.canonical(), chain.hashes())
      }),
      // A stream takes a server and a connection for each.
      { numRuns: family === 'yellowstone' ? 30 : 150 },
    )
  })
}
