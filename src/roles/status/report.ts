import { type Sample, type Scrape, sumOf } from './scrape.ts'

/** What all roles said at one moment. */
export type Moment = {
  /** In milliseconds; only differences count. */
  readonly at: number
  readonly scrapes: readonly Scrape[]
  /** Bytes in ClickHouse and Redis; undefined if the server does not answer. */
  readonly historyBytes: number | undefined
  readonly hotBytes: number | undefined
}

const UNKNOWN = '-'

/** The lines of `chaintape status`. Rates are those since the moment `before`. */
export function reportLines(
  now: Moment,
  before: Moment | undefined,
  chains: readonly string[],
): readonly string[] {
  const samples = now.scrapes.flatMap((each) => each.samples)
  const earlier = before?.scrapes.flatMap((each) => each.samples)
  const seconds = before === undefined ? undefined : (now.at - before.at) / 1_000
  const rate = (name: string, labels: Readonly<Record<string, string>> = {}): string =>
    rateOf(sumOf(samples, name, labels), earlier && sumOf(earlier, name, labels), seconds)
  const rows = chains.map((chain) => {
    const of = (name: string, labels = {}): number | undefined => sumOf(samples, name, { chain, ...labels })
    return [
      chain,
      whole(of('chaintape_reader_tip_block')),
      whole(of('chaintape_reader_lag_blocks')),
      whole(of('chaintape_engine_tip_block')),
      age(of('chaintape_writer_lag_seconds', { store: 'clickhouse' })),
      age(of('chaintape_writer_lag_seconds', { store: 'redis' })),
      age(of('chaintape_gateway_chain_lag_seconds')),
      rate('chaintape_engine_messages_total', { chain }),
      rate('chaintape_writer_rows_total', { chain, table: 'trades' }),
      size(of('chaintape_log_bytes', { log: 'BLOCKS' })),
      size(changesBytes(samples, chain)),
      whole(of('chaintape_reader_open_histories')),
    ]
  })
  const header = [
    'chain',
    'head',
    'behind',
    'folded',
    'history',
    'hot',
    'served',
    'blocks/s',
    'trades/s',
    'BLOCKS',
    'CHANGES',
    'histories',
  ]
  return [
    ...now.scrapes.map(({ role, state }) => `${role.padEnd(11)} ${state}`),
    '',
    ...table([header, ...rows]),
    '',
    [
      `ClickHouse ${size(now.historyBytes)}`,
      `Redis ${size(now.hotBytes)}`,
      `sockets ${whole(sumOf(samples, 'chaintape_gateway_sockets'))}`,
      `requests/s ${rate('chaintape_gateway_requests_total')}`,
    ].join('   '),
  ]
}

/** A refold has a log of its own, beside the one that is served. */
function changesBytes(samples: readonly Sample[], chain: string): number | undefined {
  const logs = samples.filter(
    ({ name, labels }) =>
      name === 'chaintape_log_bytes' && labels['chain'] === chain && labels['log'] !== 'BLOCKS',
  )
  return logs.length === 0 ? undefined : logs.reduce((sum, { value }) => sum + value, 0)
}

function rateOf(now: number | undefined, before: number | undefined, seconds: number | undefined): string {
  // A counter begins at 0 when its role restarts.
  if (now === undefined || before === undefined || seconds === undefined || now < before) return UNKNOWN
  return ((now - before) / seconds).toFixed(1)
}

function whole(value: number | undefined): string {
  return value === undefined ? UNKNOWN : value.toFixed(0)
}

function age(seconds: number | undefined): string {
  return seconds === undefined ? UNKNOWN : `${seconds.toFixed(1)} s`
}

function size(bytes: number | undefined): string {
  if (bytes === undefined) return UNKNOWN
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  )
}
