import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hex } from 'viem'
import { Market } from '../../dev/market/market.ts'
import { askAccounts } from '../../src/chain/evm/facts/accounts.ts'
import { createEvmRpc, type EvmNodes } from '../../src/chain/evm/rpc/rpc.ts'
import type { Change } from '../../src/domain/change.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import {
  ACCOUNTS_TOPIC,
  decodeAccountsQuestion,
  encodeAccountsAnswer,
} from '../../src/wire/account-question.ts'
import { sampleToken } from '../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

const TOPIC = `${ACCOUNTS_TOPIC}.eth`

let node: Stack
let market: Market
let world: GatewayWorld
let gateway: Gateway
let rpc: EvmNodes
const common = createTestCommon()
/** Wallets with native coins, contracts with some and without, and one that nobody ever used. */
const accounts: { readonly address: Hex; readonly balanceRaw: bigint; readonly isContract: boolean }[] = []

before(async () => {
  node = await startStack({ services: ['anvil'], anvil: ['--no-mining'] })
  market = await Market.deploy(node.rpcUrl)
  await market.wrap(1_234_567_890_123_456_789n)
  await market.mine()
  const { number } = await market.head()
  const of = async (address: Hex, isContract: boolean): Promise<void> => {
    const balanceRaw = await market.nativeBalanceOf(address, number)
    accounts.push({ address: address.toLowerCase() as Hex, balanceRaw, isContract })
  }
  for (const wallet of (await market.accounts()).slice(0, 3)) await of(wallet, false)
  await of(market.weth, true)
  await of(market.factory, true)
  await of(`0x${'7'.repeat(40)}`, false)
  rpc = createEvmRpc({
    urls: [node.rpcUrl],
    chainId: 31_337,
    logger: common.logger,
    signal: common.shutdown.signal,
    metrics: { answered: () => undefined, up: () => undefined },
  })
  world = await GatewayWorld.start({ withHistory: true })
  for (const token of TOKENS) await world.publish(heldBy(token))
  await world.storeAll()
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
  await node?.stop()
})

/** A token for each question: what is known of accounts is kept for a while. */
const TOKENS = Array.from({ length: 6 }, (_, index) => `0x${String(index + 1).repeat(40)}`)

function heldBy(address: string): Change[] {
  const token = sampleToken({ address, supplyRaw: 10n ** 24n })
  const balances = accounts.map(({ address: holder }, index): Change => {
    const amountRaw = 10n ** 20n - BigInt(index)
    return { type: 'balance', balance: { token: address, holder, amountRaw, beforeRaw: 0n } }
  })
  return [{ type: 'token', token }, ...balances]
}

type Holder = { readonly address: string; readonly main_coin_balance: number }

async function top(token: string | undefined) {
  const { status, headers, body } = await gateway.get(`/v2/tokens/top100/${token}-eth`)
  assert.equal(status, 200, JSON.stringify(body))
  const holders = body as Holder[]
  assert.deepEqual(
    holders.map(({ address }) => address),
    accounts.map(({ address }) => address),
  )
  return { native: headers['x-native-balances'], balances: holders.map((each) => each.main_coin_balance) }
}

/** As a reader does, on a connection of its own. */
async function answering(onQuestion: (question: string) => Promise<string>): Promise<Logs> {
  const options = { urls: world.stack.natsUrls, prefix: 'gatewaytest', replicas: 1, max_frame_bytes: 900_000 }
  const logs = await connectLogs(options, createTestCommon())
  logs.respond(TOPIC, onQuestion)
  // The server has heard of it once something has gone there and back.
  await logs.openLatest('WORK')
  return logs
}

const asNode = async (question: string): Promise<string> =>
  encodeAccountsAnswer(await askAccounts(rpc, decodeAccountsQuestion(question)))

const UNKNOWN = { native: 'unknown', balances: [0, 0, 0, 0, 0, 0] }

test('one request to the node returns all accounts', async () => {
  const asked = accounts.map(({ address }) => address)
  assert.deepEqual(
    await askAccounts(rpc, asked),
    accounts.map(({ balanceRaw, isContract }) => ({ balanceRaw, isContract })),
  )
  assert.deepEqual(await askAccounts(rpc, []), [])
  const many = Array.from({ length: 100 }, (_, index) => asked[index % asked.length] as string)
  const answers = await askAccounts(rpc, many)
  assert.deepEqual(answers[96], { balanceRaw: accounts[0]?.balanceRaw, isContract: false })
})

test('if no reader answers, balances are unknown and the response is not delayed for long', async () => {
  const start = performance.now()
  assert.deepEqual(await top(TOKENS[0]), UNKNOWN)
  assert.ok(performance.now() - start < 2_000)
})

test('a reader that does not respond in time is not waited for', async () => {
  const heard: string[] = []
  const logs = await answering((question) => {
    heard.push(question)
    return new Promise(() => undefined)
  })
  const start = performance.now()
  assert.deepEqual(await top(TOKENS[1]), UNKNOWN)
  const took = performance.now() - start
  assert.ok(took >= 300 && took < 2_000, `${took} ms`)
  assert.equal(heard.length, 1)
  await logs.close()
})

test('an answer that makes no sense is none, and so is a failure', async () => {
  const confused = await answering(async () => '1 2')
  assert.deepEqual(await top(TOKENS[2]), UNKNOWN)
  await confused.close()
  const failing = await answering(async () => {
    throw new Error('the node is gone')
  })
  assert.deepEqual(await top(TOKENS[3]), UNKNOWN)
  await failing.close()
})

test("one reader responds with the node's result, and it is cached for a while", async () => {
  const heard: string[] = []
  const readers = await Promise.all(
    [1, 2].map(() =>
      answering((question) => {
        heard.push(question)
        return asNode(question)
      }),
    ),
  )
  const known = accounts.map(({ balanceRaw }) => Number(balanceRaw) / 1e18)
  assert.deepEqual(await top(TOKENS[4]), { native: undefined, balances: known })
  assert.ok(known.some((balance) => balance > 0) && known.includes(0))
  assert.equal(heard.length, 1)
  await Promise.all(readers.map((reader) => reader.close()))
  // Nobody is there any more, and nobody is asked.
  assert.deepEqual(await top(TOKENS[5]), { native: undefined, balances: known })
  const { body } = await gateway.get(`/v2/contracts/${TOKENS[5]}-eth`)
  const rank = (body as { token_holders_rank: { address: string; is_contract: number }[] }).token_holders_rank
  assert.deepEqual(
    rank.map(({ address, is_contract }) => ({ address, isContract: is_contract === 1 })),
    accounts.map(({ address, isContract }) => ({ address, isContract })),
  )
})
