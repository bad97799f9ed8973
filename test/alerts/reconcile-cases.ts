import type { AlertCase, Series } from './alert-case.ts'

const RECONCILER = 'role="reconciler",instance="a:5"'
const differences = (values: string): Series => ({
  [`chaintape_reconcile_differences_total{${RECONCILER},chain="eth",kind="row"}`]: values,
})
const differs = {
  labels: { role: 'reconciler', instance: 'a:5', chain: 'eth', kind: 'row' },
  summary: 'Stored data of eth is wrong: differences of kind row',
}
const read = { 'chaintape_reader_tip_block{role="reader",instance="a:1",chain="eth"}': '1+5x600' }
const lastRun = (values: string): Series => ({
  [`chaintape_reconcile_last_run_seconds{${RECONCILER},chain="eth"}`]: values,
})
const notReconciled = {
  labels: { chain: 'eth' },
  summary: 'Nothing has proved the numbers of eth for a day',
}
const failures = (values: string): Series => ({
  [`chaintape_reconcile_failures_total{${RECONCILER},chain="eth"}`]: values,
})

export const reconcileCases: readonly AlertCase[] = [
  {
    // The first run after a start finds differences: the series begins with 3.
    alert: 'ChaintapeDataDiffers',
    everyMinutes: 5,
    fires: { series: differences('_x2 3x100'), at: '10m', ...differs },
    silent: { 'more than a day ago': { series: differences('3x600'), at: '2000m' } },
  },
  {
    alert: 'ChaintapeDataDiffers',
    everyMinutes: 5,
    fires: { series: differences('0x400 1x100'), at: '2010m', ...differs },
    silent: { 'there are none': { series: differences('0x600'), at: '2900m' } },
  },
  {
    // Every run since the first one failed.
    alert: 'ChaintapeNotReconciled',
    everyMinutes: 5,
    fires: { series: { ...read, ...lastRun('_ 300x600') }, at: '1470m', ...notReconciled },
    silent: {
      'it runs every five minutes': { series: { ...read, ...lastRun('0+300x600') }, at: '2900m' },
      'it was restarted a moment ago': {
        series: { ...read, ...lastRun('0+300x400 stale') },
        at: '2100m',
      },
    },
  },
  {
    // The chain never was compared.
    alert: 'ChaintapeNotReconciled',
    everyMinutes: 5,
    fires: { series: read, at: '1470m', ...notReconciled },
    silent: {
      'the chain is new': { series: read, at: '1430m' },
    },
  },
  {
    alert: 'ChaintapeReconcileFailing',
    everyMinutes: 5,
    fires: {
      series: failures('0x20 1x20'),
      at: '110m',
      labels: { role: 'reconciler', instance: 'a:5', chain: 'eth' },
      summary: 'Reconciliations of eth fail',
    },
    silent: { 'the next runs succeed': { series: failures('0x20 1x60'), at: '300m' } },
  },
]
