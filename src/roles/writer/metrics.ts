import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ChainHead } from '../../domain/chain-head.ts'
import { STORE_NAMES, type StoreName } from '../../store/store-names.ts'

export type WriterMetrics = {
  readonly rows: Counter<'chain' | 'table'>
  readonly batches: Counter<'chain' | 'store'>
  readonly batchSeconds: Histogram<'chain' | 'store'>
  readonly retries: Counter<'activity'>
  readonly corruptions: Gauge
  /** The chain is written to this store up to this head. */
  advance(label: () => string, store: StoreName, head: ChainHead): void
  /** A chain that is not written any more, by its stored name. */
  forget(chain: string): void
}

type WrittenHead = { readonly label: () => string; readonly store: StoreName; readonly head: ChainHead }

export function createWriterMetrics(registry: Registry): WriterMetrics {
  const registers = [registry]
  const heads = new Map<string, WrittenHead>()
  new Gauge({
    name: 'chaintape_writer_position_seq',
    help: 'Version of the last change set written to the store',
    labelNames: ['chain', 'store'],
    registers,
    collect() {
      this.reset()
      for (const { label, store, head } of heads.values()) this.set({ chain: label(), store }, head.seq)
    },
  })
  new Gauge({
    name: 'chaintape_writer_lag_seconds',
    help: 'Age of the latest block written to the store',
    labelNames: ['chain', 'store'],
    registers,
    // When it is asked for, so that it grows while nothing is written.
    collect() {
      this.reset()
      for (const { label, store, head } of heads.values()) {
        this.set({ chain: label(), store }, Date.now() / 1_000 - head.time)
      }
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
      help: 'Batches written to the store',
      labelNames: ['chain', 'store'],
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'chaintape_writer_batch_seconds',
      help: 'Time to write one batch to the store, retries included',
      labelNames: ['chain', 'store'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    retries: new Counter({
      name: 'chaintape_writer_retries_total',
      help: 'Retries because a store was unavailable',
      labelNames: ['activity'],
      registers,
    }),
    corruptions: new Gauge({
      name: 'chaintape_writer_corruptions',
      help: 'How often ClickHouse has found corrupted data since it was started',
      registers,
    }),
    advance: (label, store, head) => void heads.set(`${head.chain}/${store}`, { label, store, head }),
    forget: (chain) => {
      for (const store of STORE_NAMES) heads.delete(`${chain}/${store}`)
    },
  }
}
