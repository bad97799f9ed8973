import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ChainHead } from '../../domain/chain-head.ts'

export type WriterMetrics = {
  readonly rows: Counter<'chain' | 'table'>
  readonly batches: Counter<'chain'>
  readonly batchSeconds: Histogram<'chain'>
  readonly retries: Counter<'activity'>
  /** The chain is written up to this head. */
  advance(head: ChainHead): void
}

export function createWriterMetrics(registry: Registry): WriterMetrics {
  const registers = [registry]
  const heads = new Map<string, ChainHead>()
  const position = new Gauge({
    name: 'chaintape_writer_position_seq',
    help: 'Version up to which the chain is written to both stores',
    labelNames: ['chain'],
    registers,
  })
  new Gauge({
    name: 'chaintape_writer_lag_seconds',
    help: 'Age of the newest block that is written to both stores',
    labelNames: ['chain'],
    registers,
    // When it is asked for, so that it grows while nothing is written.
    collect() {
      for (const { chain, time } of heads.values()) this.set({ chain }, Date.now() / 1_000 - time)
    },
  })
  return {
    rows: new Counter({
      name: 'chaintape_writer_rows_total',
      help: 'Rows written to ClickHouse',
      labelNames: ['chain', 'table'],
      registers,
    }),
    batches: new Counter({
      name: 'chaintape_writer_batches_total',
      help: 'Batches written to both stores',
      labelNames: ['chain'],
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'chaintape_writer_batch_seconds',
      help: 'Time to write one batch to both stores, retries included',
      labelNames: ['chain'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    retries: new Counter({
      name: 'chaintape_writer_retries_total',
      help: 'Attempts repeated because a store did not answer',
      labelNames: ['activity'],
      registers,
    }),
    advance: (head) => {
      heads.set(head.chain, head)
      position.set({ chain: head.chain }, head.seq)
    },
  }
}
