import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import {
  closeStreams,
  families,
  headCalls,
  type ReaderFamily,
  readBlocks,
} from '../../test/support/rigs/reader-families.ts'
import { type ReaderSetup, START } from '../../test/support/rigs/reader-setup.ts'
import { ChaintapeError, type ErrorCode } from '../domain/errors.ts'

function hasCode(code: ErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof ChaintapeError && error.code === code
}

for (const family of ['evm', 'solana', 'yellowstone'] as const) describe(family, () => followsForks(family))
after(closeStreams)

function followsForks(family: ReaderFamily): void {
  const setupOf = families[family]
  /** Tests that change the chain between two calls; a stream has no such calls. */
  const isPolled = family !== 'yellowstone'
  const afterHead = isPolled ? headCalls[family] + 1 : 0
  const whilePolling = { skip: !isPolled }
  const read = (blocks: number, first?: number): Promise<ReaderSetup> => readBlocks(family, blocks, first)

  describe('forks', () => {
    test('at any depth, seen as the same height or as a block above', async () => {
      for (const depth of [1, 2, 3, 7, 31, 63, 64]) {
        for (const more of [0, 1, 5]) {
          const setup = await read(70)
          const before = setup.log.length
          setup.chain.fork(depth, depth + more)
          await setup.catchUp(1)
          assert.equal(setup.kinds(before)[0], `undo to ${START + 69 - depth}`)
          assert.equal(setup.log.length, before + 1 + depth + more)
          assert.deepEqual(setup.canonical(), setup.chain.hashes())
        }
      }
    })

    test('below everything that was read', async () => {
      const setup = await read(4)
      setup.chain.fork(4, 5)
      await setup.catchUp()
      assert.deepEqual(setup.kinds(4).slice(0, 2), [`undo to ${START - 1}`, `block ${START}`])
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
    })

    test('down to the very first block of a chain', async () => {
      const setup = await read(4, 0)
      assert.equal(setup.log.length, 5)
      setup.chain.fork(4, 5)
      await setup.catchUp()
      assert.equal(setup.kinds(5)[0], 'undo to 0')
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
    })

    test('one inside another, and back to the first', async () => {
      const setup = await read(10)
      const original = setup.chain.tip
      setup.chain.fork(4, 6)
      await setup.catchUp()
      setup.chain.fork(2, 3)
      await setup.catchUp()
      setup.chain.returnTo(original)
      setup.chain.mine(9)
      await setup.catchUp()
      assert.deepEqual(
        setup.kinds(10).filter((kind) => kind.startsWith('undo')),
        ['undo to 105', 'undo to 109', 'undo to 105'],
      )
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
    })

    test('while catching up', async () => {
      for (let call = 1; call < 40; call++) {
        const setup = await read(5)
        setup.chain.mine(10)
        setup.chain.at(call, () => setup.chain.fork(12, 13))
        await setup.catchUp(2)
        assert.deepEqual(setup.canonical(), setup.chain.hashes(), `fork at call ${call}`)
      }
    })

    test('a lower head undoes nothing, be it on our branch or on another one', async () => {
      const setup = await read(20)
      setup.chain.reportLower(7)
      let looks = 0
      await setup.read(() => looks++ === 3)
      assert.equal(setup.log.length, 20)

      setup.chain.reportLower(0)
      setup.chain.fork(10, 5)
      looks = 0
      await setup.read(() => looks++ === 3)
      assert.equal(setup.log.length, 20, 'until the other branch is as long, it may be that the node lags')
      setup.chain.mine(5)
      await setup.catchUp()
      assert.equal(setup.kinds(20)[0], 'undo to 109')
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
    })

    test('below what is final halts the reader, and nothing is undone', async () => {
      const setup = await read(10)
      setup.chain.finalise(105)
      await setup.catchUp(1)
      const before = setup.log.length
      setup.chain.fork(5, 6)
      await assert.rejects(
        setup.read(() => false),
        hasCode('fork_below_final'),
      )
      assert.equal(setup.log.length, before)
    })

    test('below where the log started halts the reader', async () => {
      const setup = await read(3)
      setup.chain.replaceAll(8)
      await assert.rejects(
        setup.read(() => false),
        hasCode('fork_below_final'),
      )
      assert.equal(setup.log.length, 3)
    })

    test('below where the log started, after all of it was undone', whilePolling, async () => {
      const setup = await read(1)
      setup.chain.fork(1, 1)
      setup.chain.at(afterHead, () => setup.chain.replaceAll(5))
      await assert.rejects(
        setup.read(() => setup.log.length > 3),
        hasCode('fork_below_final'),
      )
      assert.deepEqual(setup.kinds(1), [`undo to ${START - 1}`])
    })

    test('a block that was fetched from a branch which is no more proves nothing, however deep that branch', async () => {
      for (let call = 1; call < 25; call++) {
        const setup = setupOf(997)
        setup.chain.mine(9)
        // Final while its children are still those of the other branch; at 1000, finality is published on the way.
        setup.chain.finalise(1_000)
        const { tip } = setup.chain
        setup.chain.at(call, () => setup.chain.fork(8, 9))
        setup.chain.at(call + 1, () => setup.chain.returnTo(tip))
        setup.chain.at(call + 30, () => setup.chain.mine(3))
        await setup.catchUp(2)
        assert.deepEqual(
          setup.canonical(),
          setup.chain.hashes(),
          `one answer of the other branch at call ${call}`,
        )
      }
    })
  })

  describe('finality', () => {
    test('is published once, only rises, and never runs ahead of what was read', async () => {
      const setup = await read(10)
      for (const number of [103, 103, 101, 107, 200]) {
        setup.chain.finalise(number)
        await setup.catchUp(1)
      }
      assert.deepEqual(setup.kinds(10), ['final 103', 'final 107'])
    })

    test('is published along the way while catching up, so that journals stay short', async () => {
      const setup = setupOf(500)
      setup.chain.mine(2_700)
      setup.chain.finalise(2_900)
      await setup.catchUp(1)
      assert.deepEqual(
        setup.kinds().filter((kind) => kind.startsWith('final')),
        ['final 1000', 'final 2000', 'final 2900'],
      )
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
    })

    test('is not published for a block that the node itself no longer has', whilePolling, async () => {
      const setup = await read(10)
      // Right after the head was found to be ours, the chain forks below it, and what is final lies ahead.
      setup.chain.at(afterHead, () => {
        setup.chain.fork(3, 20)
        setup.chain.finalise(120)
      })
      await setup.catchUp(1)
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
      assert.deepEqual(
        setup.kinds(10).filter((kind) => !kind.startsWith('block')),
        ['undo to 106', 'final 120'],
      )
    })

    test('is not accepted for a block on another branch', async () => {
      const setup = await read(10)
      setup.chain.fork(5, 4)
      setup.chain.finalise(107)
      setup.chain.failAt(30)
      setup.chain.at(31, () => setup.chain.mine(3))
      await setup.catchUp(1)
      assert.deepEqual(setup.kinds(10).slice(0, 2), ['undo to 104', 'block 105'])
      assert.equal(setup.kinds().at(-1), 'final 107')
      assert.deepEqual(setup.canonical(), setup.chain.hashes())
    })
  })
}
