import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hex } from 'viem'
import { uniswapV2Router } from '../../dev/market/artifacts.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Scenario } from '../e2e/scenario.ts'
import { API_KEY, Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { ANSWERS } from './ws-answers.ts'
import { type Form, misfits, type Names } from './ws-form.ts'
import { Listener, type Message } from './ws-listener.ts'
import { PUSHES, REVERT, SHUTDOWN, SWITCH } from './ws-pushes.ts'

const BLOCKS = 12

let stack: Stack
let scenario: Scenario
let pipeline: Pipeline
let names: Names
let listener: Listener
/** By the row's name: the id of its subscription. */
const ids = new Map<string, number>()

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  const { token, tokenPair, stablePair, market } = scenario
  names = { pair: tokenPair, stablePair, token, native: market.weth.toLowerCase(), epoch: '' }
  pipeline = new Pipeline(stack, 'wscontract', { finality_depth: 30 })
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
  // A first trade in each pool, so that everything that there is to say of them is known.
  for (let block = 0; block < BLOCKS; block++) await scenario.tradeBlock()
  await caughtUp()
  listener = await Listener.open(await pipeline.gatewayUrl(), API_KEY)
  for (const [name, { params }] of Object.entries(PUSHES))
    ids.set(name, await listener.subscribe(params(names)))
  names = { ...names, epoch: epochOf(listener.answer(ids.get('tx with a cursor') ?? -1)) }
  for (let block = 0; block < BLOCKS; block++) await scenario.tradeBlock()
  await market.addLiquidityNative(token, 10n ** 15n, 10n ** 18n)
  await market.mine()
  await caughtUp()
})

after(async () => {
  listener?.close()
  await pipeline?.stop()
  await stack?.stop()
})

async function caughtUp(): Promise<void> {
  await pipeline.reaches(`/v2/pairs/${scenario.tokenPair}-local`, await scenario.market.head())
}

function epochOf(ack: Message | undefined): string {
  const [, rows = ''] = String(ack?.result?.['cursor']).split('.')
  return (JSON.parse(Buffer.from(rows, 'base64url').toString()) as [[string, string]])[0][1]
}

function assertForm(form: Form, message: unknown): void {
  assert.deepEqual(misfits(form, message), [], JSON.stringify(message))
}

for (const [name, { form }] of Object.entries(PUSHES)) {
  test(`push: ${name}`, async () => {
    const pushes = await waitFor(`a push of ${name}`, () => {
      const found = listener.pushes(ids.get(name) ?? -1)
      return found.length > 0 ? found : undefined
    })
    for (const push of pushes) assertForm(form, push)
    // A form that fits everything would say nothing.
    const [{ result, ...envelope }] = pushes as [Message]
    assert.notDeepEqual(misfits(form, { ...envelope, result: { ...result, more: 1 } }), [])
    for (const field of Object.keys(result ?? {})) {
      const { [field]: _, ...rest } = result as Record<string, unknown>
      assert.notDeepEqual(misfits(form, { ...envelope, result: rest }), [], `without ${field}`)
    }
  })
}

test('numbers are contiguous, and a later cursor leads on from where it stands', async () => {
  const received = listener.pushes(ids.get('tx with a cursor') ?? -1)
  assert.ok(received.length > 3, `${received.length} pushes`)
  assert.deepEqual(
    received.map(({ seq }) => seq),
    received.map((_, index) => index + 1),
  )
  const other = await Listener.open(await pipeline.gatewayUrl(), API_KEY)
  const params = ['tx', names.stablePair, 'local', { from: received[1]?.cursor }]
  const id = await other.subscribe(params)
  assert.equal(other.answer(id)?.result?.['recovered'], true)
  const rest = await waitFor('what follows', () => {
    const found = other.pushes(id)
    return found.length >= received.length - 2 ? found : undefined
  })
  assert.deepEqual(
    rest.map(({ result }) => result),
    received.slice(2).map(({ result }) => result),
  )
  other.close()
})

for (const [name, ask, form] of ANSWERS) {
  test(`answer: ${name}`, async () => {
    const other = await Listener.open(await pipeline.gatewayUrl(), API_KEY)
    other.send(ask(names))
    assertForm(form, await waitFor(`the answer to ${name}`, () => other.messages[0]))
    other.close()
  })
}

test('authentication: by header, by message, or not at all', async () => {
  const url = await pipeline.gatewayUrl()
  const auth = { jsonrpc: '2.0', id: 0, method: 'auth', params: [API_KEY] }
  const browser = await Listener.open(url)
  browser.send({ jsonrpc: '2.0', id: 7, method: 'subscribe', params: ['tx', names.pair, 'local'] })
  browser.send(auth)
  const messages = await waitFor('both answers', () =>
    browser.messages.length === 2 ? browser.messages : undefined,
  )
  assertForm(
    {
      jsonrpc: '"2.0"',
      id: '7',
      error: { code: '-32001', message: 'string!', data: { method: '"subscribe"' } },
    },
    messages[0],
  )
  assertForm(
    { jsonrpc: '"2.0"', id: '0', result: { status: '"ok"', action: '"auth"', params: 'anything' } },
    messages[1],
  )
  browser.close()
  const wrong = await Listener.open(url)
  wrong.send({ ...auth, params: ['wrong'] })
  assert.equal(await wrong.closed, 4401)
  const silent = await Listener.open(url)
  assert.equal(await silent.closed, 4401)
  assert.equal(await Listener.refusal(url, '/ws', 'wrong'), 401)
  assert.equal(await Listener.refusal(url, `/ws?X-API-KEY=${API_KEY}`), 400)
})

test('limits: more than 20 messages in a second, and a message above 64 KiB', async () => {
  const url = await pipeline.gatewayUrl()
  const hasty = await Listener.open(url, API_KEY)
  for (let i = 0; i < 40; i++) hasty.send({ method: 'ping' })
  const refused = await waitFor('a refusal', () => hasty.messages.find(({ error }) => error !== undefined))
  assertForm({ jsonrpc: '"2.0"', id: 'null', error: { code: '-32004', message: 'string!' } }, refused)
  hasty.close()
  const large = await Listener.open(url, API_KEY)
  large.send(' '.repeat(64 * 1_024 + 1))
  assert.equal(await large.closed, 1009)
})

test('a fork retracts swaps for subscriptions with reorg', async () => {
  const other = await Listener.open(await pipeline.gatewayUrl(), API_KEY)
  const asking = await other.subscribe(['tx', names.pair, 'local', { cursor: true, reorg: true }])
  const plain = await other.subscribe(['multi_tx', names.token, 'local'])
  await scenario.market.buyWithNative(scenario.token, 10n ** 16n)
  await scenario.market.mine()
  await waitFor('the swap', () => (other.pushes(asking).length > 0 ? true : undefined))
  await scenario.market.reorganise(1)
  const revert = await waitFor('the retraction', () =>
    other.pushes(asking).find(({ result }) => result?.topic === 'revert'),
  )
  assertForm(REVERT, revert)
  const [swap] = other.pushes(asking)
  assert.deepEqual(revert.result?.['ids'], [(swap?.result?.['tx'] as { id: string } | undefined)?.id])
  assert.ok(other.pushes(plain).every(({ result }) => result?.topic === 'tx'))
  other.close()
})

test('a main pair that another one takes the place of', async () => {
  const other = await Listener.open(await pipeline.gatewayUrl(), API_KEY)
  const id = await other.subscribe(['kline', names.pair, 'k60', 'local'])
  const { market, token, stable } = scenario
  const args = [token, stable, 10n ** 17n, 10n ** 12n, 0n, 0n, market.owner, 2n ** 64n]
  await market.send({ to: market.router, abi: uniswapV2Router.abi, name: 'addLiquidity', args })
  await market.mine()
  const seen = await waitFor('the switch', async () => {
    await scenario.market.mine()
    return other.messages.find((message) => message.id === id && message.result?.['data'] !== undefined)
  })
  assertForm(SWITCH, seen)
  const pair = ((await market.pairOf(token, stable)) as Hex).toLowerCase()
  const { data } = seen.result as { data: { new_main_pair: string; old_main_pair: string; token: string } }
  assert.deepEqual(
    [data.new_main_pair, data.old_main_pair, data.token],
    [pair, names.pair, token.toLowerCase()],
  )
  other.close()
})

test('the description of all this is served', async () => {
  const answer = await fetch(`${await pipeline.gatewayUrl()}/asyncapi.json`)
  const { asyncapi, channels } = (await answer.json()) as { asyncapi: string; channels: object }
  assert.deepEqual([answer.status, asyncapi, Object.keys(channels)], [200, '3.0.0', ['socket']])
})

test('a shutdown is announced before the socket is closed', async () => {
  const other = await Listener.open(await pipeline.gatewayUrl(), API_KEY)
  await pipeline.role('gateway').kill('SIGTERM')
  assert.equal(await other.closed, 1001)
  assertForm(SHUTDOWN, other.messages.at(-1))
})
