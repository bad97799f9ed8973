import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '../../src/config/load.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { CHAIN } from '../support/arbitraries/market-arbitraries.ts'
import { RoleProcess } from '../support/rigs/pipeline.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { StandbyEngine } from './standby-engine.ts'
import { SteadyLoad } from './steady-load.ts'

/** Well below the time after which a leader counts as lost. */
const MAX_FIRST_SET_MS = 1_000

let stack: Stack
let logs: Logs
let first: StandbyEngine
let second: StandbyEngine
let load: SteadyLoad | undefined

before(async () => {
  stack = await startStack({ services: ['nats'] })
  first = new StandbyEngine(stack, 'first', 'start')
  second = new StandbyEngine(stack, 'second', 'start')
  first.spawn()
  await first.ready()
  logs = await connectLogs(loadConfig(first.configFile, {}).nats, createTestCommon())
})

after(async () => {
  await load?.stop()
  await Promise.all([first, second].map((engine) => engine?.kill('SIGKILL')))
  await logs?.close()
  await stack?.stop()
})

test('an engine that is alone does not wait for a leader to be lost', async () => {
  const blocks = await logs.open('BLOCKS', CHAIN)
  const changes = await logs.open('CHANGES', CHAIN)
  load = new SteadyLoad(await blocks.openPublisher(), () => 2)
  load.start(20)
  const startedAtMs = performance.now()
  await waitFor('the first set', async () => ((await changes.lastSequence()) > 0 ? true : undefined))
  const tookMs = performance.now() - startedAtMs
  assert.ok(tookMs < MAX_FIRST_SET_MS, `it took ${Math.round(tookMs)} ms`)
  assert.deepEqual(
    first.leadership().map(({ msg, reason }) => [msg, reason]),
    [
      ['Engine is standby', 'started'],
      ['Engine is leader', 'alone'],
    ],
  )
})

test('an engine that finds another one publishing follows it', async () => {
  second.spawn()
  await second.ready()
  // Longer than the patience of an engine that has just started.
  await sleep(1_000)
  assert.deepEqual([await first.part(), await second.part()], ['leads', 'follows'])
  assert.equal(first.timesReplaced(), 0)
  assert.deepEqual(
    second.leadership().map(({ msg, reason }) => [msg, reason]),
    [['Engine is standby', 'started']],
  )
})

test('a state that another engine uses is left alone', async () => {
  const logFile = join(stack.dataDir, 'intruder.log')
  const intruder = new RoleProcess('engine', first.configFile, logFile)
  assert.equal(await intruder.exited(), 1)
  assert.match(readFileSync(logFile, 'utf8'), /another process uses .*"code":"fenced"/)
  assert.equal(await first.part(), 'leads')
})
