import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ReaderSetup, START } from '../../test/support/rigs/reader-setup.ts'
import { ScriptedChain } from '../../test/support/rigs/scripted-chain.ts'
import { SolanaLedger } from '../../test/support/rigs/solana-ledger.ts'
import { OLD_AFTER_SECONDS } from '../domain/envelope.ts'
import { ChaintapeError, type ErrorCode } from '../domain/errors.ts'
import type { ChainFamily } from '../domain/ids.ts'
import { createSolanaSource } from './solana/source.ts'

function hasCode(code: ErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof ChaintapeError && error.code === code
}

/** A chain whose blocks are found by number and by hash, and one whose blocks are found by slot only. */
const families: Record<ChainFamily, (first?: number) => ReaderSetup> = {
  evm: (first = START) => new ReaderSetup(new ScriptedChain(first)),
  solana: (first = START) => {
    const ledger = new SolanaLedger(first)
    return new ReaderSetup(ledger.chain, createSolanaSource(ledger.nodes(), { logsOf: () => [] }))
  },
}

/** Requests for the head of a chain. */
const headCalls: Record<ChainFamily, number> = { evm: 1, solana: 2 }

for (const family of ['evm', 'solana'] as const) describe(family, () => followsTheChain(family))

function followsTheChain(family: ChainFamily): void {
  const setupOf = families[family]
  const afterHead = headCalls[family] + 1

  async function read(blocks: number, first = START): Promise<ReaderSetup> {
    const setup = setupOf(first)
    setup.chain.mine(blocks)
    await setup.catchUp()
    return setup
  }

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

    test('below where the log started, after all of it was undone', async () => {
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

    test('is not published for a block that the node itself no longer has', async () => {
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
      { numRuns: 150 },
    )
  })
}
