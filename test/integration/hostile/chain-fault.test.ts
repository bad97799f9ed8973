import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../../dev/stack.ts'
import { PAIR, TwoChains } from '../../support/two-chains.ts'
import { waitFor } from '../../support/wait-for.ts'

const POISON = new TextEncoder().encode('not a message of ours')
const ROLES = ['engine', 'writer', 'gateway'] as const

let stack: Stack
let chains: TwoChains
let tip: number

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
  chains: { chain: string; is_available: boolean; faults: { role: string; code: string }[] }[]
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

  await chains.append('BLOCKS', 'bad', () => [POISON])
  await chains.reported('engine', /^bad: message_unreadable: /)
  await chains.append('CHANGES', 'bad', () => [POISON])
  await chains.reported('writer', /^bad: message_unreadable: /)
  await chains.reported('gateway', /^bad: message_unreadable: /)

  for (const role of ROLES) {
    assert.equal((await chains.readiness(role)).status, 503)
    const { text } = await chains.admin(role, '/metrics')
    assert.match(text, /^chaintape_chain_fault{chain="bad",code="message_unreadable"} 1$/m)
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

test('the chain is refused with a code, and the other one goes on', async () => {
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

test('a role that is started meanwhile serves the other chain, too', async () => {
  for (const role of ROLES) {
    await chains.pipeline.role(role).kill('SIGKILL')
    chains.pipeline.spawn(role)
  }
  for (const role of ROLES) await chains.reported(role, /^bad: message_unreadable: /)
  await chains.served('good', await chains.mine('good', 1))
  assert.equal((await chains.pipeline.get(`/v2/pairs/${PAIR}-bad`)).status, 503)
})
