import { type Dashboard, gauge, p99, rate, rateOfAll } from './dashboard.ts'

const CHAIN = '{{instance}} {{chain}}'

export const engineWriter: Dashboard = {
  name: 'engine-writer',
  title: 'engine, logs and stores',
  rows: {
    Engine: [
      {
        title: 'Messages by cause',
        unit: 'ops',
        queries: { [rate('chaintape_engine_messages_total', 'chain', 'cause')]: '{{chain}} {{cause}}' },
      },
      {
        title: 'Position in BLOCKS',
        unit: 'short',
        queries: { [gauge('chaintape_engine_blocks_seq', 'instance', 'chain')]: CHAIN },
      },
      {
        title: 'Depth of the last reorg',
        unit: 'short',
        queries: { [gauge('chaintape_engine_reorg_depth_blocks', 'chain')]: '{{chain}}' },
      },
      {
        title: 'Leads',
        unit: 'bool_yes_no',
        queries: { [gauge('chaintape_engine_leads', 'instance', 'chain')]: CHAIN },
      },
      {
        title: 'Takeovers',
        unit: 'ops',
        queries: { [rate('chaintape_engine_takeovers_total', 'instance', 'chain')]: CHAIN },
      },
    ],
    Logs: [
      {
        title: 'Size',
        unit: 'bytes',
        queries: { [gauge('chaintape_log_bytes', 'chain', 'log')]: '{{chain}} {{log}}' },
      },
      {
        title: 'Messages held back',
        unit: 'short',
        queries: { [gauge('chaintape_log_held_back_messages', 'chain', 'log')]: '{{chain}} {{log}}' },
      },
      {
        title: 'BLOCKS archived up to',
        unit: 'short',
        queries: { [gauge('chaintape_writer_archived_seq', 'chain')]: '{{chain}}' },
      },
      {
        title: 'Quarantined messages',
        unit: 'short',
        queries: { [gauge('chaintape_quarantined_messages', 'chain', 'log')]: '{{chain}} {{log}}' },
      },
    ],
    Stores: [
      {
        title: 'Age of the latest block',
        unit: 's',
        queries: { [gauge('chaintape_writer_lag_seconds', 'store', 'chain')]: '{{store}} {{chain}}' },
      },
      {
        title: 'Position in CHANGES',
        unit: 'short',
        queries: { [gauge('chaintape_writer_position_seq', 'store', 'chain')]: '{{store}} {{chain}}' },
      },
      {
        title: 'Retries',
        unit: 'ops',
        queries: { [rateOfAll('chaintape_writer_retries_total', 'activity')]: '{{activity}}' },
      },
      {
        title: 'Corrupted data found by ClickHouse',
        unit: 'short',
        queries: { 'max by (instance) (chaintape_writer_corruptions)': '{{instance}}' },
      },
      {
        title: 'Batches',
        unit: 'ops',
        queries: { [rate('chaintape_writer_batches_total', 'store', 'chain')]: '{{store}} {{chain}}' },
      },
      {
        title: 'Time of a batch, p99',
        unit: 's',
        queries: {
          [p99('chaintape_writer_batch_seconds', '{chain=~"$chain"}', 'store', 'chain')]:
            '{{store}} {{chain}}',
        },
      },
      {
        title: 'Rows by table',
        unit: 'ops',
        queries: { [rate('chaintape_writer_rows_total', 'table')]: '{{table}}' },
      },
    ],
    Reconciliation: [
      {
        title: 'Time since the last run',
        unit: 's',
        queries: { [`time() - ${gauge('chaintape_reconcile_last_run_seconds', 'chain')}`]: '{{chain}}' },
      },
      {
        title: 'Differences',
        unit: 'short',
        queries: { [gauge('chaintape_reconcile_differences_total', 'chain', 'kind')]: '{{chain}} {{kind}}' },
      },
      {
        title: 'Compared',
        unit: 'ops',
        queries: { [rate('chaintape_reconcile_compared_total', 'chain', 'what')]: '{{chain}} {{what}}' },
      },
      {
        title: 'Failed runs',
        unit: 'short',
        queries: { [gauge('chaintape_reconcile_failures_total', 'chain')]: '{{chain}}' },
      },
    ],
  },
}
