import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  type Interruption,
  marketOf,
  marketScript,
  type Occurrence,
  occurrences,
} from '../../test/support/builders/market-script.ts'
import {
  foldChangeSets,
  type Tables,
  type WindowNumbers,
} from '../../test/support/reference/change-tables.ts'
import { InterruptedFold, type Message } from '../../test/support/rigs/interrupted-fold.ts'
import type { Change, ChangeSet } from '../domain/change.ts'
import type { BlockEnvelope, Envelope } from '../domain/envelope.ts'
import { isWindowKnown, WINDOWS } from '../domain/window.ts'
import type { Deferral } from './deferred-documents.ts'
import type { EngineSettings } from './settings.ts'

const RUNS = Number(process.env['CHAINTAPE_OLD_RUNS'] ?? 100)
const SEED = Number(process.env['CHAINTAPE_OLD_SEED'] ?? 64)
const DAY = 86_400

/** How many blocks are old, not old, old again and so on. */
const ages = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 6 })
const deferral = fc.record({
  maxBlocks: fc.constantFrom(1, 2, 5, 256),
  maxDocuments: fc.constantFrom(4, 8_192),
})

describe('old blocks', () => {
  test(`leave the same documents behind as others (${RUNS} runs)`, { timeout: 200_000 }, () => {
    const seen = { old: 0, undone: 0 }
    fc.assert(
      fc.property(marketScript, ages, deferral, (script, lengths, deferral) => {
        const market = marketOf(script)
        const folds = new PairedFold(market.settings, deferral)
        const isOld = agesOf(lengths)
        const story = occurrences(market, script).map((each) => withAge(each, isOld))
        for (const occurrence of [...story, ...ending(story)]) {
          if (occurrence.type === 'interruption') folds.interrupt(occurrence.how)
          else {
            folds.take(occurrence)
            if (isHeadOld(folds.published.at(-1))) seen.old++
            else expectSameDocuments(folds)
            if (occurrence.envelope.kind === 'undo') seen.undone++
          }
        }
        expectSameEvents(folds)
      }),
      { numRuns: RUNS, seed: SEED },
    )
    assert.ok(seen.old > RUNS && seen.undone > RUNS / 2, JSON.stringify(seen))
  })

  test('publish their documents with every 256th, and with the first block that is not old', () => {
    const folds = new PairedFold(market.settings)
    for (const each of quietBlocks(600)) folds.take(withAge(each, (number) => number < 640) as Message)
    const withToken = folds.published.flatMap(({ changes }, at) =>
      changes.some(({ type }) => type === 'token') ? [at] : [],
    )
    assert.deepEqual(withToken.slice(0, 3), [255, 511, 540])
    expectSameDocuments(folds)
    expectSameEvents(folds)
  })

  test('that come after others empty the windows', () => {
    const folds = new PairedFold(market.settings)
    for (const each of quietBlocks(30)) folds.take(withAge(each, (number) => number >= 120) as Message)
    const before = foldChangeSets(folds.published.slice(0, 20))
    const after = foldChangeSets(folds.published.slice(0, 21))
    const makersOf = ({ pairWindows }: Tables): number[] =>
      Array.from(pairWindows.values(), ({ lengths }) => lengths.at(-1)?.makers ?? 0)
    assert.ok(makersOf(before).some((makers) => makers > 0))
    assert.deepEqual(new Set(makersOf(after)), new Set([0]))
    assert.ok(folds.published.slice(20).every(isHeadOld))
  })

  test('between others of the same minute empty the windows, which then count anew', () => {
    const folds = new PairedFold(market.settings)
    for (const each of quietBlocks(40, 0)) folds.take(withAge(each, (number) => number === 120) as Message)
    const trades = folds.published.slice(21).flatMap(({ changes }) => changes.filter(isTrade))
    const ofPair = (pair: string): number => trades.filter(({ trade }) => trade.pair === pair).length
    const { pairWindows } = foldChangeSets(folds.published)
    const counts = Array.from(pairWindows, ([pair, { lengths }]) => {
      const { buys = 0, sells = 0 } = lengths.at(-1) ?? {}
      return { pair, count: buys + sells }
    })
    assert.ok(counts.some(({ count }) => count > 0))
    assert.deepEqual(
      counts,
      counts.map(({ pair }) => ({ pair, count: ofPair(pair) })),
    )
  })
})

/** The engine with old blocks, and the engine with the same blocks as if none were old. */
class PairedFold {
  readonly #old: InterruptedFold
  readonly #live: InterruptedFold

  constructor(settings: EngineSettings, deferral?: Deferral) {
    this.#old = new InterruptedFold(settings, deferral)
    this.#live = new InterruptedFold(settings)
  }

  get published(): ChangeSet[] {
    return this.#old.sets
  }

  get expected(): ChangeSet[] {
    return this.#live.sets
  }

  take(message: Message): void {
    this.#old.take(message)
    this.#live.take(withAge(message, () => false))
    assert.deepEqual(this.#old.codes, this.#live.codes)
  }

  interrupt(how: Interruption): void {
    this.#old.interrupt(how)
    this.#live.interrupt(how)
  }
}

const SCRIPT_SEED = 7
const market = marketOf({ seed: SCRIPT_SEED, steps: [] })

function isTrade(change: Change): change is Extract<Change, { type: 'trade' }> {
  return change.type === 'trade'
}

/** Blocks of a few events each. */
function quietBlocks(count: number, seconds = 12): Occurrence[] {
  const steps = Array.from({ length: count }, (_, at) => ({
    ...({ do: 'block', fate: 'apply', seconds } as const),
    events: [at * 3, at * 3 + 1, at * 3 + 2],
    facts: [],
  }))
  return occurrences(market, { seed: SCRIPT_SEED, steps })
}

function agesOf(lengths: readonly number[]): (number: number) => boolean {
  const flags = lengths.flatMap((length, at) => Array.from({ length }, () => at % 2 === 0))
  return (number) => flags[number - 100] ?? false
}

function withAge<T extends Occurrence>(occurrence: T, isOld: (number: number) => boolean): T {
  if (occurrence.type !== 'message' || occurrence.envelope.kind !== 'block') return occurrence
  const { isOld: _, ...envelope } = occurrence.envelope
  return { ...occurrence, envelope: isOld(envelope.number) ? { ...envelope, isOld: true } : envelope }
}

/** Blocks without events until every window is known. */
function ending(story: readonly Occurrence[]): Occurrence[] {
  let tip: { number: number; hash: string; time: number } | undefined
  const blocks = new Map<string, BlockEnvelope>()
  for (const each of story) {
    if (each.type !== 'message' || each.fate === 'reject') continue
    const { envelope } = each
    if (envelope.kind === 'block') {
      blocks.set(envelope.hash, envelope)
      tip = envelope
    } else if (envelope.kind === 'undo') tip = blocks.get(envelope.lastValid.hash)
  }
  if (tip === undefined) return []
  const all: Occurrence[] = []
  for (const seconds of [0, 30, 3_600, DAY, 2 * DAY]) {
    const envelope: Envelope = {
      kind: 'block',
      chain: market.settings.chain,
      number: tip.number + 1,
      hash: `0x${(0xfee0_0000 + tip.number).toString(16).padStart(64, '0')}`,
      parentHash: tip.hash,
      time: tip.time + seconds,
      ...{ transactions: [], facts: [] },
    }
    tip = envelope
    all.push({ type: 'message', envelope, fate: 'apply' })
  }
  return all
}

/** The last set was caused by an old block, or by an undo or finality that left one as the head. */
function isHeadOld(set: ChangeSet | undefined): boolean {
  return set !== undefined && (set.head.startTime ?? 0) > set.head.time
}

function expectSameDocuments(folds: PairedFold): void {
  const { head } = folds.published.at(-1) as ChangeSet
  const [actual, expected] = [foldChangeSets(folds.published), foldChangeSets(folds.expected)]
  const span = { headTime: head.time, since: head.startTime }
  const isKnown = WINDOWS.map((name) => isWindowKnown(name, span))
  const comparable = (tables: Tables) => ({
    ...tables,
    pairWindows: knownOf(tables.pairWindows, isKnown),
    tokenWindows: knownOf(tables.tokenWindows, isKnown),
  })
  assert.deepEqual(comparable(actual), comparable(expected))
}

function knownOf(windows: ReadonlyMap<string, WindowNumbers>, isKnown: readonly boolean[]) {
  const isDayKnown = isKnown.at(-1) === true
  return new Map(
    Array.from(windows, ([id, { lengths, amountRaw, highUsd, lowUsd, ...rest }]) => [
      id,
      {
        ...rest,
        lengths: lengths.filter((_, at) => isKnown[at]),
        ...(isDayKnown && { amountRaw, highUsd, lowUsd }),
      },
    ]),
  )
}

/** Each message has the events of its block, old or not, and with a switch the new main pair. */
function expectSameEvents(folds: PairedFold): void {
  const isEvent = ({ type }: Change): boolean =>
    ['trade', 'tradeRemoved', 'liquidity', 'liquidityRemoved', 'switch', 'switchRemoved'].includes(type)
  assert.deepEqual(
    folds.published.map(({ seq, changes }) => ({ seq, events: changes.filter(isEvent) })),
    folds.expected.map(({ seq, changes }) => ({ seq, events: changes.filter(isEvent) })),
  )
  for (const { changes } of folds.published) {
    const pairs = new Set(changes.map((change) => (change.type === 'pair' ? change.pair.address : undefined)))
    for (const change of changes)
      if (change.type === 'switch')
        assert.ok(pairs.has(change.switch.newPair), 'a switch comes with its pair')
  }
}
