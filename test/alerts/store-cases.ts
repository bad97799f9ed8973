import type { AlertCase, Series } from './alert-case.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2
const logBytes = (instance: string, log: string, gib: number): Series => ({
  [`chaintape_log_bytes{role="engine",instance="${instance}",chain="eth",log="${log}"}`]: `${gib * GIB}x20`,
})
const heldBack = (values: string): Series => ({
  'chaintape_log_held_back_messages{role="writer",instance="a:3",chain="eth",log="BLOCKS"}': values,
})
const reorg = (depth: string, undone: string): Series => ({
  'chaintape_engine_reorg_depth_blocks{role="engine",instance="a:2",chain="eth"}': depth,
  'chaintape_engine_messages_total{role="engine",instance="a:2",chain="eth",cause="undo"}': undone,
})
const reorgLabels = { role: 'engine', instance: 'a:2', chain: 'eth' }
const quarantined = (count: number): Series => ({
  [`chaintape_quarantined_messages{role="engine",instance="a:2",chain="eth",log="blocks"}`]: `${count}x5`,
  [`chaintape_quarantined_messages{role="reader",instance="a:1",chain="eth",log="blocks"}`]: `${count}x5`,
})
const lags = (chain: string, written: string, served: string): Series => ({
  [`chaintape_writer_lag_seconds{role="writer",instance="a:3",chain="${chain}",store="redis"}`]: '3x20',
  [`chaintape_writer_lag_seconds{role="writer",instance="a:3",chain="${chain}",store="clickhouse"}`]: written,
  'chaintape_gateway_chain_lag_seconds{role="gateway",instance="a:4",chain="eth"}': served,
})
const retries = (values: string): Series => ({
  'chaintape_writer_retries_total{role="writer",instance="a:3",activity="rows of eth"}': values,
})
const corruptions = (values: string): Series => ({
  'chaintape_writer_corruptions{role="writer",instance="a:3"}': values,
})
const overlay = (chain: string, mib: number): Series => ({
  [`chaintape_gateway_overlay_bytes{role="gateway",instance="a:4",chain="${chain}"}`]: `${mib * MIB}x10`,
})

export const storeCases: readonly AlertCase[] = [
  {
    // Both engines report the same two logs.
    alert: 'ChaintapeLogsNearLimit',
    fires: {
      series: {
        ...logBytes('a:2', 'BLOCKS', 120),
        ...logBytes('b:2', 'BLOCKS', 119),
        ...logBytes('a:2', 'CHANGES', 90),
      },
      at: '10m',
      labels: {},
      summary: 'The logs in NATS have 210GiB, more than 80 % of its storage',
    },
    silent: {
      'below 80 %, reported twice': {
        series: { ...logBytes('a:2', 'BLOCKS', 190), ...logBytes('b:2', 'BLOCKS', 190) },
        at: '10m',
      },
    },
  },
  {
    alert: 'ChaintapeLogHeldBack',
    fires: {
      series: heldBack('0x2 40x20'),
      at: '14m',
      labels: { role: 'writer', instance: 'a:3', chain: 'eth', log: 'BLOCKS' },
      summary: 'BLOCKS of eth exceeds its limits by 40 messages',
    },
    silent: { 'it is stored at last': { series: heldBack('0x2 40x8 0x10'), at: '14m' } },
  },
  {
    alert: 'ChaintapeReorgDeep',
    fires: {
      series: reorg('1x100 32x100', '7x100 8x100'),
      at: '110m',
      labels: reorgLabels,
      summary: 'A reorg of eth orphaned 32 blocks',
    },
    silent: {
      'it was more than an hour ago': { series: reorg('32x200', '8x200'), at: '120m' },
      'a shallow one': { series: reorg('1x100 31x100', '7x100 8x100'), at: '110m' },
    },
  },
  {
    // The first reorg since the engine started.
    alert: 'ChaintapeReorgDeep',
    fires: {
      series: reorg('_x100 40x100', '_x100 1x100'),
      at: '110m',
      labels: reorgLabels,
      summary: 'A reorg of eth orphaned 40 blocks',
    },
    silent: { 'an hour later': { series: reorg('_x100 40x100', '_x100 1x100'), at: '170m' } },
  },
  {
    alert: 'ChaintapeQuarantined',
    fires: {
      series: quarantined(2),
      at: '5m',
      labels: { chain: 'eth', log: 'blocks' },
      summary: '2 messages of blocks of eth are quarantined',
    },
    silent: { 'the entries are withdrawn': { series: quarantined(0), at: '5m' } },
  },
  {
    alert: 'ChaintapeStoreBehind',
    fires: {
      series: lags('eth', '90x20', '3x20'),
      at: '8m',
      labels: { role: 'writer', instance: 'a:3', chain: 'eth', store: 'clickhouse' },
      summary: 'clickhouse is 1m 27s behind CHANGES on eth',
    },
    silent: {
      'the chain has no new blocks': { series: lags('eth', '9001x20', '9000x20'), at: '20m' },
      'a refold catches up': { series: lags('eth@2', '9000x20', '3x20'), at: '20m' },
    },
  },
  {
    alert: 'ChaintapeStoreUnavailable',
    fires: {
      series: retries('0x3 0+6x20'),
      at: '12m',
      labels: { role: 'writer', instance: 'a:3', activity: 'rows of eth' },
      summary: 'The writer at a:3 keeps retrying: rows of eth',
    },
    silent: { 'a single retry': { series: retries('0x3 1x20'), at: '10m' } },
  },
  {
    alert: 'ChaintapeStoreCorrupted',
    fires: {
      series: corruptions('0 2x9'),
      at: '2m',
      labels: { role: 'writer', instance: 'a:3' },
      summary: 'ClickHouse has found corrupted data 2 times since it was started',
    },
    silent: { 'it was started again': { series: corruptions('2x3 0x6'), at: '5m' } },
  },
  {
    // Two chains have half of 256 MiB each.
    alert: 'ChaintapeOverlayNearLimit',
    fires: {
      series: { ...overlay('eth', 90), ...overlay('bsc', 1) },
      at: '5m',
      labels: { role: 'gateway', instance: 'a:4', chain: 'eth' },
      summary: 'The gateway at a:4 buffers 90MiB of eth that a store lacks',
    },
    silent: {
      'one chain has all of it': { series: overlay('eth', 90), at: '5m' },
      'below 70 % each': { series: { ...overlay('eth', 89), ...overlay('bsc', 89) }, at: '5m' },
    },
  },
]
