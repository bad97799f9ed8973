import { type Dashboard, gauge, p99, rate } from './dashboard.ts'

const ENDPOINT = '{{instance}} {{chain}} {{endpoint}}'
const CHAIN = '{{instance}} {{chain}}'

export const reader: Dashboard = {
  name: 'reader',
  title: 'reader and nodes',
  rows: {
    Chain: [
      {
        title: 'Leads',
        unit: 'bool_yes_no',
        queries: { [gauge('chaintape_reader_leads', 'instance', 'chain')]: CHAIN },
      },
      {
        title: 'Takeovers',
        unit: 'ops',
        queries: { [rate('chaintape_reader_takeovers_total', 'instance', 'chain')]: CHAIN },
      },
      {
        title: 'Time to the head',
        unit: 's',
        queries: { [gauge('chaintape_reader_catch_up_seconds', 'instance', 'chain')]: CHAIN },
      },
    ],
    Nodes: [
      {
        title: 'Requests by outcome',
        unit: 'reqps',
        queries: {
          [rate('chaintape_reader_rpc_requests_total', 'chain', 'endpoint', 'outcome')]:
            '{{chain}} {{endpoint}} {{outcome}}',
        },
      },
      {
        title: 'Latency of requests, p99',
        unit: 's',
        queries: {
          [p99('chaintape_reader_rpc_seconds', '{chain=~"$chain"}', 'chain', 'endpoint')]:
            '{{chain}} {{endpoint}}',
        },
      },
      {
        title: 'Endpoint in use',
        unit: 'bool_yes_no',
        queries: { [gauge('chaintape_reader_rpc_endpoint_up', 'instance', 'chain', 'endpoint')]: ENDPOINT },
      },
      {
        title: 'New blocks announced',
        unit: 'bool_yes_no',
        queries: { [gauge('chaintape_reader_new_heads_up', 'instance', 'chain', 'endpoint')]: ENDPOINT },
      },
      {
        title: 'Requests left today',
        unit: 'short',
        queries: { [gauge('chaintape_reader_rpc_budget_left', 'instance', 'chain', 'endpoint')]: ENDPOINT },
      },
      {
        title: 'Streams ended',
        unit: 'ops',
        queries: {
          [rate('chaintape_reader_streams_ended_total', 'chain', 'endpoint', 'how')]:
            '{{chain}} {{endpoint}} {{how}}',
        },
      },
    ],
    'Holders and older pools': [
      {
        title: 'Open histories',
        unit: 'short',
        queries: { [gauge('chaintape_reader_open_histories', 'chain')]: '{{chain}}' },
      },
      {
        title: 'Histories that no node serves',
        unit: 'short',
        queries: { [gauge('chaintape_reader_unserved_histories', 'chain')]: '{{chain}}' },
      },
      {
        title: 'Ids waiting to be looked up',
        unit: 'short',
        queries: { [gauge('chaintape_reader_waiting_look_ups', 'chain')]: '{{chain}}' },
      },
      {
        title: 'Blocks left to scan for pools',
        unit: 'short',
        queries: { [gauge('chaintape_reader_scan_blocks_left', 'instance', 'chain')]: CHAIN },
      },
      {
        title: 'Indexed pools',
        unit: 'short',
        queries: { [gauge('chaintape_reader_indexed_pools', 'instance', 'chain')]: CHAIN },
      },
    ],
    'Invalid input': [
      {
        title: 'Facts dropped',
        unit: 'ops',
        queries: { [rate('chaintape_reader_facts_dropped_total', 'chain', 'type')]: '{{chain}} {{type}}' },
      },
      {
        title: 'Transactions of an unknown version',
        unit: 'ops',
        queries: { [rate('chaintape_reader_transactions_unread_total', 'chain')]: '{{chain}}' },
      },
    ],
  },
}
