import type { AlertCase, Series } from './alert-case.ts'

const ROLE = 'role="reader",instance="a:1"'
const labels = { role: 'reader', instance: 'a:1', chain: 'eth' }
const of = (metric: string, values: string, more = ''): Series => ({
  [`chaintape_reader_${metric}{${ROLE},chain="eth"${more}}`]: values,
})
const endpoint = (metric: string, name: string, values: string): Series =>
  of(metric, values, `,endpoint="${name}"`)

export const readerCases: readonly AlertCase[] = [
  {
    alert: 'ChaintapeRpcUnavailable',
    fires: {
      series: {
        ...endpoint('rpc_endpoint_up', 'one', '1x4 0x10'),
        ...endpoint('rpc_endpoint_up', 'two', '0x20'),
      },
      at: '8m',
      labels,
      summary: 'No RPC endpoint of eth works for the reader at a:1',
    },
    silent: {
      'one endpoint works': {
        series: {
          ...endpoint('rpc_endpoint_up', 'one', '1x20'),
          ...endpoint('rpc_endpoint_up', 'two', '0x20'),
        },
        at: '20m',
      },
    },
  },
  {
    alert: 'ChaintapeRpcEndpointDown',
    fires: {
      series: endpoint('rpc_endpoint_up', 'one', '1x2 0x20'),
      at: '19m',
      labels: { ...labels, endpoint: 'one' },
      summary: 'The RPC endpoint one of eth is paused by the reader at a:1',
    },
    silent: {
      'pauses between attempts': { series: endpoint('rpc_endpoint_up', 'one', '0x5 1 0x5 1 0x5'), at: '16m' },
    },
  },
  {
    // Time begins at midnight UTC: 1,500 requests a minute are 2,160,000 a day.
    alert: 'ChaintapeRpcBudgetLow',
    fires: {
      series: endpoint('rpc_budget_left', 'one', '2000000-1500x200'),
      at: '120m',
      labels: { ...labels, endpoint: 'one' },
      summary: 'The requests of today to one of eth will be spent before midnight UTC',
    },
    silent: {
      'it lasts until midnight': {
        series: endpoint('rpc_budget_left', 'one', '2000000-1200x200'),
        at: '120m',
      },
    },
  },
  {
    alert: 'ChaintapeRpcBudgetLow',
    fires: {
      series: endpoint('rpc_budget_left', 'one', '0x200'),
      at: '120m',
      labels: { ...labels, endpoint: 'one' },
      summary: 'The requests of today to one of eth will be spent before midnight UTC',
    },
    silent: {
      'a new day began': {
        series: endpoint('rpc_budget_left', 'one', '5000-40x100 2000000-1200x90'),
        at: '125m',
      },
    },
  },
  {
    alert: 'ChaintapeNewHeadsLost',
    fires: {
      series: endpoint('new_heads_up', 'one', '1x2 0x20'),
      at: '19m',
      labels: { ...labels, endpoint: 'one' },
      summary: 'one of eth announces no new blocks; the reader at a:1 polls',
    },
    silent: { 'it reconnects': { series: endpoint('new_heads_up', 'one', '1x2 0x8 1x10'), at: '19m' } },
  },
  {
    alert: 'ChaintapeStreamsEnding',
    fires: {
      series: {
        ...of('streams_ended_total', '0+1x5 5x60', ',endpoint="one",how="lost"'),
        ...of('streams_ended_total', '0+1x5 5x60', ',endpoint="one",how="silent"'),
      },
      at: '10m',
      labels: { ...labels, endpoint: 'one' },
      summary: 'The Yellowstone stream one of eth keeps ending',
    },
    silent: {
      'one end in an hour': {
        series: of('streams_ended_total', '0x5 1x60', ',endpoint="one",how="lost"'),
        at: '30m',
      },
    },
  },
  {
    // The first value of a series is not an increase.
    alert: 'ChaintapeTransactionsUnread',
    fires: {
      series: of('transactions_unread_total', '_x5 1x80'),
      at: '10m',
      labels,
      summary: 'eth has transactions of an unknown version',
    },
    silent: {
      'it was more than an hour ago': { series: of('transactions_unread_total', '1x200'), at: '120m' },
    },
  },
  {
    alert: 'ChaintapeTransactionsUnread',
    fires: {
      series: of('transactions_unread_total', '0x100 1x80'),
      at: '105m',
      labels,
      summary: 'eth has transactions of an unknown version',
    },
    silent: { 'there are none': { series: of('transactions_unread_total', '0x100'), at: '90m' } },
  },
  {
    alert: 'ChaintapeHistoriesUnserved',
    fires: {
      series: of('unserved_histories', '0x5 3x80'),
      at: '70m',
      labels,
      summary: 'No node serves the old logs of 3 tokens and pools of eth',
    },
    silent: { 'a node serves them again': { series: of('unserved_histories', '0x5 3x30 0x40'), at: '70m' } },
  },
  {
    alert: 'ChaintapeHistoriesStuck',
    everyMinutes: 5,
    fires: {
      series: of('open_histories', '4000x100'),
      at: '400m',
      labels,
      summary: '4000 transfer histories of eth are open, and no fewer than six hours ago',
    },
    silent: {
      'they fall': { series: of('open_histories', '4000-1x100'), at: '400m' },
      'few are open at any time': { series: of('open_histories', '100x100'), at: '400m' },
    },
  },
  {
    alert: 'ChaintapePoolScanStuck',
    fires: {
      series: of('scan_blocks_left', '9000x100'),
      at: '80m',
      labels,
      summary: 'The scan of older pools of eth makes no progress',
    },
    silent: {
      'it proceeds': { series: of('scan_blocks_left', '9000-10x100'), at: '80m' },
      'it is done': { series: of('scan_blocks_left', '0x100'), at: '80m' },
    },
  },
  {
    alert: 'ChaintapeLookUpsWaiting',
    fires: {
      series: of('waiting_look_ups', '0x2 101x20'),
      at: '14m',
      labels,
      summary: 'More than 100 ids that clients asked for have been waiting for ten minutes on eth',
    },
    silent: {
      'a burst is taken up': { series: of('waiting_look_ups', '0x2 900x5 20 900x5'), at: '13m' },
    },
  },
]
