import { Counter, Gauge, Histogram } from 'prom-client'
import type { EndpointMetrics } from '../../chain/rpc/endpoint-reports.ts'
import type { Common } from '../../lib/common.ts'

export type ReaderMetrics = ReturnType<typeof createReaderMetrics>

export function createReaderMetrics({ metrics }: Common) {
  const registers = [metrics]
  return {
    appended: new Counter({
      name: 'chaintape_reader_envelopes_total',
      help: 'Envelopes appended to BLOCKS',
      labelNames: ['chain', 'kind'],
      registers,
    }),
    leads: new Gauge({
      name: 'chaintape_reader_leads',
      help: '1 if this reader is the leader, 0 if it is a standby',
      labelNames: ['chain'],
      registers,
    }),
    takeovers: new Counter({
      name: 'chaintape_reader_takeovers_total',
      help: 'Takeovers by this reader after the leader stopped appending',
      labelNames: ['chain'],
      registers,
    }),
    tip: new Gauge({
      name: 'chaintape_reader_tip_block',
      help: 'Latest block in BLOCKS',
      labelNames: ['chain'],
      registers,
    }),
    lag: new Gauge({
      name: 'chaintape_reader_lag_blocks',
      help: "Blocks between the node's head and the latest block in BLOCKS",
      labelNames: ['chain'],
      registers,
    }),
    secondsLeft: new Gauge({
      name: 'chaintape_reader_catch_up_seconds',
      help: "Estimated seconds until the node's head is reached, at the pace of the last minute; 0 at the head",
      labelNames: ['chain'],
      registers,
    }),
    openHistories: new Gauge({
      name: 'chaintape_reader_open_histories',
      help: 'Tokens and pools whose older transfers are not all read yet',
      labelNames: ['chain'],
      registers,
    }),
    scanBlocksLeft: new Gauge({
      name: 'chaintape_reader_scan_blocks_left',
      help: 'Blocks before the start of the log whose creation events of pools are not scanned yet',
      labelNames: ['chain'],
      registers,
    }),
    indexedPools: new Gauge({
      name: 'chaintape_reader_indexed_pools',
      help: 'Pools known by their creation events, most of which are not in the log',
      labelNames: ['chain'],
      registers,
    }),
    waitingLookUps: new Gauge({
      name: 'chaintape_reader_waiting_look_ups',
      help: 'Tokens and pools that clients asked for and that no block has taken up yet',
      labelNames: ['chain'],
      registers,
    }),
    unservedHistories: new Gauge({
      name: 'chaintape_reader_unserved_histories',
      help: 'Open histories whose old logs every node refused to serve',
      labelNames: ['chain'],
      registers,
    }),
    droppedFacts: new Counter({
      name: 'chaintape_reader_facts_dropped_total',
      help: 'Facts about tokens and pools dropped because they could not be encoded',
      labelNames: ['chain', 'type'],
      registers,
    }),
    rpcRequests: new Counter({
      name: 'chaintape_reader_rpc_requests_total',
      help: 'RPC requests by outcome; invalid, lagging and unproved (block accepted without receipts root) are detected later and counted in addition',
      labelNames: ['chain', 'endpoint', 'outcome'],
      registers,
    }),
    rpcSeconds: new Histogram({
      name: 'chaintape_reader_rpc_seconds',
      help: 'Latency of RPC requests, failures included',
      labelNames: ['chain', 'endpoint'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    rpcUp: new Gauge({
      name: 'chaintape_reader_rpc_endpoint_up',
      help: '1 while the RPC endpoint is in use, 0 while it is paused',
      labelNames: ['chain', 'endpoint'],
      registers,
    }),
    rpcBudgetLeft: new Gauge({
      name: 'chaintape_reader_rpc_budget_left',
      help: 'Requests that rpc_budget.per_day leaves for today (UTC); absent without that limit',
      labelNames: ['chain', 'endpoint'],
      registers,
    }),
    newHeadsUp: new Gauge({
      name: 'chaintape_reader_new_heads_up',
      help: '1 while the endpoint announces or streams new blocks, 0 while the reader relies on polling',
      labelNames: ['chain', 'endpoint'],
      registers,
    }),
    streamsEnded: new Counter({
      name: 'chaintape_reader_streams_ended_total',
      help: 'Yellowstone connections that ended: lost, silent, or closed by the reader because of invalid blocks',
      labelNames: ['chain', 'endpoint', 'how'],
      registers,
    }),
    unreadTransactions: new Counter({
      name: 'chaintape_reader_transactions_unread_total',
      help: 'Transactions of an unknown version that were left out because they ran none of the followed programs',
      labelNames: ['chain'],
      registers,
    }),
  }
}

export function rpcMetrics(metrics: ReaderMetrics, chain: string): EndpointMetrics {
  return {
    answered: (endpoint, outcome, seconds) => {
      metrics.rpcRequests.inc({ chain, endpoint, outcome })
      if (seconds !== undefined) metrics.rpcSeconds.observe({ chain, endpoint }, seconds)
    },
    up: (endpoint, isUp) => metrics.rpcUp.set({ chain, endpoint }, isUp ? 1 : 0),
    budgetLeft: (endpoint, requests) => metrics.rpcBudgetLeft.set({ chain, endpoint }, requests),
  }
}
