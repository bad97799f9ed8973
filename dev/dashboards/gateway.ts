import { type Dashboard, gauge, p99, quantile, rateOfAll } from './dashboard.ts'

const CHAIN = '{{instance}} {{chain}}'

const CHOSEN = '{chain=~"$chain"}'
const pushTimes = (metric: string) => ({
  [quantile(0.5, metric, CHOSEN, 'chain')]: 'p50 {{chain}}',
  [p99(metric, CHOSEN, 'chain')]: 'p99 {{chain}}',
})

export const gateway: Dashboard = {
  name: 'gateway',
  title: 'gateway',
  rows: {
    REST: [
      {
        title: 'Requests by status',
        unit: 'reqps',
        queries: { [rateOfAll('chaintape_gateway_requests_total', 'status')]: '{{status}}' },
      },
      {
        title: 'Requests by route',
        unit: 'reqps',
        queries: { [rateOfAll('chaintape_gateway_requests_total', 'route')]: '{{route}}' },
      },
      {
        title: 'Latency by route, p99',
        unit: 's',
        queries: { [p99('chaintape_gateway_request_seconds', '', 'route')]: '{{route}}' },
      },
      {
        title: 'Refused by quota',
        unit: 'reqps',
        queries: { [rateOfAll('chaintape_gateway_quota_refusals_total', 'reason')]: '{{reason}}' },
      },
    ],
    WebSocket: [
      { title: 'Sockets', unit: 'short', queries: { chaintape_gateway_sockets: '{{instance}}' } },
      { title: 'Subscriptions', unit: 'short', queries: { chaintape_gateway_subscriptions: '{{instance}}' } },
      {
        title: 'Pushes by topic',
        unit: 'ops',
        queries: { [rateOfAll('chaintape_gateway_pushes_total', 'topic')]: '{{topic}}' },
      },
      {
        title: 'Conflated pushes',
        unit: 'ops',
        queries: { [rateOfAll('chaintape_gateway_conflations_total', 'instance')]: '{{instance}}' },
      },
      {
        title: 'Slow clients closed',
        unit: 'ops',
        queries: { [rateOfAll('chaintape_gateway_slow_readers_total', 'instance')]: '{{instance}}' },
      },
    ],
    Freshness: [
      {
        title: 'From the announcement to the push',
        unit: 's',
        queries: pushTimes('chaintape_gateway_announcement_to_push_seconds'),
      },
      {
        title: 'From the timestamp of the block to the push',
        unit: 's',
        queries: pushTimes('chaintape_gateway_block_to_push_seconds'),
      },
      {
        title: 'Age of the latest block served',
        unit: 's',
        queries: { [gauge('chaintape_gateway_chain_lag_seconds', 'instance', 'chain')]: CHAIN },
      },
      {
        title: 'Overlay: documents',
        unit: 'short',
        queries: { [gauge('chaintape_gateway_overlay_documents', 'instance', 'chain')]: CHAIN },
      },
      {
        title: 'Overlay: memory',
        unit: 'bytes',
        queries: { [gauge('chaintape_gateway_overlay_bytes', 'instance', 'chain')]: CHAIN },
      },
    ],
  },
}
