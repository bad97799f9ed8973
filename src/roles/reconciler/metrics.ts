import { Counter, Gauge, type Registry } from 'prom-client'

export type ReconcileMetrics = ReturnType<typeof createReconcileMetrics>

export function createReconcileMetrics(registry: Registry) {
  const registers = [registry]
  return {
    differences: new Counter({
      name: 'chaintape_reconcile_differences_total',
      help: 'Differences between stored data and what the archive or a node yields',
      labelNames: ['chain', 'kind'],
      registers,
    }),
    compared: new Counter({
      name: 'chaintape_reconcile_compared_total',
      help: 'Rows, documents and blocks that were compared',
      labelNames: ['chain', 'what'],
      registers,
    }),
    failures: new Counter({
      name: 'chaintape_reconcile_failures_total',
      help: 'Runs that ended before everything was compared',
      labelNames: ['chain'],
      registers,
    }),
    lastRun: new Gauge({
      name: 'chaintape_reconcile_last_run_seconds',
      help: 'Unix time of the last completed run',
      labelNames: ['chain'],
      registers,
    }),
  }
}
