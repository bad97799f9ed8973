import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { PAIR, TwoChains } from '../../support/builders/two-chains.ts'
import { waitFor } from '../../support/rigs/wait-for.ts'

const POISON = new TextEncoder().encode('not a message of ours')
const ROLES = ['engine', 'writer', 'gateway'] as const

let stack: Stack
let chains: TwoChains
let tip: number
const poisoned = { BLOCKS: 0, CHANGES: 0 }

before(async () => {
  stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
  chains = new TwoChains(stack, 'chainfault')
  tip = await chains.mine('good', 3)
  assert.equal(await chains.mine('bad', 3), tip)
  await chains.pipeline.start(...ROLES)
})

after(async () => {
  await chains?.stop()
  await stack?.stop()
})

type Status = {
  chains: {
    chain: string
    is_available: boolean
    faults: { role: string; code: string }[]
    quarantined: { log: string; sequence: number }[]
  }[]
}

async function statusOf(chain: string): Promise<Status['chains'][number]> {
  const { body } = await chains.pipeline.get('/v2/status')
  const found = (body as Status).chains.find((each) => each.chain === chain)
  assert.ok(found)
  return found
}

test('a poisoned message stops its chain in every role that reads it, and no other chain', async () => {
  await Promise.all(['good', 'bad'].map((chain) => chains.served(chain, tip)))
  assert.deepEqual((await statusOf('bad')).faults, [])

  poisoned.BLOCKS = await chains.append('BLOCKS', 'bad', () => [POISON])
  await chains.reported('engine', /^bad: message_poisoned: /)
  poisoned.CHANGES = await chains.append('CHANGES', 'bad', () => [POISON])
  await chains.reported('writer', /^bad: message_poisoned: /)
  await chains.reported('gateway', /^bad: message_poisoned: /)

  for (const role of ROLES) {
    assert.equal((await chains.readiness(role)).status, 503)
    const { text } = await chains.admin(role, '/metrics')
    assert.match(text, /^chaintape_chain_fault{chain="bad",code="message_(poisoned|unreadable)"} 1$/m)
    assert.doesNotMatch(text, /chaintape_chain_fault{chain="good"/)
  }
  const bad = await waitFor('the status', async () => {
    const status = await statusOf('bad')
    return status.faults.length === ROLES.length ? status : undefined
  })
  assert.equal(bad.is_available, false)
  assert.deepEqual(new Set(bad.faults.map(({ role }) => role)), new Set(ROLES))
  assert.deepEqual(await statusOf('good').then(({ is_available, faults }) => [is_available, faults]), [
    true,
    [],
  ])
})

test('the chain is refused with a code, and the other one continues', async () => {
  const refused = await chains.pipeline.get(`/v2/pairs/${PAIR}-bad`)
  assert.equal(refused.status, 503)
  assert.equal((refused.body as { code: string }).code, 'chain_unavailable')
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.headers.get('x-cu-cost'), '0')

  await chains.served('good', await chains.mine('good', 2))

  const search = await chains.pipeline.get('/v2/tokens?keyword=0x00000000000000000000000000000000000000a2')
  assert.equal(search.status, 200)
  assert.equal(search.headers.get('x-unavailable-chains'), 'bad')
  assert.ok((search.body as { chain: string }[]).every(({ chain }) => chain === 'good'))
  for (const role of ROLES) assert.equal(chains.pipeline.role(role).exitCode, null)
})

test('a gateway that is started meanwhile serves the other chain, too', async () => {
  await chains.pipeline.role('gateway').kill('SIGKILL')
  chains.pipeline.spawn('gateway')
  await chains.reported('gateway', /^bad: message_poisoned: /)
  await chains.served('good', await chains.mine('good', 1))
  assert.equal((await chains.pipeline.get(`/v2/pairs/${PAIR}-bad`)).status, 503)
})

function quarantine(command: string, log: 'BLOCKS' | 'CHANGES', sequence: number) {
  const place = ['--chain', 'bad', '--log', log.toLowerCase(), '--sequence', String(sequence)]
  const reason = command === 'add' ? ['--reason', 'a test'] : []
  return chains.pipeline.run('quarantine', command, ...place, ...reason)
}

test('only a message that stopped a role can be quarantined', async () => {
  const refused = await quarantine('add', 'BLOCKS', poisoned.BLOCKS - 1)
  assert.equal(refused.code, 1)
  assert.match(refused.output, /no running role is stopped at/)
  assert.equal((await quarantine('remove', 'BLOCKS', poisoned.BLOCKS)).code, 1)
  assert.equal((await chains.pipeline.run('quarantine', 'add')).code, 2)
})

test('quarantined messages are skipped by every role, and stay visible', async () => {
  for (const log of ['CHANGES', 'BLOCKS'] as const) {
    // An engine that was restarted meanwhile has met the message of CHANGES first.
    if (log === 'BLOCKS') await chains.reported('engine', /^bad: message_poisoned: BLOCKS/)
    const { code, output } = await quarantine('add', log, poisoned[log])
    assert.equal(code, 0, output)
  }
  const number = await chains.mine('bad', 2)
  await chains.served('bad', number)
  for (const role of ROLES) {
    const text = await chains.reported(role, /^ready/)
    for (const log of ['BLOCKS', 'CHANGES'] as const) {
      assert.ok(text.includes(`bad: ${log} message ${poisoned[log]} is quarantined: a test`), text)
    }
    const metrics = (await chains.admin(role, '/metrics')).text
    assert.match(metrics, /^chaintape_quarantined_messages{chain="bad",log="BLOCKS"} 1$/m)
    assert.doesNotMatch(metrics, /^chaintape_chain_fault{/m)
  }
  const status = await waitFor('the faults to end', async () => {
    const now = await statusOf('bad')
    // The report of the gateway that was killed has yet to expire.
    return now.faults.every(({ role }) => role === 'gateway') ? now : undefined
  })
  assert.equal(status.is_available, true)
  assert.deepEqual(
    new Set(status.quarantined.map(({ log, sequence }) => `${log} ${sequence}`)),
    new Set([`BLOCKS ${poisoned.BLOCKS}`, `CHANGES ${poisoned.CHANGES}`]),
  )
  const { output } = await chains.pipeline.run('quarantine', 'list')
  assert.match(output, new RegExp(`^bad BLOCKS ${poisoned.BLOCKS} .* a test$`, 'm'))
  const kept = await quarantine('remove', 'BLOCKS', poisoned.BLOCKS)
  assert.match(kept.output, /was already skipped/)
})

test('an engine without its state folds the log to the same changes', async () => {
  await chains.pipeline.role('engine').kill('SIGKILL')
  rmSync(join(chains.pipeline.dir, 'data', 'engine', 'bad'), { recursive: true })
  await chains.pipeline.start('engine')
  await chains.served('bad', await chains.mine('bad', 1))
})
