import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  MEME_WETH,
  sampleCandle,
  sampleMessage,
  sampleTrade,
} from '../../../test/support/builders/market-samples.ts'
import type { Change, Trade } from '../../domain/change.ts'
import type { Versioned } from '../../store/redis/hot-store.ts'
import { createHistoryView } from './history-view.ts'
import type { Recent } from './market-view.ts'
import { Overlay } from './overlay.ts'

const PAIR = { chain: 'eth', address: MEME_WETH }
const ALL = 100
const PLACES = 12

/** What one set does to the trades of the pair: puts some there, anew if they are there already, or takes them away. */
type Step = readonly { readonly place: number; readonly isRemoval: boolean }[]

/** By place, the version of each trade that stands. */
type State = ReadonlyMap<number, number>

type Row = { readonly place: number; readonly seq: number; readonly isDeleted: boolean }

type Story = {
  readonly steps: readonly Step[]
  /** Up to which set the gateway has read, the writer written, and the overlay forgotten: before, and after the answer. */
  readonly read: readonly [number, number]
  readonly forgotten: readonly [number, number]
  readonly written: number
  /** Whether the store keeps every version, or only the newest. */
  readonly isMerged: boolean
}

const step: fc.Arbitrary<Step> = fc.uniqueArray(
  fc.record({ place: fc.nat(PLACES - 1), isRemoval: fc.boolean() }),
  { minLength: 1, maxLength: 4, selector: ({ place }) => place },
)

const stories: fc.Arbitrary<Story> = fc
  .record({
    steps: fc.array(step, { minLength: 1, maxLength: 12 }),
    marks: fc.array(fc.nat(1_000), { minLength: 5, maxLength: 5 }),
    isMerged: fc.boolean(),
  })
  .map(({ steps, marks, isMerged }) => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = marks
      .map((mark) => mark % (steps.length + 1))
      .sort((x, y) => x - y)
    // Nothing is forgotten before it is written, nor written before the gateway has read it too.
    return { steps, isMerged, forgotten: [a, b], read: [c, e], written: d }
  })

function statesOf(steps: readonly Step[]): { states: State[]; changes: Change[][]; rows: Row[] } {
  const states: State[] = [new Map()]
  const rows: Row[] = []
  const changes = steps.map((step, index) => {
    const seq = index + 1
    const state = new Map(states.at(-1))
    const own = step.map(({ place, isRemoval }): Change => {
      const isDeleted = isRemoval && state.has(place)
      if (isDeleted) state.delete(place)
      else state.set(place, seq)
      rows.push({ place, seq, isDeleted })
      const trade = tradeAt(place, seq)
      return isDeleted ? { type: 'tradeRemoved', trade } : { type: 'trade', trade }
    })
    states.push(state)
    return own
  })
  return { states, changes, rows }
}

/** Its sender encodes the version. */
function tradeAt(place: number, seq: number): Trade {
  return sampleTrade({ key: { block: 100 + place, tx: 0, log: 0 }, time: 1_000 + place, sender: String(seq) })
}

async function answerOf(story: Story, limit: number): Promise<State> {
  return (await pageOf(story, limit)).state
}

/** And the `seq` of the last set it includes. */
async function pageOf(story: Story, limit: number): Promise<{ state: State; end: number }> {
  const { steps, read, forgotten, written, isMerged } = story
  const { changes, rows } = statesOf(steps)
  const overlay = new Overlay()
  let [applied, dropped] = [0, 0]
  const proceed = (readTo: number, forgottenTo: number): void => {
    for (; applied < readTo; applied++) overlay.apply(sampleMessage(applied + 1, changes[applied] ?? []))
    dropped = Math.max(dropped, forgottenTo)
    overlay.drop(dropped)
  }
  proceed(read[0], forgotten[0])
  const trades = async (question: { upTo: number; limit: number }): Promise<Versioned<Trade>[]> => {
    proceed(read[1], forgotten[1])
    const there = rows.filter(({ seq }) => seq <= written)
    const kept = isMerged ? newestOf(there) : there
    return newestOf(kept.filter(({ seq }) => seq <= question.upTo))
      .filter(({ isDeleted }) => !isDeleted)
      .sort((a, b) => b.place - a.place)
      .slice(0, question.limit)
      .map(({ place, seq }) => ({ seq, record: tradeAt(place, seq) }))
  }
  const view = createHistoryView({
    view: {
      recent: () => recentOf(dropped, applied, overlay),
      reach: async () => undefined,
    },
    hot: { recentCandles: async () => undefined },
    history: {
      ...{ trades, liquidity: async () => [], candles: async () => [] },
      ...{ switches: async () => [], tokenMatches: async () => [] },
    },
  })
  const { events: found, end } = await view.trades(PAIR, { before: undefined, limit })
  const places = found.map(({ key }) => key.block - 100)
  assert.deepEqual(
    places,
    places.toSorted((a, b) => b - a),
  )
  const state = new Map(found.map(({ sender }, index) => [places[index] ?? -1, Number(sender)]))
  return { state, end: end.seq }
}

function recentOf(upTo: number, seq: number, overlay: Overlay, adopted = -1): Recent {
  const end = { after: { epoch: 'e', sequence: seq, link: 0 }, seq, time: 0 }
  return { upTo, end, overlay, adopted, isWhole: () => true, mustHaveHistory: async () => undefined }
}

function newestOf(rows: readonly Row[]): Row[] {
  return [...new Map(rows.toSorted((a, b) => a.seq - b.seq).map((row) => [row.place, row])).values()]
}

test('history and overlay together are what was read last, wherever the writer is', () =>
  fc.assert(
    fc.asyncProperty(stories, fc.integer({ min: 1, max: PLACES }), async (story, limit) => {
      const [read] = story.read
      const still = { ...story, read: [read, read] as const, written: Math.min(story.written, read) }
      const quiet = { ...still, forgotten: [story.forgotten[0], story.forgotten[0]] as const }
      const newestFirst = [...(statesOf(story.steps).states[read] ?? [])].sort(([a], [b]) => b - a)
      assert.deepEqual([...(await answerOf(quiet, limit))], newestFirst.slice(0, limit))
    }),
    { numRuns: 500 },
  ))

test('rows that change during a query are returned as before or after, all others as they are', () =>
  fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const states = statesOf(story.steps).states.slice(story.read[0], story.read[1] + 1)
      const answer = await answerOf(story, ALL)
      for (let place = 0; place < PLACES; place++) {
        const versions = states.map((state) => state.get(place))
        assert.ok(versions.includes(answer.get(place)), `${place}: ${answer.get(place)} of ${versions}`)
      }
    }),
    { numRuns: 1_000 },
  ))

test('an answer is exactly what stands at the end that it names', () =>
  fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const { state, end } = await pageOf(story, ALL)
      assert.ok(end === story.read[0] || end === story.read[1])
      assert.deepEqual(
        state,
        new Map([...(statesOf(story.steps).states[end] ?? [])].sort(([a], [b]) => b - a)),
      )
    }),
    { numRuns: 1_000 },
  ))

test('a page is full if there is more, even if trades are retracted meanwhile', () =>
  fc.assert(
    fc.asyncProperty(stories, fc.integer({ min: 1, max: 4 }), async (story, limit) => {
      const states = statesOf(story.steps).states.slice(story.read[0], story.read[1] + 1)
      const always = [...(states[0] ?? [])].filter(([place]) => states.every((state) => state.has(place)))
      assert.ok((await answerOf(story, limit)).size >= Math.min(limit, always.length))
    }),
    { numRuns: 1_000 },
  ))

test('a short series is all there is only if it reaches back to the first trade of the pair', async () => {
  const stored = [{ seq: 1, record: sampleCandle({ start: 660 }) }]
  const older = { seq: 1, record: sampleCandle({ start: 540 }) }
  const view = createHistoryView({
    view: {
      recent: () => recentOf(1, 1, new Overlay()),
      reach: async () => undefined,
    },
    hot: { recentCandles: async () => ({ from: 600, candles: stored }) },
    history: {
      candles: async () => [...stored, older],
      trades: async () => [],
      liquidity: async () => [],
      switches: async () => [],
      tokenMatches: async () => [],
    },
  })
  const startsOf = async (first: number | undefined, from = 0): Promise<number[]> => {
    const range = { from, to: 1_000, limit: 9, activity: { first, last: 700 } }
    const { candles: found } = await view.candles({ chain: 'eth', pair: MEME_WETH, interval: 'k1' }, range)
    return found.map(({ record }) => record.start)
  }
  assert.deepEqual(await startsOf(650), [660])
  assert.deepEqual(await startsOf(599), [660, 540])
  assert.deepEqual(await startsOf(undefined), [660, 540])
  assert.deepEqual(await startsOf(undefined, 600), [660])
})
