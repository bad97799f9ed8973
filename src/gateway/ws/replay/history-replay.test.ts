import assert from 'node:assert/strict'
import test from 'node:test'
import { MEME_WETH, sampleTrade } from '../../../../test/support/builders/market-samples.ts'
import type { Trade } from '../../../domain/change.ts'
import type { EventVersion, SinceQuestion } from '../../../store/clickhouse/read/history-reader.ts'
import { HistoryReplay } from './history-replay.ts'

const DAY = 86_400
const NOW = 1_700_000_000
const subject = { topic: 'tx', pair: { chain: 'eth', address: MEME_WETH } } as const
const at = (seq: number, epoch = 'e') => ({ epoch, sequence: seq, link: 0 })
const place = { after: at(3), seq: 30, time: NOW - 10 * DAY, published: 0 }
const head = { chain: 'eth', seq: 50, number: 1, hash: '0x', time: NOW, finalNumber: 0, position: at(5) }

function start(
  options: { days?: number; marker?: typeof head; holds?: boolean; rows?: EventVersion<Trade>[] } = {},
) {
  const questions: SinceQuestion[] = []
  const rows = options.rows ?? []
  const events = new HistoryReplay({
    history: {
      marker: async () => ('marker' in options ? options.marker : head),
      tradesSince: async (question) => {
        questions.push(question)
        return rows.filter(({ ref }) => ref.key.block > question.after.key.block).slice(0, question.limit)
      },
      liquiditySince: async () => [],
    },
    logs: new Map([['eth', { holds: async () => options.holds ?? true }]]),
    retentionDays: { tx: options.days, liq: undefined },
    now: () => NOW * 1_000,
    pageRows: 2,
  })
  return { events, questions }
}

test('history reaches as far as it is written, if nothing was dropped since and the log goes on from there', async () => {
  const reach = (options: Parameters<typeof start>[0], from = place) =>
    start(options).events.reach(subject, from)
  assert.deepEqual(await reach({}), head)
  assert.deepEqual(await reach({ days: 11 }), head)
  assert.equal(await reach({ days: 10 }), undefined)
  assert.equal(await reach({ holds: false }), undefined)
  assert.equal(await reach({ marker: undefined as never }), undefined)
  assert.equal(await reach({ marker: { ...head, position: at(5, 'other') } }), undefined)
  assert.equal(await reach({}, { ...place, after: at(3, 'other') }), undefined)
  assert.equal(await reach({}, { ...place, seq: 51 }), undefined)
})

test('page by page; sent events are not sent again, and retractions only on request', async () => {
  const row = (block: number, seq: number, isRemoved = false): EventVersion<Trade> => {
    const record = sampleTrade({ key: { block, tx: 0, log: 0 } })
    return { seq, ref: record, record: isRemoved ? undefined : record }
  }
  const rows = [row(1, 31), row(2, 31), row(3, 40, true), row(4, 45)]
  const { events, questions } = start({ rows })
  const last = { upTo: 31, time: NOW, key: { block: 1, tx: 0, log: 0 } }
  const read = async (wantsReorgs: boolean) => {
    const blocks: (number | undefined)[] = []
    let rowsRead = 0
    for await (const page of events.read(subject, { ...place, last }, 50, wantsReorgs)) {
      blocks.push(...page.pushes.map(({ place: { event } }) => event?.key.block))
      rowsRead += page.events
    }
    assert.equal(rowsRead, rows.length)
    return blocks
  }
  assert.deepEqual(await read(false), [2, 4])
  assert.deepEqual(
    questions.map(({ since, upTo, after }) => [since, upTo, after.key.block]),
    [
      [30, 50, 0],
      [30, 50, 2],
      [30, 50, 4],
    ],
  )
  assert.equal(questions[0]?.after.time, place.time - DAY)
  assert.deepEqual(await read(true), [2, 3, 4])
})
