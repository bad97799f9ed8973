import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Scenario } from '../e2e/scenario.ts'
import { chainAt } from '../e2e/solana-run.ts'
import { ALFA, NAMES, SolanaScenario } from '../e2e/solana-scenario.ts'
import { depositCpmm } from '../support/builders/raydium-transactions.ts'
import { WRAPPED_SOL } from '../support/builders/solana-accounts.ts'
import { API_KEY, Pipeline } from '../support/rigs/pipeline.ts'
import { base58Of } from '../support/rigs/solana-ledger.ts'
import { DOLLAR } from '../support/rigs/solana-market.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { faultsOf } from './faults.ts'
import { freshnessFaults, problemFaults, unitFaults } from './headers.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { type Answer, type Given, requestOf, send } from './requests.ts'
import type { Names } from './world.ts'
import { ANSWERS } from './ws-answers.ts'
import { type Form, misfits } from './ws-form.ts'
import { Listener } from './ws-listener.ts'
import { PUSHES, REVERT, SWITCH } from './ws-pushes.ts'

/** Every operation and topic for a chain of each family, in one gateway. */

const PATIENCE_MS = 120_000
const ABOUT_ALL_CHAINS = ['keyword search', 'platform', 'chains', 'udf search']
const NOBODY = base58Of('nobody')
/** Cursors contain the name of their chain in an encoded form. */
const CURSORS = ANSWERS.filter(([name]) => name.startsWith('a cursor of')).map(([name]) => name)

let stack: Stack
let evm: Scenario
const solana = new SolanaScenario()
let pipeline: Pipeline
let url: string

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  evm = await Scenario.deploy(stack.rpcUrl)
  for (let block = 0; block < 5; block++) await evm.tradeBlock()
  solana.open()
  solana.trade(20, 1)
  const chains = {
    local: { rpc_urls: [stack.rpcUrl], poll_ms: 20 },
    solana: chainAt(await solana.market.ledger.listen()),
  }
  pipeline = new Pipeline(stack, 'families', {}, { chains })
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
  await caughtUp()
  await waitFor(
    'both stores',
    async () => {
      const paths = ['/v2/tokens?keyword=ALFA', `/v2/tokens?keyword=PEP`, '/v2/tokens/trending?chain=solana']
      const found = await Promise.all(paths.map((path) => pipeline.get(path)))
      return found.every(({ body }) => /solana|local/.test(JSON.stringify(body))) ? true : undefined
    },
    PATIENCE_MS,
  )
  url = await pipeline.gatewayUrl()
})

after(async () => {
  solana.market.ledger.close()
  await pipeline?.stop()
  await stack?.stop()
})

async function caughtUp(): Promise<void> {
  const heads = [
    { path: `/v2/tokens/${DOLLAR}-solana`, head: solana.market.tip },
    { path: `/v2/pairs/${evm.tokenPair}-local`, head: await evm.market.head() },
  ]
  for (const { path, head } of heads) await pipeline.reaches(path, head, PATIENCE_MS)
}

/** The same words for the other chain; its ids, searches and tags are its own. */
function onSolana<T>(words: T): T {
  const text = JSON.stringify(words)
    .replace(/\blocal\b/g, 'solana')
    .replaceAll(`0x${'b'.repeat(40)}`, NOBODY)
    .replaceAll('"$token"', `"${NAMES.alfa}-solana"`)
    .replaceAll('"$pair"', `"${NAMES.alfaCurve}-solana"`)
    .replaceAll('"PEP"', '"ALFA"')
    .replaceAll('"meme"', '"pump_in_new"')
  return JSON.parse(text) as T
}

async function ask(operation: Operation, given: Given): Promise<Answer> {
  const names = { token: evm.token, pair: evm.tokenPair } as Names
  return send({ url, keys: { good: API_KEY } }, requestOf(operation, given, names))
}

describe('one gateway serves a chain of each family', () => {
  for (const operation of OPERATIONS) {
    const { name, cost, about, key } = operation
    test(`${name}: the fields, the cost and the headers of the table, for both`, async () => {
      const rows = [
        { given: operation.example, head: await evm.market.head() },
        { given: onSolana(operation.example), head: solana.market.tip },
      ]
      for (const { given, head } of rows) {
        const answer = await ask(operation, given)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        // A contract that was not inspected yet has no list of risks.
        const faults = faultsOf(operation.answer, answer.body, 'some').filter(
          (fault) =>
            fault !== '/risk_factors is no array' || Object.hasOwn(answer.body as object, 'risk_score'),
        )
        if (key === 'needed') faults.push(...unitFaults(answer, cost))
        // An answer about both chains has the head of the one that lags.
        const isAboutOne = !ABOUT_ALL_CHAINS.includes(name)
        if (about === 'a chain' && isAboutOne) faults.push(...freshnessFaults(answer, { head }, about))
        assert.deepEqual(faults, [], JSON.stringify(given))
      }
    })
  }

  test('swaps have a profile on the chain that reports balances, and on others where holders are known', async () => {
    const operation = OPERATIONS.find(({ name }) => name === 'swaps')
    assert.ok(operation !== undefined)
    const rows = [
      { given: operation.example, isReported: false },
      { given: onSolana(operation.example), isReported: true },
    ]
    for (const { given, isReported } of rows) {
      const { txs } = (await ask(operation, given)).body as { txs: { profile?: string }[] }
      assert.ok(txs.length > 0)
      for (const { profile } of txs) {
        if (isReported) assert.deepEqual(misfits(PROFILE, JSON.parse(profile ?? '{}')), [])
        else if (profile !== undefined) assert.deepEqual(misfits(HOLDINGS, JSON.parse(profile)), [])
      }
    }
  })

  test('answers about a Solana chain have its ids, letter by letter', async () => {
    const about: Readonly<Record<string, readonly string[]>> = {
      'token prices': [NAMES.alfa],
      'token batch': [NAMES.alfa, NAMES.alfaCurve],
      'keyword search': [NAMES.alfa],
      'token detail': [NAMES.alfaCurve],
      contract: [NAMES.alfa],
      'top holders': [NAMES.alfaCurve],
      'main tokens': [DOLLAR, WRAPPED_SOL],
      trending: [NAMES.alfa, NAMES.bravo, NAMES.letsgo],
      platform: [NAMES.alfa, NAMES.bravo],
      'pair detail': [NAMES.alfaCurve, WRAPPED_SOL],
      swaps: [NAMES.alfaCurve, NAMES.alfa, solana.market.wallet(1)],
      liquidity: [NAMES.alfaCurve],
      chains: ['solana', 'local'],
      'udf symbol': [NAMES.alfaCurve],
    }
    for (const [name, ids] of Object.entries(about)) {
      const operation = OPERATIONS.find((each) => each.name === name)
      assert.ok(operation !== undefined, name)
      // Rows of ClickHouse follow the head that the other answers are of.
      await waitFor(
        `${ids.join(', ')} in ${name}`,
        async () => {
          const text = JSON.stringify((await ask(operation, onSolana(operation.example))).body)
          return ids.every((id) => text.includes(id)) ? true : undefined
        },
        PATIENCE_MS,
      )
    }
  })

  test('ids of another family, of another case or unknown are refused', async () => {
    const swapped = NAMES.alfa.replace(/[a-z]/, (letter) => letter.toUpperCase())
    const rows: readonly (readonly [id: string, code: string])[] = [
      [`${evm.token}-solana`, 'malformed_id'],
      [`${NAMES.alfa}-local`, 'malformed_id'],
      [`${NAMES.alfa}0-solana`, 'malformed_id'],
      [`${NAMES.alfa.slice(0, 30)}-solana`, 'malformed_id'],
      [`${NOBODY}-solana`, 'unknown_token'],
      [`${swapped}-solana`, 'unknown_token'],
    ]
    for (const [id, code] of rows) {
      const path = `/v2/tokens/${id}`
      const answer = await send({ url, keys: { good: API_KEY } }, { method: 'GET', path, key: 'good' })
      assert.deepEqual(problemFaults(answer, { status: 400, code }), [], id)
    }
  })
})

const NAMES_OF_TOPICS = {
  ...{
    pair: NAMES.dollarPool,
    stablePair: NAMES.alfaCurve,
    token: WRAPPED_SOL,
    native: NAMES.alfa,
    epoch: '',
  },
}

/** A pool's program takes wrapped SOL or SOL itself, so that a side may be unknown. */
const HOLDINGS: Record<string, Form> = Object.fromEntries(
  ['token0', 'token1'].flatMap((token) => [
    [`${token}Address?`, 'address'],
    [`${token}TotalHolding?`, 'number'],
    ...['New', 'Closed', 'Cleared'].map((change) => [`${token}Has${change}Account?`, 'boolean']),
  ]),
)
const PROFILE: Form = { ...HOLDINGS, solTotalHolding: 'number' }

/** The program reports no caller, so that a swap has no sender. */
function formOnSolana(form: Form): Form {
  const text = JSON.stringify(onSolana(form)).replaceAll('"sender":"address"', '"sender":"string"')
  return JSON.parse(text) as Form
}

test('every topic is pushed for the Solana chain, and retractions and switches too', async () => {
  const listener = await Listener.open(url, API_KEY)
  const ids = new Map<string, number>()
  for (const [name, { params }] of Object.entries(PUSHES))
    ids.set(name, await listener.subscribe(onSolana(params(NAMES_OF_TOPICS))))
  const asking = await listener.subscribe(['tx', NAMES.bravoCurve, 'solana', { cursor: true, reorg: true }])
  const switching = await listener.subscribe(['kline', NAMES.alfaCurve, 'k60', 'solana'])
  solana.trade(2, 0)
  solana.market.block((block) =>
    block.send(solana.market.wallet(0), (script) => depositCpmm(script, NAMES.dollarPool, 10n)),
  )
  solana.trade(1, 0)
  await caughtUp()
  for (const [name, { form }] of Object.entries(PUSHES)) {
    const pushes = await waitFor(
      `a push of ${name}`,
      () => {
        const found = listener.pushes(ids.get(name) ?? -1)
        return found.length > 0 ? found : undefined
      },
      PATIENCE_MS,
    )
    for (const push of pushes) assert.deepEqual(misfits(formOnSolana(form), push), [], name)
    for (const { result } of name.startsWith('tx') ? pushes : []) {
      const { profile } = (result?.['tx'] ?? {}) as { profile?: string }
      assert.deepEqual(misfits(PROFILE, JSON.parse(profile ?? '{}')), [], name)
    }
  }
  solana.market.fork(1)
  solana.trade(2, 0)
  const revert = await waitFor(
    'the retraction',
    () => listener.pushes(asking).find(({ result }) => result?.topic === 'revert'),
    PATIENCE_MS,
  )
  assert.deepEqual(misfits(REVERT, revert), [])
  solana.graduate()
  const seen = await waitFor(
    'the switch',
    () => listener.messages.find(({ id, result }) => id === switching && result?.['data'] !== undefined),
    PATIENCE_MS,
  )
  assert.deepEqual(misfits(formOnSolana(SWITCH), seen), [])
  const { data } = seen.result as { data: Record<string, string> }
  assert.deepEqual(
    [data['old_main_pair'], data['new_main_pair'], data['token']],
    [NAMES.alfaCurve, NAMES.alfaPool, NAMES.alfa],
    ALFA.symbol,
  )
  listener.close()
})

for (const [name, request, form] of ANSWERS) {
  if (CURSORS.includes(name)) continue
  test(`answer for the Solana chain: ${name}`, async () => {
    const listener = await Listener.open(url, API_KEY)
    const message = request(NAMES_OF_TOPICS)
    listener.send(typeof message === 'string' ? message : onSolana(message))
    const answer = await waitFor(`the answer to ${name}`, () => listener.messages[0], PATIENCE_MS)
    assert.deepEqual(misfits(onSolana(form), answer), [], JSON.stringify(answer))
    listener.close()
  })
}
