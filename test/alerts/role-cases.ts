import type { AlertCase } from './alert-case.ts'

const up = (role: string, instance: string): string =>
  `up{job="chaintape",role="${role}",instance="${instance}"}`
const allUp = {
  [up('reader', 'a:1')]: '1x20',
  [up('engine', 'a:2')]: '1x20',
  [up('writer', 'a:3')]: '1x20',
  [up('gateway', 'a:4')]: '1x20',
}
const fault = (chain: string, code: string): string =>
  `chaintape_chain_fault{role="engine",instance="a:2",chain="${chain}",code="${code}"}`

export const roleCases: readonly AlertCase[] = [
  {
    alert: 'ChaintapeRoleUnavailable',
    fires: {
      series: { ...allUp, [up('engine', 'a:2')]: '1x4 0x15', [up('engine', 'b:2')]: '0x20' },
      at: '8m',
      labels: { job: 'chaintape', role: 'engine' },
      summary: 'No engine can be scraped',
    },
    silent: {
      'one of two engines is up': { series: { ...allUp, [up('engine', 'b:2')]: '0x20' }, at: '20m' },
      'a restart takes a minute': { series: { ...allUp, [up('writer', 'a:3')]: '1x4 0 1x14' }, at: '6m' },
      'the reconciler is not urgent': { series: { ...allUp, [up('reconciler', 'a:5')]: '0x20' }, at: '20m' },
    },
  },
  {
    // Service discovery has no target for a process that is gone.
    alert: 'ChaintapeRoleUnavailable',
    fires: {
      series: { ...allUp, [up('gateway', 'a:4')]: '1x2 stale' },
      at: '15m',
      labels: { job: 'chaintape', role: 'gateway' },
      summary: 'No gateway can be scraped',
    },
    silent: { 'all roles are up': { series: allUp, at: '15m' } },
  },
  {
    alert: 'ChaintapeRoleDown',
    fires: {
      series: { ...allUp, [up('reader', 'b:1')]: '1x4 0x15' },
      at: '8m',
      labels: { job: 'chaintape', role: 'reader', instance: 'b:1' },
      summary: 'The reader at b:1 cannot be scraped',
    },
    silent: {
      'a restart takes a minute': { series: { [up('reader', 'b:1')]: '1x4 0 1x14' }, at: '6m' },
      'another job': { series: { 'up{job="node",instance="b:1"}': '0x20' }, at: '20m' },
    },
  },
  {
    alert: 'ChaintapeRoleNotReady',
    fires: {
      series: { 'chaintape_ready{role="engine",instance="a:2"}': '0x20' },
      at: '16m',
      labels: { role: 'engine', instance: 'a:2' },
      summary: 'The engine at a:2 has not been ready for 15 minutes',
    },
    silent: {
      'it catches up in time': {
        series: { 'chaintape_ready{role="engine",instance="a:2"}': '0x10 1x10' },
        at: '16m',
      },
      'it was ready in between': {
        series: { 'chaintape_ready{role="engine",instance="a:2"}': '0x8 1 0x10' },
        at: '18m',
      },
    },
  },
  {
    alert: 'ChaintapeNatsDisconnected',
    fires: {
      series: { 'chaintape_nats_connected{role="writer",instance="a:3"}': '1x4 0x15' },
      at: '7m',
      labels: { role: 'writer', instance: 'a:3' },
      summary: 'The writer at a:3 has no connection to NATS',
    },
    silent: {
      'it reconnects': {
        series: { 'chaintape_nats_connected{role="writer",instance="a:3"}': '1x4 0 1x14' },
        at: '7m',
      },
    },
  },
  {
    alert: 'ChaintapeNatsReplicaBehind',
    fires: {
      series: { 'chaintape_nats_undelivered_total{role="gateway",instance="a:4"}': '0x4 1x15' },
      at: '7m',
      labels: { role: 'gateway', instance: 'a:4' },
      summary: 'A NATS node did not deliver to the gateway at a:4 what its stream has',
    },
    silent: {
      'it was long ago': {
        series: { 'chaintape_nats_undelivered_total{role="gateway",instance="a:4"}': '0x4 1x30' },
        at: '25m',
      },
      'the process is new': {
        series: { 'chaintape_nats_undelivered_total{role="gateway",instance="a:4"}': '_x4 0x15' },
        at: '7m',
      },
    },
  },
  {
    // The code changes while the chain is stopped.
    alert: 'ChaintapeChainFault',
    fires: {
      series: {
        [fault('eth', 'store_unavailable')]: '_x4 1 stale',
        [fault('eth', 'message_poisoned')]: '_x5 1x14',
      },
      at: '7m',
      labels: { role: 'engine', instance: 'a:2', chain: 'eth' },
      summary: 'eth is stopped in the engine at a:2: message_poisoned',
    },
    silent: {
      'the chain recovers': { series: { [fault('eth', 'log_truncated')]: '_x4 1x1 stale' }, at: '8m' },
      'a refold is not served': { series: { [fault('eth@2', 'log_truncated')]: '1x20' }, at: '20m' },
    },
  },
  {
    alert: 'ChaintapeRefoldFault',
    fires: {
      series: { [fault('eth@2', 'log_truncated')]: '1x20' },
      at: '11m',
      labels: { role: 'engine', instance: 'a:2', chain: 'eth@2' },
      summary: 'The refold eth@2 is stopped in the engine at a:2',
    },
    silent: { 'a served chain': { series: { [fault('eth', 'log_truncated')]: '1x20' }, at: '20m' } },
  },
  {
    alert: 'ChaintapeChainRestarting',
    fires: {
      series: {
        'chaintape_chain_restarts_total{role="reader",instance="a:1",chain="bsc"}': '0 0+1x10 10x20',
      },
      at: '12m',
      labels: { role: 'reader', instance: 'a:1', chain: 'bsc' },
      summary: 'bsc keeps restarting in the reader at a:1',
    },
    silent: {
      'two restarts': {
        series: {
          'chaintape_chain_restarts_total{role="reader",instance="a:1",chain="bsc"}': '0x10 1x10 2x20',
        },
        at: '30m',
      },
    },
  },
  {
    alert: 'ChaintapeRoleLag',
    fires: {
      series: { 'chaintape_lag_seconds{role="engine",instance="a:2",chain="eth"}': '0x4 61x2 120x20' },
      at: '8m',
      labels: { role: 'engine', instance: 'a:2', chain: 'eth' },
      summary: 'The engine at a:2 has been behind its input on eth for 2m 0s',
    },
    silent: {
      'at the limit': {
        series: { 'chaintape_lag_seconds{role="engine",instance="a:2",chain="eth"}': '60x20' },
        at: '20m',
      },
      'a short stall': {
        series: { 'chaintape_lag_seconds{role="engine",instance="a:2",chain="eth"}': '0x4 61 0x15' },
        at: '6m',
      },
      'a refold catches up': {
        series: { 'chaintape_lag_seconds{role="engine",instance="a:2",chain="eth@2"}': '9000x20' },
        at: '20m',
      },
    },
  },
]
