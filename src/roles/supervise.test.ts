import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createTestCommon } from '../../test/support/rigs/test-common.ts'
import { waitFor } from '../../test/support/rigs/wait-for.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ChainSupervisor, type SuperviseOptions } from './supervise.ts'

const untilStopped: SuperviseOptions['run'] = async ({ common, onCaughtUp }) => {
  onCaughtUp()
  if (!common.shutdown.signal.aborted) await once(common.shutdown.signal, 'abort')
}

function start(run: SuperviseOptions['run'], options: Partial<SuperviseOptions> = {}) {
  const common = createTestCommon()
  const delays = { firstDelayMs: 1, maxDelayMs: 5 }
  const supervisor = new ChainSupervisor({ chains: ['good', 'bad'], common, run, ...delays, ...options })
  supervisor.done.catch(() => undefined)
  return { common, supervisor }
}

test('a failed chain is closed and restarted, while the others continue', async () => {
  const events: string[] = []
  const { common, supervisor } = start(async (attempt) => {
    if (attempt.chain === 'good') {
      events.push('good starts')
      return untilStopped(attempt)
    }
    attempt.common.shutdown.onClose('store', () => void events.push('bad closes'))
    throw new ChaintapeError('log_damaged', 'checksum is wrong')
  })
  await waitFor('restarts', () => (events.length > 6 ? true : undefined))
  assert.deepEqual(new Set(events.slice(1)), new Set(['bad closes']))
  assert.equal(supervisor.readiness(), 'bad: log_damaged: checksum is wrong')
  const metrics = await common.metrics.metrics()
  assert.match(metrics, /^chaintape_chain_fault{chain="bad",code="log_damaged"} 1$/m)
  assert.match(metrics, /^chaintape_chain_restarts_total{chain="bad"} \d+$/m)
  assert.doesNotMatch(metrics, /^chaintape_chain_.*{chain="good"/m)
  await common.shutdown.finish()
  await supervisor.done
})

test('a fault ends when the chain has caught up, not when it is restarted', async () => {
  const faults: (string | undefined)[] = []
  let isMended = false
  let catchUp = (): void => undefined
  const { common, supervisor } = start(
    async (attempt) => {
      if (!isMended) throw new Error('broken')
      catchUp = attempt.onCaughtUp
      await once(attempt.common.shutdown.signal, 'abort')
    },
    { chains: ['bad'], onFault: (_chain, fault) => void faults.push(fault?.code) },
  )
  await waitFor('the fault', () => (faults.length > 0 ? true : undefined))
  isMended = true
  const started = catchUp
  await waitFor('a new start', () => (catchUp === started ? undefined : true))
  assert.equal(supervisor.readiness(), 'bad: internal: broken')
  catchUp()
  assert.equal(supervisor.readiness(), undefined)
  assert.deepEqual(faults, ['internal', undefined])
  assert.doesNotMatch(await common.metrics.metrics(), /chaintape_chain_fault{/)
  await common.shutdown.finish()
})

test('the delay grows, and a retry can be requested', async () => {
  let starts = 0
  const { common, supervisor } = start(
    async () => {
      starts++
      throw new Error('broken')
    },
    { chains: ['bad'], firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 },
  )
  await waitFor('the fault', () => supervisor.faults.get('bad'))
  supervisor.retryNow('bad')
  await waitFor('the second start', () => (starts === 2 ? true : undefined))
  await common.shutdown.finish()
  await supervisor.done
  const delays = common.lines.flatMap(({ delay_ms }) => (typeof delay_ms === 'number' ? [delay_ms] : []))
  assert.ok(delays.every((delay) => delay >= 1_800_000 && delay <= 3_600_000))
})

test('an invalid configuration of one chain does not affect the others; of all chains, it ends the process', async () => {
  const wrong = async (): Promise<void> => {
    throw new ChaintapeError('config_invalid', 'the node serves chain 2, not 1')
  }
  const { common, supervisor } = start((attempt) =>
    attempt.chain === 'good' ? untilStopped(attempt) : wrong(),
  )
  await waitFor('the fault', () => supervisor.faults.get('bad'))
  assert.equal(supervisor.readiness(), 'bad: config_invalid: the node serves chain 2, not 1')
  await common.shutdown.finish()
  await supervisor.done
  await assert.rejects(start(wrong).supervisor.done, /serves chain 2/)
})

test('a fenced chain waits; the process ends when all its chains are fenced', async () => {
  const fenced = async (): Promise<void> => {
    throw new ChaintapeError('fenced', 'another writer appended')
  }
  const { common, supervisor } = start((attempt) =>
    attempt.chain === 'good' ? untilStopped(attempt) : fenced(),
  )
  await waitFor('the fence', () => supervisor.faults.get('bad'))
  assert.equal(supervisor.readiness(), 'bad: fenced: another writer appended')
  await common.shutdown.finish()
  await supervisor.done
  await assert.rejects(start(fenced).supervisor.done, /another writer appended/)
})

test('a fork below a final block is held until an operator intervenes', async () => {
  let starts = 0
  const { common, supervisor } = start(
    async () => {
      starts++
      throw new ChaintapeError('fork_below_final', 'deep')
    },
    { chains: ['bad'] },
  )
  await waitFor('the halt', () => common.lines.find(({ msg }) => msg === 'Chain halted'))
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(starts, 1)
  await common.shutdown.finish()
  await supervisor.done
})

test('a chain that falls behind its input is not ready until it has caught up', async () => {
  let observe = (_end: number, _position: () => number): void => undefined
  const { common, supervisor } = start(
    (attempt) => {
      observe = attempt.observeLag
      return untilStopped(attempt)
    },
    { chains: ['slow'], maxLagSeconds: 0.01 },
  )
  await waitFor('the start', () => (supervisor.readiness() === undefined ? true : undefined))
  observe(10, () => 5)
  await waitFor('the lag', () => (supervisor.readiness() === 'slow: lag 0 s' ? true : undefined))
  assert.match(await common.metrics.metrics(), /^chaintape_lag_seconds{chain="slow"} 0\.\d+$/m)
  observe(10, () => 10)
  assert.equal(supervisor.readiness(), undefined)
  await common.shutdown.finish()
})

test('a chain that is not required affects no readiness, and can be started and stopped', async () => {
  const { common, supervisor } = start(
    async (attempt) => {
      if (attempt.chain === 'extra') throw new ChaintapeError('log_damaged', 'checksum is wrong')
      await untilStopped(attempt)
    },
    { chains: ['good'], isRequired: (chain) => chain === 'good', labelOf: (chain) => `${chain}!` },
  )
  supervisor.start('extra')
  await waitFor('the fault', () => supervisor.faults.get('extra'))
  assert.equal(supervisor.readiness(), undefined)
  assert.deepEqual(supervisor.details(), ['extra: log_damaged: checksum is wrong'])
  assert.match(
    await common.metrics.metrics(),
    /^chaintape_chain_fault{chain="extra!",code="log_damaged"} 1$/m,
  )
  await supervisor.stop('extra')
  assert.deepEqual([supervisor.chains, supervisor.details()], [['good'], []])
  assert.doesNotMatch(await common.metrics.metrics(), /chaintape_chain_fault{/)
  await common.shutdown.finish()
  await supervisor.done
})
