import { Counter, Gauge } from 'prom-client'
import type { Common } from '../../lib/common.ts'

export type EngineMetrics = ReturnType<typeof createEngineMetrics>

export function createEngineMetrics({ metrics }: Common) {
  const registers = [metrics]
  return {
    applied: new Counter({
      name: 'chaintape_engine_messages_total',
      help: 'BLOCKS messages folded',
      labelNames: ['chain', 'cause'],
      registers,
    }),
    seq: new Gauge({
      name: 'chaintape_engine_blocks_seq',
      help: 'Sequence of the last BLOCKS message folded',
      labelNames: ['chain'],
      registers,
    }),
    tip: new Gauge({
      name: 'chaintape_engine_tip_block',
      help: 'Latest block folded',
      labelNames: ['chain'],
      registers,
    }),
    leads: new Gauge({
      name: 'chaintape_engine_leads',
      help: '1 if this engine is the leader, 0 if it is a standby',
      labelNames: ['chain'],
      registers,
    }),
    reorgDepth: new Gauge({
      name: 'chaintape_engine_reorg_depth_blocks',
      help: 'Blocks orphaned by the last reorg',
      labelNames: ['chain'],
      registers,
    }),
    logBytes: new Gauge({
      name: 'chaintape_log_bytes',
      help: 'Size of the log in NATS',
      labelNames: ['chain', 'log'],
      registers,
    }),
    takeovers: new Counter({
      name: 'chaintape_engine_takeovers_total',
      help: 'Takeovers by this engine after the leader stopped publishing',
      labelNames: ['chain'],
      registers,
    }),
  }
}
