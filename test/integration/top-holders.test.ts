import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import type { Change, ChangeSet } from '../../src/domain/change.ts'
import { magnitudeOf } from '../../src/domain/magnitude.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { type HistoryStore, openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { type HistoryReader, openHistoryReader } from '../../src/store/clickhouse/read/history-reader.ts'
import { Dice } from '../support/builders/change-builders.ts'
import { rowsOfSets } from '../support/reference/rows-of-sets.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

const TOKEN = addressOf(1)
const common = createTestCommon()
let stack: Stack
let client: ClickHouseClient
let databases = 0

before(async () => {
  stack = await startStack({ services: ['clickhouse'] })
  client = createClient({ url: stack.clickhouseUrl })
  // A merge forgets what was before a version that is above the marker: here it is decided when that happens.
  await client.command({ query: 'SYSTEM STOP MERGES' })
})

after(async () => {
  await client?.close()
  await stack?.stop()
})

/** A ledger beside the store: each holder's balance, and the balance published last. */
class Ledger {
  readonly #balances = new Map<string, bigint>()
  readonly #chain: string
  readonly #token: string
  seq = 0

  constructor(chain = 'eth', token = TOKEN) {
    this.#chain = chain
    this.#token = token
  }

  /** The change set that gives each of them so much. */
  set(amounts: Iterable<readonly [string, bigint]>, cause: ChangeSet['cause'] = 'block'): ChangeSet {
    const seq = ++this.seq
    const changes = [...amounts].map(([holder, amountRaw]): Change => {
      const beforeRaw = this.#balances.get(holder) ?? 0n
      this.#balances.set(holder, amountRaw)
      return { type: 'balance', balance: { token: this.#token, holder, amountRaw, beforeRaw } }
    })
    const head = { number: seq, hash: '0x01', time: 1_750_000_000 + seq }
    return { chain: this.#chain, seq, cause, head, finalNumber: 0, changes }
  }

  amountOf(holder: string): bigint {
    return this.#balances.get(holder) ?? 0n
  }

  /** By a plain sort of all of them. */
  top(limit: number): { holder: string; amountRaw: bigint }[] {
    return [...this.#balances]
      .filter(([, amountRaw]) => amountRaw > 0n)
      .sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1))
      .slice(0, limit)
      .map(([holder, amountRaw]) => ({ holder, amountRaw }))
  }
}

type Store = {
  readonly database: string
  readonly reader: HistoryReader
  write(...sets: readonly ChangeSet[]): Promise<unknown>
  top(limit: number, upTo: number, token?: string): ReturnType<HistoryReader['topHolders']>
  merge(): Promise<void>
}

async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
  const database = `holders${databases++}`
  const options = { url: stack.clickhouseUrl, database, username: 'default', password: '' }
  await migrate(options, common)
  const store: HistoryStore = openHistoryStore(options, common)
  const reader = openHistoryReader(options)
  try {
    await work({
      ...{ database, reader },
      write: (...sets) => store.write(rowsOfSets(sets)),
      top: (limit, upTo, token = TOKEN) => reader.topHolders({ chain: 'eth', upTo, token, limit }),
      merge: async () => {
        await client.command({ query: 'SYSTEM START MERGES' })
        await client.command({ query: `OPTIMIZE TABLE ${database}.balances FINAL` })
        await client.command({ query: 'SYSTEM STOP MERGES' })
      },
    })
  } finally {
    await store.close()
    await reader.close()
  }
}

function addressOf(index: number): string {
  return `0x${(BigInt(index) * 0x9e3779b97f4a7c15n).toString(16).padStart(40, '0')}`
}

test('the largest holders equal those of the ledger, before and after a merge', async () => {
  await withStore(async ({ write, top, merge }) => {
    const dice = new Dice(11)
    const ledger = new Ledger()
    const holders = Array.from({ length: 400 }, (_, index) => addressOf(index + 2))
    const compare = async (): Promise<void> => {
      for (const limit of [1, 7, 100]) assert.deepEqual(await top(limit, ledger.seq), ledger.top(limit))
    }
    for (let batch = 0; batch < 8; batch++) {
      const sets = Array.from({ length: 1 + dice.below(4) }, () => {
        const moved = new Set(Array.from({ length: 60 }, () => dice.pick(holders)))
        return ledger.set(
          [...moved].map((holder) => [holder, moveOf(dice, ledger.amountOf(holder))] as const),
        )
      })
      await write(...sets)
      await compare()
      if (batch === 5) await merge()
    }
    await merge()
    await compare()
    assert.equal(ledger.top(101).length, 101)
  })
})

/** A little more, as many others have, all gone, below nothing, or something else altogether. */
function moveOf(dice: Dice, amount: bigint): bigint {
  const other = dice.big(2n ** 254n)
  return dice.pick([amount + 1n, 10n ** 24n, 0n, -other, other, other, amount / 2n])
}

test('equal amounts are in the order of addresses', async () => {
  await withStore(async ({ write, top }) => {
    const ledger = new Ledger()
    const holders = Array.from({ length: 250 }, (_, index) => addressOf(index + 2))
    await write(ledger.set(holders.map((holder) => [holder, 10n ** 18n] as const)))
    // One of the same magnitude has a little more.
    await write(ledger.set([[holders[77] ?? '', 10n ** 18n + 1n]]))
    const found = await top(100, ledger.seq)
    assert.equal(found[0]?.holder, holders[77])
    assert.deepEqual(found, ledger.top(100))
  })
})

test('former large holders hide no current one, however many they are', async () => {
  await withStore(async ({ write, top, merge }) => {
    const ledger = new Ledger()
    const early = Array.from({ length: 2_000 }, (_, index) => addressOf(index + 2))
    const late = Array.from({ length: 130 }, (_, index) => addressOf(index + 5_000))
    await write(ledger.set(early.map((holder, index) => [holder, 10n ** 30n + BigInt(index)] as const)))
    await write(ledger.set(late.map((holder, index) => [holder, BigInt(index + 1)] as const)))
    await write(ledger.set(early.map((holder, index) => [holder, index < 3 ? 5n : 0n] as const)))
    assert.deepEqual(await top(100, ledger.seq), ledger.top(100))
    await merge()
    assert.deepEqual(await top(100, ledger.seq), ledger.top(100))
    await write(ledger.set(late.map((holder) => [holder, 0n] as const)))
    assert.equal((await top(100, ledger.seq)).length, 3)
  })
})

test('balances that a reorg undid are retracted, in the same batch or in a later one', async () => {
  await withStore(async ({ write, top }) => {
    const ledger = new Ledger()
    const [a = '', b = '', c = ''] = [2, 3, 4].map(addressOf)
    const first = [[a, 1_000n] as const, [b, 70n] as const]
    await write(ledger.set(first))
    const lost = ledger.set([
      [a, 3n],
      [b, 75n],
      [c, 10n ** 20n],
    ])
    const undone = ledger.set([...first, [c, 0n]], 'undo')
    await write(lost)
    await write(undone)
    assert.deepEqual(await top(10, ledger.seq), ledger.top(10))
    assert.deepEqual(await top(10, lost.seq), [
      { holder: c, amountRaw: 10n ** 20n },
      { holder: b, amountRaw: 75n },
      { holder: a, amountRaw: 3n },
    ])
    await write(
      ledger.set([
        [a, 0n],
        [c, 9n],
      ]),
      ledger.set(
        [
          [a, 1_000n],
          [c, 0n],
        ],
        'undo',
      ),
    )
    assert.deepEqual(await top(10, ledger.seq), ledger.top(10))
    assert.deepEqual(ledger.top(10), [
      { holder: a, amountRaw: 1_000n },
      { holder: b, amountRaw: 70n },
    ])
  })
})

test('nothing above the marker is returned', async () => {
  await withStore(async ({ write, top }) => {
    const ledger = new Ledger()
    const [a = '', b = '', c = ''] = [2, 3, 4].map(addressOf)
    await write(
      ledger.set([
        [a, 100n],
        [b, 50n],
      ]),
    )
    const [upTo, known] = [ledger.seq, ledger.top(10)]
    await write(
      ledger.set([
        [a, 0n],
        [b, 51n],
        [c, 10n ** 40n],
      ]),
    )
    assert.deepEqual(await top(10, upTo), known)
    // Not even where so many of them stand before that one has to look further down.
    const many = Array.from({ length: 500 }, (_, index) => [addressOf(index + 9), 10n ** 41n] as const)
    await write(ledger.set(many))
    assert.deepEqual(await top(2, upTo), known)
    assert.deepEqual(await top(2, ledger.seq), ledger.top(2))
  })
})

test('negative balances are omitted, and an unknown token has no holders', async () => {
  await withStore(async ({ write, top }) => {
    const ledger = new Ledger()
    const [a = '', b = ''] = [2, 3].map(addressOf)
    await write(
      ledger.set([
        [a, -(10n ** 30n)],
        [b, 1n],
      ]),
    )
    assert.deepEqual(await top(10, ledger.seq), [{ holder: b, amountRaw: 1n }])
    await write(
      ledger.set([
        [a, 2n],
        [b, -1n],
      ]),
    )
    assert.deepEqual(await top(10, ledger.seq), [{ holder: a, amountRaw: 2n }])
    assert.deepEqual(await top(10, ledger.seq, addressOf(999)), [])
  })
})

test('tokens and chains are kept apart', async () => {
  await withStore(async ({ write, top, reader }) => {
    const [own, other, elsewhere] = [new Ledger(), new Ledger('eth', addressOf(7)), new Ledger('bsc')]
    const holders = Array.from({ length: 150 }, (_, index) => addressOf(index + 20))
    for (const [place, ledger] of [own, other, elsewhere].entries())
      await write(
        ledger.set(holders.map((holder, index) => [holder, BigInt(index * 5 + place + 1)] as const)),
      )
    assert.deepEqual(await top(100, 1), own.top(100))
    assert.deepEqual(await top(100, 1, addressOf(7)), other.top(100))
    const question = { chain: 'bsc', upTo: 1, token: TOKEN, limit: 100 }
    assert.deepEqual(await reader.topHolders(question), elsewhere.top(100))
  })
})

const MANY = 120_000n

test('a token with many holders: only the end of its range is read', async () => {
  await withStore(async ({ database, write }) => {
    const ledger = new Ledger()
    const many = Array.from(
      { length: 120_000 },
      (_, index) => [addressOf(index + 2), BigInt(index + 1)] as const,
    )
    await write(ledger.set(many))
    for (const file of ['holder-depth', 'top-holders']) {
      const read = await rowsRead(database, file)
      assert.ok(read > 0 && read < 30_000, `${file} reads ${read} rows`)
    }
  })
})

/** As the server counts them, of a query as it stands in its file. */
async function rowsRead(database: string, file: string): Promise<number> {
  const query = readFileSync(new URL(`../../src/store/clickhouse/read/${file}.sql`, import.meta.url), 'utf8')
  const params = {
    chain: 'eth',
    token: TOKEN,
    rows: 1_000,
    least: magnitudeOf(MANY - 100n),
    up_to: 9,
    limit: 100,
  }
  const answer = await client.query({
    query: query.replaceAll('FROM balances', `FROM ${database}.balances`),
    query_params: params,
    format: 'JSON',
  })
  const { statistics } = await answer.json<object>()
  return statistics?.rows_read ?? 0
}
