import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  blockStep,
  buildBlock,
  CHAIN,
  type Market,
  market,
  publishScript,
  type Step,
  settingsOf,
  steps,
} from '../../test/support/arbitraries/market-arbitraries.ts'
import { foldChangeSets } from '../../test/support/reference/change-tables.ts'
import { referenceTables } from '../../test/support/reference/reference-market.ts'
import { diskStore, EngineRun } from '../../test/support/rigs/engine-run.ts'
import type { Envelope } from '../domain/envelope.ts'
import { ChaintapeError, type ErrorCode } from '../domain/errors.ts'
import { decodeChangeSet, encodeChangeSet } from '../wire/change-codec.ts'

function runAll(world: Market, envelopes: readonly Envelope[]): EngineRun {
  const run = new EngineRun(settingsOf(world))
  for (const envelope of envelopes) run.apply(envelope)
  return run
}

function hasCode(code: ErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof ChaintapeError && error.code === code
}

describe('properties of the fold', () => {
  test('folding all changes by newest seq gives the tables of the canonical chain alone', () => {
    fc.assert(
      fc.property(market, steps, (world, script) => {
        const { envelopes, canonical } = publishScript(world, script)
        const { sets } = runAll(world, envelopes)
        assert.deepEqual(foldChangeSets(sets), referenceTables(world, canonical))
      }),
      { numRuns: 1_500 },
    )
  })

  test('the order in which sets arrive does not matter to who folds them', () => {
    fc.assert(
      fc.property(market, steps, fc.infiniteStream(fc.nat()), (world, script, dice) => {
        const { sets } = runAll(world, publishScript(world, script).envelopes)
        const shuffled = sets.map((set) => ({ set, at: dice.next().value })).sort((a, b) => a.at - b.at)
        assert.deepEqual(foldChangeSets(shuffled.map(({ set }) => set)), foldChangeSets(sets))
      }),
      { numRuns: 100 },
    )
  })

  test('undo(apply(x)) == x, byte for byte, wherever a commit falls', () => {
    const more = fc.array(fc.record({ step: blockStep, commits: fc.boolean() }), {
      minLength: 1,
      maxLength: 5,
    })
    fc.assert(
      fc.property(market, blockStep, steps, more, (world, first, script, blocks) => {
        const { envelopes, canonical } = publishScript(world, [first, ...script])
        const run = runAll(world, envelopes)
        const tip = canonical.at(-1)
        fc.pre(tip !== undefined)
        const before = run.stateHash()
        const chain = [...canonical]
        for (const [salt, { step, commits }] of blocks.entries()) {
          const block = buildBlock(world, chain, step, 500 + salt)
          chain.push(block)
          run.apply(block)
          if (commits) run.commit()
        }
        assert.notEqual(run.stateHash(), before)
        const { number, hash, time } = tip
        const set = run.apply({ kind: 'undo', chain: CHAIN, lastValid: { number, hash } })
        assert.equal(run.stateHash(), before)
        assert.deepEqual(set.head, { number, hash, time, startTime: canonical[0]?.time })
      }),
      { numRuns: 150 },
    )
  })

  test('any split into commits gives the same bytes and the same state', () => {
    fc.assert(
      fc.property(market, steps, fc.infiniteStream(fc.boolean()), (world, script, commits) => {
        const { envelopes } = publishScript(world, script)
        const whole = runAll(world, envelopes)
        const split = new EngineRun(settingsOf(world))
        for (const envelope of envelopes) {
          split.apply(envelope)
          if (commits.next().value) split.commit()
        }
        assert.deepEqual(split.bytes(), whole.bytes())
        assert.equal(split.stateHash(), whole.stateHash())
      }),
      { numRuns: 150 },
    )
  })

  test('a crash anywhere, and applying again from the last commit, gives the same bytes and state', () => {
    const plan = fc.infiniteStream(fc.constantFrom('commit', 'crash', 'restart', 'go on', 'go on'))
    fc.assert(
      fc.property(market, steps, plan, (world, script, events) => {
        const { envelopes } = publishScript(world, script)
        const whole = runAll(world, envelopes)
        let run = new EngineRun(settingsOf(world))
        let crashes = 0
        for (let next = 0; next < envelopes.length; next++) {
          run.apply(envelopes[next] as Envelope)
          const event = events.next().value
          if (event === 'commit') run.commit()
          else if (event === 'crash' && crashes++ < 5) next = run.abandon() - 1
          else if (event === 'restart') {
            run.commit()
            const restarted = new EngineRun(settingsOf(world), run.store)
            restarted.sets.push(...run.sets)
            restarted.commit()
            run = restarted
          }
        }
        assert.deepEqual(run.bytes(), whole.bytes())
        assert.equal(run.stateHash(), whole.stateHash())
      }),
      { numRuns: 150 },
    )
  })

  test('the real store holds the same state, and gives the same changes back after reopening', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'chaintape-engine-'))
    let folder = 0
    try {
      await fc.assert(
        fc.asyncProperty(market, steps, fc.infiniteStream(fc.nat(3)), async (world, script, dice) => {
          const { envelopes } = publishScript(world, script)
          const whole = runAll(world, envelopes)
          const path = join(dir, String(folder++))
          let run = new EngineRun(settingsOf(world), diskStore(path))
          for (const envelope of envelopes) {
            run.apply(envelope)
            if (dice.next().value < 2) run.commit()
            if (dice.next().value > 0) continue
            run.commit()
            await run.store.close()
            const reopened = new EngineRun(settingsOf(world), diskStore(path))
            reopened.sets.push(...run.sets)
            run = reopened
          }
          run.commit()
          assert.deepEqual(run.bytes(), whole.bytes())
          assert.equal(run.stateHash(), whole.stateHash())
          await run.store.close()
        }),
        { numRuns: 10 },
      )
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('a balance is published with its previous value, reorgs included', () => {
    fc.assert(
      fc.property(market, steps, (world, script) => {
        const known = new Map<string, bigint>()
        for (const { changes } of runAll(world, publishScript(world, script).envelopes).sets) {
          for (const change of changes) {
            if (change.type !== 'balance') continue
            const { token, holder, amountRaw, beforeRaw } = change.balance
            const id = `${token}/${holder}`
            assert.equal(beforeRaw, known.get(id) ?? 0n)
            known.set(id, amountRaw)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  test('every change set survives encoding', () => {
    fc.assert(
      fc.property(market, steps, (world, script) => {
        for (const set of runAll(world, publishScript(world, script).envelopes).sets) {
          assert.deepEqual(decodeChangeSet(encodeChangeSet(set)), set)
        }
      }),
      { numRuns: 50 },
    )
  })
})

test('the engine drops undo data of final blocks', () => {
  fc.assert(
    fc.property(market, steps, (world, script) => {
      const run = runAll(world, publishScript(world, [...script, { do: 'final', lag: 0 }]).envelopes)
      run.commit()
      const kept = [...run.store.entries()].map(([key]) => key)
      assert.deepEqual(
        kept.filter((key) => /^(journal|emitted)\//.test(key)),
        [],
      )
      const empty = [...run.store.entries()].filter(([key, bytes]) => {
        return key.startsWith('balance/') && bytes.every((byte) => byte === 0)
      })
      assert.deepEqual(empty, [], 'nor balances of nothing')
    }),
    { numRuns: 50 },
  )
})

describe('messages that the engine refuses', () => {
  const empty: Step & { do: 'block' } = { do: 'block', seconds: 12, actions: [] }
  const world: Market = { tokens: [], pools: [], quoteAssets: [], minDepthUsd: 0n }

  test('an undo below what is final', () => {
    const { envelopes, canonical } = publishScript(world, [
      empty,
      empty,
      empty,
      empty,
      { do: 'final', lag: 1 },
    ])
    const refs = canonical.map(({ number, hash }) => ({ number, hash }))
    for (const lastValid of [refs[1], refs[0], { number: 99, hash: canonical[0]?.parentHash ?? '' }]) {
      const run = runAll(world, envelopes)
      const before = run.stateHash()
      assert.ok(lastValid)
      assert.throws(() => run.apply({ kind: 'undo', chain: CHAIN, lastValid }), hasCode('fork_below_final'))
      assert.equal(run.stateHash(), before)
    }
    const run = runAll(world, envelopes)
    assert.ok(refs[2])
    assert.deepEqual(run.apply({ kind: 'undo', chain: CHAIN, lastValid: refs[2] }).changes, [])
  })

  test('an undo of nothing, and one that names a block which is not there', () => {
    const { envelopes, canonical } = publishScript(world, [empty, empty, empty])
    const [, second, third] = canonical
    assert.ok(second && third)
    const undo = (number: number, hash: string) => () =>
      runAll(world, envelopes).apply({ kind: 'undo', chain: CHAIN, lastValid: { number, hash } })
    assert.throws(undo(third.number, third.hash), hasCode('broken_link'))
    assert.throws(undo(third.number + 1, third.hash), hasCode('broken_link'))
    assert.throws(undo(second.number, third.hash), hasCode('broken_link'))
  })

  test('a block that does not follow the one before', () => {
    const { envelopes, canonical } = publishScript(world, [empty, empty])
    const next = buildBlock(world, canonical, empty, 1)
    const broken = [
      { ...next, parentHash: next.hash },
      { ...next, number: next.number - 1 },
      { ...next, number: next.number - 5 },
    ]
    for (const block of broken) {
      assert.throws(() => runAll(world, envelopes).apply(block), hasCode('broken_link'))
    }
  })

  test('finality of a block that was not applied', () => {
    const upTo = { number: 200, hash: '0x00' }
    const { envelopes } = publishScript(world, [empty])
    for (const known of [[], envelopes]) {
      assert.throws(
        () => runAll(world, known).apply({ kind: 'final', chain: CHAIN, upTo }),
        hasCode('broken_link'),
      )
    }
  })

  test('finality never sinks', () => {
    const { envelopes, canonical } = publishScript(world, [empty, empty, empty, { do: 'final', lag: 0 }])
    const run = runAll(world, envelopes)
    const first = canonical[0]
    assert.ok(first)
    const { number, hash } = first
    const set = run.apply({ kind: 'final', chain: CHAIN, upTo: { number, hash } })
    assert.equal(set.finalNumber, canonical.at(-1)?.number)
  })
})
