import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Moment, reportLines } from './report.ts'
import { parseSamples, sumOf } from './scrape.ts'

const METRICS = `# HELP chaintape_reader_tip_block Latest block in BLOCKS
# TYPE chaintape_reader_tip_block gauge
chaintape_reader_tip_block{chain="base"} 120
chaintape_engine_messages_total{chain="base",cause="block"} 30
chaintape_engine_messages_total{chain="base",cause="undo"} 2
chaintape_log_bytes{chain="base",log="BLOCKS"} 2097152
chaintape_gateway_sockets 7
odd{text="a \\"quoted\\" \\\\ b, c=\\"d\\""} NaN
`

const momentOf = (at: number, text: string): Moment => ({
  at,
  scrapes: [{ role: 'engine', state: 'ready', samples: parseSamples(text) }],
  historyBytes: 3 * 1024 ** 3,
  hotBytes: undefined,
})

describe('Prometheus text', () => {
  test('is read with its labels, escapes included', () => {
    const samples = parseSamples(METRICS)
    assert.equal(samples.length, 6)
    assert.deepEqual(samples.at(-1)?.labels, { text: 'a "quoted" \\ b, c="d"' })
    assert.equal(sumOf(samples, 'chaintape_engine_messages_total', { chain: 'base' }), 32)
    assert.equal(sumOf(samples, 'chaintape_engine_messages_total', { chain: 'eth' }), undefined)
  })
})

describe('the report', () => {
  test('has a row per chain, with rates since the reading before', () => {
    const later = METRICS.replace('"block"} 30', '"block"} 40')
    const lines = reportLines(momentOf(2_000, later), momentOf(0, METRICS), ['base', 'eth'])
    assert.equal(lines[0], 'engine      ready')
    const row = lines.find((line) => line.startsWith('base'))?.split(/\s{2,}/)
    assert.deepEqual(row, ['base', '120', '-', '-', '-', '-', '-', '5.0', '-', '2.0 MiB', '-', '-'])
    assert.match(lines.find((line) => line.startsWith('eth')) ?? '', /^eth(\s+-){11}$/)
    assert.match(lines.at(-1) ?? '', /^ClickHouse 3\.0 GiB {3}Redis - {3}sockets 7 {3}requests\/s -$/)
  })

  test('shows no rate after a restart, when a counter begins again', () => {
    const again = METRICS.replace('"block"} 30', '"block"} 1')
    const lines = reportLines(momentOf(2_000, again), momentOf(0, METRICS), ['base'])
    assert.equal(lines.find((line) => line.startsWith('base'))?.split(/\s{2,}/)[7], '-')
  })
})
