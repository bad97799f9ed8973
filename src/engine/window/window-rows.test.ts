import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AddressedTrades, gathered } from '../../../test/support/builders/addressed-trades.ts'
import { MemoryState } from '../../../test/support/rigs/memory-state.ts'
import { MAX_FIXED } from '../../domain/limits.ts'
import { JournaledState } from '../../state/journaled-state.ts'
import { ChangeSetWriter } from '../../wire/change-set-writer.ts'
import { ALL_PAIRS } from './gathered-trades.ts'
import { openWindowTables, type WindowTables } from './tables.ts'
import { windowCorrections } from './window-corrections.ts'
import { WindowFold } from './window-fold.ts'

const QUOTE = '0xbb'
const FIRST_TIME = 1_700_006_400
const FEW_ROWS = { subjects: 1, minutes: 1 }
const MANY_ROWS = { subjects: 1_000, minutes: 1_000 }

type Block = { readonly time: number; readonly trades: readonly AddressedTrades[] }
type Step =
  | { readonly do: 'block'; readonly seconds: number; readonly trades: readonly AddressedTrades[] }
  | { readonly do: 'commit' }
  | { readonly do: 'restart' }
  | { readonly do: 'undo'; readonly blocks: number }

/** Windows alone, over a store in memory. */
class Windows {
  readonly store = new MemoryState()
  readonly #maxRows: typeof FEW_ROWS
  #state: JournaledState
  #tables: WindowTables
  #number = 0

  constructor(maxRows: typeof FEW_ROWS) {
    this.#maxRows = maxRows
    this.#state = new JournaledState(this.store)
    this.#tables = openWindowTables(this.#state, maxRows)
  }

  /** The published bytes. */
  apply({ time, trades }: Block): string {
    const writer = new ChangeSetWriter()
    const head = { number: ++this.#number, hash: '0x', time }
    writer.begin({ chain: 'eth', seq: this.#number, cause: 'block', head, finalNumber: 0 })
    const all = trades.map((each) => gathered(each, this.#tables.visits))
    new WindowFold(this.#tables, time, (token) => token === QUOTE).run(all, [], writer)
    this.#state.sealBlock(this.#number)
    return Buffer.from(writer.finish()).toString('hex')
  }

  undo(blocks: number): number {
    const restored = this.#state.undoBlocks(this.#number - blocks + 1, this.#number)
    this.#tables.visits.undo(restored)
    this.#number -= blocks
    return windowCorrections(restored, this.#tables.subjects).length
  }

  commit(): void {
    this.store.write(this.#state.pending())
    this.#state.committed()
  }

  restart(): void {
    this.commit()
    this.#state = new JournaledState(this.store)
    this.#tables = openWindowTables(this.#state, this.#maxRows)
  }

  /** All that is known, but for how to undo it. */
  entries(): [string, Uint8Array][] {
    this.commit()
    return this.store.entries().filter(([key]) => !key.startsWith('journal/'))
  }
}

/** Pairs that are priced by routes, and do not always count for their token. */
const [ROUTED, ROUTED_TOO] = ['0x05', '0x06']
const isRouted = (pair: string): boolean => [ROUTED, ROUTED_TOO].includes(pair)

const price = fc.option(fc.bigInt(1n, 9n), { nil: undefined })
const trades: fc.Arbitrary<AddressedTrades> = fc
  .record({
    market: fc.constantFrom(
      ['0x01', '0xaa'],
      ['0x02', '0xaa'],
      ['0x03', '0xab'],
      ['0x04', QUOTE],
      [ROUTED, '0xaa'],
      [ROUTED_TOO, '0xac'],
      [ALL_PAIRS, QUOTE],
    ),
    buys: fc.nat(2),
    sells: fc.nat(2),
    valueUsd: fc.constantFrom(0n, 7n, MAX_FIXED, MAX_FIXED + 1n),
    amountRaw: fc.constantFrom(1n, 2n ** 256n - 1n),
    highUsd: price,
    pairCloseUsd: price,
    tokenCloseUsd: price,
    isForToken: fc.boolean(),
    wallets: fc.uniqueArray(fc.constantFrom('0xe1', '0xe2', '0xe3'), { minLength: 1 }),
  })
  .map(({ market: [pair = '', token = ''], valueUsd, wallets, ...rest }) => ({
    ...{ pair, token, ...rest, lowUsd: rest.highUsd, isRouted: isRouted(pair) },
    isForToken: rest.isForToken || !isRouted(pair),
    buyUsd: valueUsd * BigInt(rest.buys),
    sellUsd: valueUsd * BigInt(rest.sells),
    buyers: rest.buys > 0 ? wallets : [],
    sellers: rest.sells > 0 ? wallets : [],
  }))

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('block' as const),
      seconds: fc.constantFrom(0, 12, 60, 240, 900, 3_600, 14_400, 43_200, 86_400),
      trades: fc.uniqueArray(trades, { maxLength: 3, selector: ({ pair }) => pair }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'commit' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' } as const) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('undo' as const), blocks: fc.integer({ min: 1, max: 4 }) }),
  },
)

test('evictions, commits, restarts and undos in between make no difference', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const troubled = new Windows(FEW_ROWS)
      let standing: (Block & { readonly bytes: string })[] = []
      for (const each of steps) {
        if (each.do === 'commit') troubled.commit()
        else if (each.do === 'restart') troubled.restart()
        else if (each.do === 'undo') {
          const blocks = Math.min(each.blocks, standing.length)
          if (blocks === 0) continue
          const undone = standing.splice(-blocks)
          const hadTrades = undone.some(({ trades }) => trades.length > 0)
          const corrected = troubled.undo(blocks)
          assert.ok(!hadTrades || corrected > 0, 'an undone trade changes windows')
        } else {
          const block = { time: (standing.at(-1)?.time ?? FIRST_TIME) + each.seconds, trades: each.trades }
          standing = [...standing, { ...block, bytes: troubled.apply(block) }]
        }
      }
      const calm = new Windows(MANY_ROWS)
      for (const { bytes, ...block } of standing) assert.equal(calm.apply(block), bytes)
      assert.deepEqual(troubled.entries(), calm.entries())
    }),
    { numRuns: 200 },
  )
})
