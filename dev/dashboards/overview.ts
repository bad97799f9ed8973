import { type Dashboard, gauge, p99, rate, rateOfAll } from './dashboard.ts'

const PROCESS = '{{role}} {{instance}}'

export const overview: Dashboard = {
  name: 'overview',
  title: 'overview',
  rows: {
    'Is everything well': [
      {
        title: 'Alerts that fire',
        unit: 'short',
        isStat: true,
        queries: {
          'count by (severity) (ALERTS{alertname=~"Chaintape.+", alertstate="firing"}) or vector(0)':
            '{{severity}}',
        },
      },
      {
        title: 'Processes that run',
        unit: 'short',
        isStat: true,
        queries: { 'sum by (role) (up{job="chaintape"})': '{{role}}' },
      },
      {
        title: 'Stopped chains',
        unit: 'short',
        isStat: true,
        queries: {
          'count by (chain, role, code) (chaintape_chain_fault{chain=~"$chain"} == 1) or vector(0)':
            '{{chain}} {{role}} {{code}}',
        },
      },
      {
        title: 'Age of the latest block served',
        unit: 's',
        isStat: true,
        queries: { [gauge('chaintape_gateway_chain_lag_seconds', 'chain')]: '{{chain}}' },
      },
      {
        title: 'Requests per second',
        unit: 'reqps',
        isStat: true,
        queries: { [rateOfAll('chaintape_gateway_requests_total', 'role')]: 'REST' },
      },
      {
        title: 'Sockets',
        unit: 'short',
        isStat: true,
        queries: { 'sum(chaintape_gateway_sockets)': 'open' },
      },
    ],
    'Where it is slow: from the node to the client': [
      {
        title: 'Time behind the input',
        unit: 's',
        queries: { [gauge('chaintape_lag_seconds', 'role', 'chain')]: '{{role}} {{chain}}' },
      },
      {
        title: 'Blocks behind the node',
        unit: 'short',
        queries: { [gauge('chaintape_reader_lag_blocks', 'chain')]: '{{chain}}' },
      },
      {
        title: 'Latest block',
        unit: 'short',
        queries: {
          [gauge('chaintape_reader_tip_block', 'chain')]: 'BLOCKS {{chain}}',
          [gauge('chaintape_engine_tip_block', 'chain')]: 'folded {{chain}}',
        },
      },
      {
        title: 'Age of the latest block in a store',
        unit: 's',
        queries: { [gauge('chaintape_writer_lag_seconds', 'store', 'chain')]: '{{store}} {{chain}}' },
      },
      {
        title: 'Age of the latest block served',
        unit: 's',
        queries: {
          [gauge('chaintape_gateway_chain_lag_seconds', 'instance', 'chain')]: '{{instance}} {{chain}}',
        },
      },
      {
        title: 'From the announcement to the push, p99',
        unit: 's',
        queries: {
          [p99('chaintape_gateway_announcement_to_push_seconds', '{chain=~"$chain"}', 'chain')]: '{{chain}}',
        },
      },
      {
        title: 'Restarts after a fault',
        unit: 'ops',
        queries: { [rate('chaintape_chain_restarts_total', 'role', 'chain')]: '{{role}} {{chain}}' },
      },
    ],
    Throughput: [
      {
        title: 'Messages to BLOCKS',
        unit: 'ops',
        queries: { [rate('chaintape_reader_envelopes_total', 'chain', 'kind')]: '{{chain}} {{kind}}' },
      },
      {
        title: 'Messages folded',
        unit: 'ops',
        queries: { [rate('chaintape_engine_messages_total', 'instance', 'chain')]: '{{instance}} {{chain}}' },
      },
      {
        title: 'Rows written',
        unit: 'ops',
        queries: { [rate('chaintape_writer_rows_total', 'chain')]: '{{chain}}' },
      },
    ],
    Processes: [
      { title: 'Ready', unit: 'bool_yes_no', queries: { chaintape_ready: PROCESS } },
      { title: 'Connected to NATS', unit: 'bool_yes_no', queries: { chaintape_nats_connected: PROCESS } },
      {
        title: 'Consumers replaced',
        unit: 'short',
        queries: { 'increase(chaintape_nats_undelivered_total[$__rate_interval])': PROCESS },
      },
      {
        title: 'CPU',
        unit: 'percentunit',
        queries: { 'rate(process_cpu_seconds_total{job="chaintape"}[$__rate_interval])': PROCESS },
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: { 'process_resident_memory_bytes{job="chaintape"}': PROCESS },
      },
      {
        title: 'Event loop delay, p99',
        unit: 's',
        queries: { 'nodejs_eventloop_lag_p99_seconds{job="chaintape"}': PROCESS },
      },
      {
        title: 'Garbage collection',
        unit: 'percentunit',
        queries: {
          'sum by (role, instance) (rate(nodejs_gc_duration_seconds_sum{job="chaintape"}[$__rate_interval]))':
            PROCESS,
        },
      },
      { title: 'Open files', unit: 'short', queries: { 'process_open_fds{job="chaintape"}': PROCESS } },
    ],
  },
}
