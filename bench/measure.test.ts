import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Clock,
  type Figure,
  measure,
  plans,
  quantile,
  repeat,
  repeatAsync,
  type SliceOutcome,
} from './measure.ts'

/** Time passes only when a fake slice says so. */
function createWorld() {
  const now = { wall: 0, cpu: 0 }
  const clock: Clock = { wallSeconds: () => now.wall, cpuSeconds: () => now.cpu }
  const order: string[] = []
  let isOpen = false
  const slice = (
    side: string,
    outcomeOf: (call: number) => Partial<SliceOutcome> & { cpu?: number; wall?: number },
  ) => {
    let call = 0
    return (durationMs: number) => {
      assert.ok(isOpen, 'both sides are alive during a slice')
      order.push(side)
      const { cpu = 1, wall = 1, ...outcome } = outcomeOf(call++)
      now.wall += (wall * durationMs) / 1000
      now.cpu += (cpu * durationMs) / 1000
      return { units: 100, ...outcome }
    }
  }
  const figure = (
    change: Partial<Figure>,
    subject: Parameters<typeof slice>[1],
    baseline = subject,
  ): Figure => ({
    name: 'figure',
    bar: 0.5,
    goal: 1,
    direction: 'at least',
    per: 'wall second',
    open: () => {
      isOpen = true
      return {
        subject: slice('A', subject),
        baseline: slice('B', baseline),
        close: () => {
          isOpen = false
        },
      }
    },
    ...change,
  })
  return { now, clock, order, figure, isOpen: () => isOpen }
}

const steady = () => ({ units: 100 })

describe('statistics', () => {
  test('quantiles are linear between neighbours and need no sorted input', () => {
    assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5)
    assert.equal(quantile([4, 1, 3, 2], 0.25), 1.75)
    assert.equal(quantile([7], 0.75), 7)
  })

  test('median of the pairwise ratios, not the ratio of medians', async () => {
    const world = createWorld()
    // The machine slows down by half for both sides: each pair still says 0.8.
    const speed = (call: number) => (call % 2 === 0 ? 100 : 50)
    const figure = world.figure(
      {},
      (call) => ({ units: speed(call) * 0.8 }),
      (call) => ({ units: speed(call) }),
    )
    const result = await measure(figure, plans.full, world.clock)
    assert.ok(Math.abs(result.ratio - 0.8) < 1e-9 && result.iqr < 1e-9)
    assert.equal(result.pass, true)
    assert.equal(world.isOpen(), false)
  })

  test('alternates the order, 15 one-second pairs after 3 of warm-up', async () => {
    const world = createWorld()
    const result = await measure(world.figure({}, steady), plans.full, world.clock)
    assert.equal(world.order.join(''), 'ABBA'.repeat(9))
    assert.equal(world.now.wall, 36)
    assert.equal(result.pairs, 15)
  })

  test('the warm-up does not count', async () => {
    const world = createWorld()
    const figure = world.figure({}, (call) => ({ units: call < 3 ? 1 : 90 }), steady)
    assert.deepEqual(await measure(figure, plans.full, world.clock), {
      ...{ name: 'figure', ratio: 0.9, iqr: 0, bar: 0.5, goal: 1, direction: 'at least', pass: true },
      ...{ rate: 90, pairs: 15, discarded: 0 },
    })
  })

  test('a noisy series fails although its median is over the bar', async () => {
    const world = createWorld()
    const noisy = (call: number) => ({ units: 100 + (call % 3) * 40 })
    const result = await measure(world.figure({}, noisy, steady), plans.full, world.clock)
    assert.ok(result.ratio > result.bar)
    assert.ok(result.iqr / result.ratio > 0.35)
    assert.equal(result.pass, false)
    assert.match(result.reason ?? '', /noisy/)
  })

  test('a spread just inside the limit passes', async () => {
    const world = createWorld()
    const result = await measure(
      world.figure({}, (call) => ({ units: 100 + (call % 3) * 20 }), steady),
      plans.full,
      world.clock,
    )
    assert.ok(result.iqr / result.ratio > 0.3)
    assert.equal(result.pass, true)
  })

  test('a figure may take fewer rounds than the plan, never more', async () => {
    for (const [pairs, expected] of [
      [5, 5],
      [99, plans.full.pairs],
    ] as const) {
      const world = createWorld()
      const figure = world.figure({ maxRounds: { warmUpPairs: 1, pairs } }, steady)
      const result = await measure(figure, plans.full, world.clock)
      assert.deepEqual([result.pairs, result.pass], [expected, true])
      assert.equal(world.order.length, 2 * (1 + expected))
    }
  })
})

describe('bars', () => {
  const rows: [Figure['direction'], units: number, pass: boolean][] = [
    ['at least', 50, true],
    ['at least', 49, false],
    ['at most', 50, true],
    ['at most', 51, false],
  ]
  for (const [direction, units, pass] of rows) {
    test(`${units / 100} against ${direction} 0.5: ${pass}`, async () => {
      const world = createWorld()
      const result = await measure(
        world.figure({ direction }, () => ({ units }), steady),
        plans.full,
        world.clock,
      )
      assert.equal(result.pass, pass)
      assert.equal(result.reason === undefined, pass)
    })
  }

  test('per CPU second, of this process or as the side reports it', async () => {
    const world = createWorld()
    const figure = world.figure(
      { per: 'cpu second' },
      () => ({ cpu: 0.5 }),
      () => ({ cpuSeconds: 2 }),
    )
    assert.equal((await measure(figure, plans.full, world.clock)).ratio, 4)
  })

  test('per wall second a slower slice weighs its longer time', async () => {
    const world = createWorld()
    assert.equal(
      (
        await measure(
          world.figure({}, () => ({ wall: 2 }), steady),
          plans.full,
          world.clock,
        )
      ).ratio,
      0.5,
    )
  })

  test('per slice the value is taken as it is', async () => {
    const world = createWorld()
    const figure = world.figure(
      { per: 'slice' },
      () => ({ units: 30, wall: 3 }),
      () => ({ units: 20 }),
    )
    assert.equal((await measure(figure, plans.full, world.clock)).ratio, 1.5)
  })
})

describe('wrong and incomplete', () => {
  for (const [when, wrongCall] of [
    ['warm-up', 0],
    ['last pair', 17],
  ] as const) {
    for (const side of ['subject', 'baseline']) {
      test(`a wrong ${side} in the ${when} scores 0, also against "at most"`, async () => {
        const world = createWorld()
        const wrong = (call: number) => (call === wrongCall ? { wrong: 'gap at 7' } : {})
        const change = { direction: 'at most' } as const
        const figure =
          side === 'subject' ? world.figure(change, wrong, steady) : world.figure(change, steady, wrong)
        const result = await measure(figure, plans.full, world.clock)
        assert.equal(result.ratio, 0)
        assert.equal(result.pass, false)
        assert.equal(result.reason, `${side} is wrong: gap at 7`)
      })
    }
  }

  const cuts: [string, Partial<SliceOutcome> & { wall?: number }][] = [
    ['says so', { units: 1, complete: false }],
    ['returned early', { units: 1, wall: 0.5 }],
    ['did nothing', { units: 0 }],
  ]
  for (const [why, cut] of cuts) {
    test(`a round is discarded and replaced when a slice ${why}`, async () => {
      const world = createWorld()
      const figure = world.figure({}, (call) => (call === 5 || call === 9 ? cut : {}), steady)
      const { pairs, discarded, ratio, iqr } = await measure(figure, plans.full, world.clock)
      assert.deepEqual({ pairs, discarded, ratio, iqr }, { pairs: 15, discarded: 2, ratio: 1, iqr: 0 })
    })
  }

  test('a wrong slice in a discarded round still scores 0', async () => {
    const world = createWorld()
    const figure = world.figure({}, (call) => (call === 5 ? { complete: false, wrong: 'torn' } : {}), steady)
    assert.equal((await measure(figure, plans.full, world.clock)).ratio, 0)
  })

  test('rounds that never complete end in a failure', async () => {
    const world = createWorld()
    const result = await measure(
      world.figure({}, () => ({ complete: false }), steady),
      plans.full,
      world.clock,
    )
    assert.equal(result.pass, false)
    assert.match(result.reason ?? '', /only 0 of 15 rounds/)
  })

  test('smoke judges neither bar nor noise, but correctness', async () => {
    const world = createWorld()
    const slow = (call: number) => ({ units: 1 + (call % 3) })
    assert.equal((await measure(world.figure({}, slow, steady), plans.smoke, world.clock)).pass, true)
    const wrong = world.figure({}, () => ({ wrong: 'gap' }), steady)
    assert.equal((await measure(wrong, plans.smoke, world.clock)).pass, false)
  })

  test('without a baseline the value is the figure, and takes no time but its own', async () => {
    const world = createWorld()
    const { open, ...rest } = world.figure({ per: 'slice', isTime: true }, () => ({ units: 0.7 }))
    const figure = { ...rest, open: async () => ({ subject: (await open()).subject }) }
    const result = await measure(figure, plans.full, world.clock)
    assert.deepEqual([result.ratio, result.isTime, world.order.join('')], [0.7, true, 'A'.repeat(18)])
  })

  test('a doubtful figure is measured again, once, and the better one counts', async () => {
    const world = createWorld()
    const figure = world.figure({}, (call) => ({ units: call < 7 ? 20 : 80 }), steady)
    const result = await measure(figure, plans.short, world.clock, ({ ratio }) => ratio < 0.5)
    assert.equal(result.ratio, 0.8)
    const bad = world.figure({}, (call) => ({ units: call < 7 ? 20 : 10 }), steady)
    world.order.length = 0
    assert.equal((await measure(bad, plans.short, world.clock, () => true)).ratio, 0.2)
    assert.equal(world.order.length, 28)
  })

  test('the sides are closed when a slice throws', async () => {
    const world = createWorld()
    const figure = world.figure({}, () => {
      throw new Error('engine died')
    })
    await assert.rejects(measure(figure, plans.full, world.clock), /engine died/)
    assert.equal(world.isOpen(), false)
  })
})

test('repeat and repeatAsync work until the time is up and verify inside the slice', async () => {
  const { now, clock } = createWorld()
  const batch = () => {
    now.wall += 0.3
    return 7
  }
  const verify = () => {
    now.wall += 1
    return 'differs'
  }
  assert.deepEqual(repeat(batch, () => undefined, clock)(1000), { units: 28 })
  assert.deepEqual(await repeatAsync(async () => batch(), verify, clock)(1000), {
    units: 28,
    wrong: 'differs',
  })
  assert.ok(Math.abs(now.wall - 3.4) < 1e-9)
})
