import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { likelyMonth, readLatestVersions, type Span } from './latest-versions.ts'
import { number, type Row } from './records.ts'

type Version = { readonly key: number; readonly seq: number; readonly is_deleted: number }

const versions = fc.array(
  fc.record({ key: fc.nat(60), seq: fc.nat(9), is_deleted: fc.constantFrom(0, 0, 1) }),
  { maxLength: 400 },
)

/** Answers like the SQL files, with the key as the time. */
const answer = (all: readonly Version[], { from, to, before, limit }: Span): Row[] =>
  all
    .filter(({ key }) => key >= from && key <= to && (before === undefined || key < number(before, 'key')))
    .sort((a, b) => b.key - a.key)
    .slice(0, limit)

test('a page has the latest version of each key, however many versions and removals there are', () =>
  fc.assert(
    fc.asyncProperty(
      versions,
      fc.record({ wanted: fc.integer({ min: 1, max: 30 }), from: fc.nat(60), to: fc.nat(60) }),
      fc.nat(60),
      async (all, { wanted, from, to }, floor) => {
        const unique = [...new Map(all.map((row) => [`${row.key}/${row.seq}`, row])).values()]
        const latest = new Map<number, Version>()
        for (const row of unique) if (row.seq > (latest.get(row.key)?.seq ?? -1)) latest.set(row.key, row)
        const expected = [...latest.values()]
          .filter((row) => row.is_deleted === 0 && row.key >= from && row.key <= to)
          .sort((a, b) => b.key - a.key)
          .slice(0, wanted)
        const page = await readLatestVersions({
          ...{ wanted, from, to, firstFrom: Math.max(from, floor) },
          ask: async (span) => answer(unique, span),
          isSameKey: (a, b) => a['key'] === b['key'],
        })
        assert.deepEqual(page, expected)
      },
    ),
    { numRuns: 1_000 },
  ))

test('a pair with few rows takes two queries, or one if the first span reaches its beginning', async () => {
  const rows = [5, 50].map((key) => ({ key, seq: 1, is_deleted: 0 }))
  for (const [from, queries] of [
    [0, 2],
    [40, 1],
  ] as const) {
    const spans: Span[] = []
    const page = await readLatestVersions({
      ...{ wanted: 100, from, to: 60, firstFrom: 40 },
      ask: async (span) => {
        spans.push(span)
        return answer(rows, span)
      },
      isSameKey: (a, b) => a['key'] === b['key'],
    })
    assert.deepEqual([page.length, spans.length], [from === 0 ? 2 : 1, queries])
  }
})

test('the likely month is that of one week earlier', () => {
  const at = (text: string): number => Date.parse(text) / 1_000
  assert.equal(likelyMonth(at('2024-03-15T10:00:00Z')), at('2024-03-01T00:00:00Z'))
  assert.equal(likelyMonth(at('2024-03-07T23:59:59Z')), at('2024-02-01T00:00:00Z'))
  assert.equal(likelyMonth(at('2024-01-02T00:00:00Z')), at('2023-12-01T00:00:00Z'))
  assert.equal(likelyMonth(3), 0)
})
