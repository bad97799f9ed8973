import type { AlertCase, Series } from './alert-case.ts'

const GATEWAY = 'role="gateway",instance="a:4"'
const labels = { role: 'gateway', instance: 'a:4' }
const age = (values: string): Series => ({
  [`chaintape_gateway_chain_lag_seconds{${GATEWAY},chain="eth"}`]: values,
})
const requests = (served: string, failed: string, status = '500'): Series => ({
  [`chaintape_gateway_requests_total{${GATEWAY},route="/v2/pairs/:id",status="200"}`]: served,
  [`chaintape_gateway_requests_total{${GATEWAY},route="/v2/pairs/:id",status="${status}"}`]: failed,
})
const times = (slow: string): Series => ({
  [`chaintape_gateway_request_seconds_bucket{${GATEWAY},route="/v2/pairs/:id",le="0.5"}`]: '0+1000x30',
  [`chaintape_gateway_request_seconds_bucket{${GATEWAY},route="/v2/pairs/:id",le="1"}`]: slow,
  [`chaintape_gateway_request_seconds_bucket{${GATEWAY},route="/v2/pairs/:id",le="+Inf"}`]: slow,
})
/** `late`: pushes a minute between 5 and 10 s after the announcement, besides 1,000 within 0.1 s. */
const pushes = (late: number): Series => {
  const bucket = (le: string): string =>
    `chaintape_gateway_announcement_to_push_seconds_bucket{${GATEWAY},chain="eth",le="${le}"}`
  return {
    [bucket('0.1')]: '0+1000x30',
    [bucket('5')]: '0+1000x30',
    [bucket('10')]: `0+${1_000 + late}x30`,
    [bucket('+Inf')]: `0+${1_000 + late}x30`,
  }
}
const refusals = (reason: string, values: string): Series => ({
  [`chaintape_gateway_quota_refusals_total{${GATEWAY},reason="${reason}"}`]: values,
})

export const gatewayCases: readonly AlertCase[] = [
  {
    alert: 'ChaintapeGatewayStale',
    fires: {
      series: age('12x2 180x10'),
      at: '6m',
      labels: { ...labels, chain: 'eth' },
      summary: 'The latest block of eth at the gateway a:4 is 3m 0s old',
    },
    silent: {
      'blocks of twelve seconds': { series: age('12x10'), at: '10m' },
      'at the limit': { series: age('120x10'), at: '10m' },
    },
  },
  {
    alert: 'ChaintapePushesLate',
    fires: {
      series: pushes(3_000),
      at: '15m',
      labels: { chain: 'eth' },
      summary: 'Half of the pushes of eth come more than 6.667s after the node announced the block',
    },
    silent: {
      'a third of the clients read slowly': { series: pushes(500), at: '15m' },
      'nobody subscribes': {
        series: {
          [`chaintape_gateway_announcement_to_push_seconds_bucket{${GATEWAY},chain="eth",le="+Inf"}`]: '9x30',
        },
        at: '15m',
      },
    },
  },
  {
    alert: 'ChaintapeGatewayErrors',
    fires: {
      series: requests('0+95x30', '0+5x30', '503'),
      at: '15m',
      labels,
      summary: '5% of the requests to the gateway a:4 fail',
    },
    silent: {
      'one of a hundred': { series: requests('0+99x30', '0+1x30'), at: '15m' },
      'errors of clients': { series: requests('0+50x30', '0+50x30', '404'), at: '15m' },
      'no requests': { series: requests('0x30', '0x30'), at: '15m' },
      'a burst of failures': { series: requests('0+95x30', '0x10 5x20'), at: '14m' },
    },
  },
  {
    alert: 'ChaintapeGatewaySlow',
    fires: {
      series: times('0+1100x30'),
      at: '20m',
      labels: { route: '/v2/pairs/:id' },
      summary: 'One of a hundred requests to /v2/pairs/:id takes longer than 945ms',
    },
    silent: {
      'one of two hundred is slow': { series: times('0+1005x30'), at: '20m' },
      'no requests': {
        series: { [`chaintape_gateway_request_seconds_bucket{${GATEWAY},route="/x",le="+Inf"}`]: '7x30' },
        at: '20m',
      },
    },
  },
  {
    alert: 'ChaintapeQuotaUnavailable',
    fires: {
      series: refusals('unavailable', '0x2 0+9x20'),
      at: '8m',
      labels,
      summary: 'The gateway a:4 refuses requests because it cannot count credit units',
    },
    silent: { 'a key has used up its units': { series: refusals('exhausted', '0+9x20'), at: '8m' } },
  },
]
