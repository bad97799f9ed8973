import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { metadataAddress } from '../../src/chain/solana/facts/token-metadata.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/schema.ts'
import { SYSTEM_PROGRAM } from '../../src/dex/solana/known-keys.ts'
import { knownPrograms } from '../../src/dex/solana/protocols.ts'
import type { Envelope } from '../../src/domain/envelope.ts'
import { connectLogs } from '../../src/log/connect.ts'
import { startReader } from '../../src/roles/reader.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import {
  ACCOUNTS_TOPIC,
  decodeAccountsAnswer,
  encodeAccountsQuestion,
} from '../../src/wire/account-question.ts'
import { decodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { ALFA, NAMES, SolanaScenario } from '../e2e/solana-scenario.ts'
import { account, metaplexMetadata, splMint } from '../support/builders/account-data.ts'
import { readAll } from '../support/rigs/log-reading.ts'
import { base58Of, GENESIS_HASH } from '../support/rigs/solana-ledger.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { YellowstoneServer } from '../support/rigs/yellowstone-server.ts'

const TOKEN = 'the token of the stream'
const NATS = { prefix: 'solanareader', replicas: 1, max_frame_bytes: 900_000 }

const scenario = new SolanaScenario()
const { ledger } = scenario.market
const server = new YellowstoneServer(ledger)
const common = createTestCommon()
const dir = mkdtempSync(join(tmpdir(), 'chaintape-solana-'))
let stack: Stack
let nodeUrl: string

before(async () => {
  stack = await startStack({ services: ['nats'] })
  server.token = TOKEN
  nodeUrl = await ledger.listen()
})

after(async () => {
  await common.shutdown.finish()
  server.kill()
  ledger.close()
  await stack.stop()
  rmSync(dir, { recursive: true })
})

test('the reader role follows Solana by a stream, with the facts of its tokens', async () => {
  const config = configWith({ grpc_urls: [await server.listen()], grpc_token: TOKEN })
  ledger.accounts.set(NAMES.alfa, splMint({ decimals: 6 }))
  const metadata = metaplexMetadata({ mint: NAMES.alfa, ...ALFA })
  ledger.accounts.set(metadataAddress(NAMES.alfa) ?? assert.fail(), metadata)
  scenario.open()
  scenario.trade(2)
  await startReader(config, common)
  await waitFor('the stream', async () => {
    const text = await common.metrics.getSingleMetricAsString('chaintape_reader_new_heads_up')
    return /_up\{.*\} 1$/m.test(text) ? true : undefined
  })
  scenario.trade(3)
  const { number, hash } = ledger.chain.tip
  const blocks = await waitFor(`block ${number}`, async () => {
    const read = (await envelopes()).flatMap((each) => (each.kind === 'block' ? [each] : []))
    return read.some((block) => block.hash === hash) ? read : undefined
  })
  const facts = blocks.flatMap((block) => block.facts)
  const alfa = facts.find((fact) => fact.type === 'token' && fact.address === NAMES.alfa)
  assert.ok(alfa?.type === 'token')
  assert.deepEqual([Buffer.from(alfa.symbolRaw).toString(), alfa.decimals], [ALFA.symbol, 6])
  const curves = facts.filter((fact) => fact.type === 'pool' && fact.goalRaw !== undefined)
  assert.ok(curves.some(({ address }) => address === NAMES.bravoCurve))
  const [request] = server.requests
  const watched = Object.values(request?.blocks ?? {}).flatMap(({ accountInclude }) => accountInclude)
  for (const program of knownPrograms(config.chains['solana']?.dexes ?? []).keys())
    assert.ok(watched.includes(program), program)
})

test('it answers questions about accounts', async () => {
  const wallet = base58Of('a wallet')
  ledger.accounts.set(wallet, account(SYSTEM_PROGRAM, new Uint8Array()))
  const asked = [NAMES.alfa, wallet, base58Of('nobody')]
  const logs = await connectLogs({ urls: stack.natsUrls, ...NATS }, createTestCommon())
  try {
    const topic = `${ACCOUNTS_TOPIC}.solana`
    const answer = await logs.request(topic, encodeAccountsQuestion(asked), 10_000)
    assert.deepEqual(decodeAccountsAnswer(answer, asked.length), [
      { balanceRaw: 1n, isContract: true },
      { balanceRaw: 1n, isContract: false },
      { balanceRaw: 0n, isContract: false },
    ])
  } finally {
    await logs.close()
  }
})

test('nodes of another cluster are refused', async () => {
  const other = createTestCommon()
  const elsewhere = base58Of('another cluster')
  const role = await startReader(configWith({ genesis_hash: elsewhere }, join(dir, 'elsewhere')), other)
  try {
    await assert.rejects(role.done ?? Promise.resolve(), {
      code: 'config_invalid',
      message: `chains.solana: the node serves the cluster ${GENESIS_HASH}, not ${elsewhere}`,
    })
  } finally {
    await other.shutdown.finish()
  }
})

function configWith(chain: object, dataDir = dir): Config {
  const file = join(dir, 'chaintape.yaml')
  const solana = { genesis_hash: GENESIS_HASH, rpc_urls: [nodeUrl], poll_ms: 20, ...chain }
  const settings = { data_dir: dataDir, nats: { urls: stack.natsUrls, ...NATS }, chains: { solana } }
  writeFileSync(file, JSON.stringify(settings))
  return loadConfig(file, {})
}

async function envelopes(): Promise<Envelope[]> {
  const reading = createTestCommon()
  const logs = await connectLogs({ urls: stack.natsUrls, ...NATS }, reading)
  try {
    const messages = await readAll(await logs.open('BLOCKS', 'solana'))
    return messages.map(({ body }) => decodeEnvelope(body))
  } finally {
    await logs.close()
  }
}
